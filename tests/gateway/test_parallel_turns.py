"""Six questions at once over one connection, and a gateway that drops it: no turn pays for another's reconnection."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from test_openclaw_websocket import MADE, ROWS, TOOLS
from test_websocket import gateway
from websockets.exceptions import ConnectionClosed

from butlerctl.gateway.openclaw_websocket import WebSocketGateway

AT_ONCE = 6
ANSWERS = {
    "sessions.create": MADE,
    "tools.effective": TOOLS,
    "sessions.get": {"messages": ROWS},
    "sessions.delete": {"ok": True, "deleted": True},
}


class House:
    """A gateway that counts: connections, turns that were asked for, sessions that were deleted."""

    def __init__(self, drop_at: str) -> None:
        self.connections = 0
        self.asked: list[str] = []
        self.deleted: list[str] = []
        self._drop_at = drop_at
        self._lock = threading.Lock()

    def serve(self, wire):
        with self._lock:
            self.connections += 1
            first = self.connections == 1
        wire.greet()
        seen = 0
        while True:
            try:
                request = wire.take()
            except ConnectionClosed:
                return
            seen += request["method"] == self._drop_at
            self._answer(wire, request)
            if first and seen == AT_ONCE:
                wire.hang_up(1012, "service restart")
                return

    def _answer(self, wire, request):
        method, params = request["method"], request["params"]
        if method == "agent":
            self.asked.append(params["sessionKey"])
            wire.answer(request, {"status": "accepted"})
            if self.connections > 1 or self._drop_at != "agent":
                result = {"payloads": [{"text": "Done."}]}
                final = threading.Timer(0.3, wire.answer, (request, {"status": "ok", "result": result}))
                final.daemon = True
                final.start()
        elif method != self._drop_at or self.connections > 1:
            if method == "sessions.delete":
                self.deleted.append(params["key"])
            wire.answer(request, ANSWERS[method])


def ask_all(house):
    with gateway(house.serve) as url:
        client = WebSocketGateway(url, "token", agent="butler", timeout=10)
        with ThreadPoolExecutor(AT_ONCE) as pool:
            records = list(pool.map(lambda n: client.ask("Add x.", session=f"s{n}"), range(AT_ONCE)))
        client.close()
    return records


KEYS = [f"agent:butler:s{number}" for number in range(AT_ONCE)]


@pytest.mark.parametrize("method", ["sessions.create", "tools.effective"])
def test_a_gateway_that_drops_everybody_before_the_turns_is_connected_to_once_more_and_no_turn_is_lost(
    method,
):
    house = House(drop_at=method)
    records = ask_all(house)
    assert [record.transcript["run"]["status"] for record in records] == ["ok"] * AT_ONCE
    assert all(record.transcript["complete"] for record in records)
    assert house.connections == 2
    assert sorted(house.asked) == KEYS
    assert sorted(house.deleted) == KEYS


def test_turns_that_were_under_way_are_lost_and_none_is_asked_twice():
    house = House(drop_at="agent")
    records = ask_all(house)
    assert [record.transcript["run"]["status"] for record in records] == ["lost"] * AT_ONCE
    assert not any(record.transcript["complete"] for record in records)
    assert house.connections == 2
    assert sorted(house.asked) == KEYS
    assert sorted(house.deleted) == KEYS
