"""Turns of the lab's gateway while they run: each is watched, can be waited for, and can be ended from outside."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from typing import Any

from butlerctl.lab.gateway.sessions import Row, call_row, result_row
from butlerctl.protocol.call import Call
from butlerctl.protocol.observation import Observation

Report = Callable[[str, Mapping[str, Any]], None]
"""Tells a client what happens: the stream, and the data of the event."""


class Ending(StrEnum):
    """How a turn was ended from outside."""

    TIME = "time"
    ABORTED = "aborted"
    DELETED = "deleted"


class Run:
    """One turn. Whoever claims its end first decides it: the turn itself, its time limit, or a request.

    `rows` are the calls and results so far, `cancel` is set once nothing more may be started.
    """

    def __init__(self, run_id: str, key: str, report: Report = lambda _stream, _data: None) -> None:
        self.id = run_id
        self.key = key
        self.rows: list[Row] = []
        self.cancel = threading.Event()
        self.ending: Ending | None = None
        self.answer: Mapping[str, Any] = {}
        self._report = report
        self._claimed = False
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._answered = threading.Event()

    def claim(self) -> bool:
        """False when somebody else has ended the turn already."""
        with self._lock:
            first, self._claimed = not self._claimed, True
        return first

    def finish(self) -> None:
        """What the turn leaves behind is in its place."""
        self._over.set()

    def stop(self, ending: Ending) -> bool:
        """End the turn from outside; False when it had ended already."""
        if not self.claim():
            return False
        self.ending = ending
        self.cancel.set()
        self._over.set()
        return True

    def wait_for_end(self, seconds: float) -> bool:
        return self._over.wait(seconds)

    def settle(self, answer: Mapping[str, Any]) -> None:
        """Keep the final answer."""
        self.answer = answer
        self._answered.set()

    def wait_for_answer(self, seconds: float | None) -> bool:
        return self._answered.wait(seconds)

    def report(self, stream: str, **data: Any) -> None:
        """Nothing is told of a turn that has ended."""
        if not self._answered.is_set():
            self._report(stream, data)

    def started(self, call: Call) -> None:
        """See `Watch`."""
        self.rows.append(call_row(call))
        self.report("tool", phase="start", name=call.name, toolCallId=call.id, args=dict(call.args))

    def ended(self, observation: Observation) -> None:
        """See `Watch`."""
        row = result_row(observation)
        self.rows.append(row)
        result = {"content": row["content"], "details": row["details"]}
        head = {"phase": "result", "name": observation.name, "toolCallId": observation.id}
        self.report("tool", **head, isError=row["isError"], result=result)


class Runs:
    """All turns by their ids, shared by all connections."""

    def __init__(self) -> None:
        self._runs: dict[str, Run] = {}
        self._lock = threading.Lock()

    def begin(self, run_id: str, key: str, report: Report) -> tuple[Run, bool]:
        """The turn of this id, and whether it is new."""
        with self._lock:
            known = self._runs.get(run_id)
            run = known or Run(run_id, key, report)
            self._runs[run_id] = run
        return run, known is None

    def get(self, run_id: str) -> Run | None:
        return self._runs.get(run_id)

    def stop(self, key: str | None, run_id: str | None, ending: Ending) -> str | None:
        """End what runs in a session, or one turn; the id of a turn that was ended."""
        stopped = [run.id for run in self._chosen(key, run_id) if run.stop(ending)]
        return stopped[0] if stopped else None

    def _chosen(self, key: str | None, run_id: str | None) -> Iterator[Run]:
        with self._lock:
            runs = list(self._runs.values())
        return (
            run for run in runs if (run_id is None or run.id == run_id) and (key is None or run.key == key)
        )


def outcome_of(run: Run) -> Mapping[str, Any]:
    """What `agent.wait` says of a turn that has its answer."""
    answer = run.answer
    head = {"runId": run.id, "endedAt": int(time.time() * 1000)}
    if answer["ok"] is not True:
        return {**head, "status": "error", "error": answer["error"]["message"]}
    payload = answer["payload"]
    told = {
        name: payload[name] for name in ("stopReason", "timeoutPhase", "providerStarted") if name in payload
    }
    return {**head, "status": payload["status"], "stopReason": "stop", "livenessState": "working", **told}
