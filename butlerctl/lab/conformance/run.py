"""Run the catalogue of misbehaviours through a gateway, one turn each."""

from __future__ import annotations

import contextlib
import secrets
import tempfile
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from butlerctl.errors import GatewayRefused, Unreachable
from butlerctl.gateway.operator import Operator, Run
from butlerctl.gateway.rows import messages_of, with_delivered
from butlerctl.gateway.tap import Exchange, Tap
from butlerctl.gateway.webhook_tools import WebhookToolsSettings
from butlerctl.lab.conformance.case import Case
from butlerctl.lab.conformance.cases_webhook import PLUGIN_SECONDS
from butlerctl.lab.conformance.outcome import Observed, observe
from butlerctl.lab.conformance.script import words
from butlerctl.lab.conformance.servers import ScriptedModel, ScriptedWebhooks
from butlerctl.lab.conformance.spoilt import SPOILT, spoilt_copy
from butlerctl.lab.gateway.server import LabGateway
from butlerctl.lab.real.openclaw import GatewaySettings, OpenClaw, installed_plugin
from butlerctl.lab.server import LoopbackServer
from butlerctl.protocol.tools import ProfileShape

AGENT = "butler"
TIMEZONE = "America/New_York"
SHAPE = {
    name: ProfileShape(("Household",), ("Log", "butler verify"), ("date", "item", "amount"))
    for name in ("husband", "wife")
}
_WIRE_SECONDS = 5.0
SECRET = "invented-secret-of-the-lab"  # noqa: S105 - the lab's own, on loopback


class Wire:
    """What a tap before the model has seen. An answer may be with the gateway a moment before it is recorded."""

    def __init__(self, model_url: str) -> None:
        self._recorded: list[Exchange] = []
        self.tap = Tap(model_url, self._recorded.append)

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        """All since `clear`, in the order in which they ended; those under way are waited for."""
        self.tap.wait_until_idle(_WIRE_SECONDS)
        return tuple(self._recorded)

    def clear(self) -> None:
        self.tap.wait_until_idle(_WIRE_SECONDS)
        self._recorded.clear()


@dataclass(frozen=True, slots=True)
class Bench:
    """A gateway between a scripted model and scripted webhooks."""

    url: str
    token: str
    operator: Operator
    model: ScriptedModel
    webhooks: ScriptedWebhooks
    wire: Wire


@contextlib.contextmanager
def real_bench(
    version: str,
    model_name: str,
    environ: Mapping[str, str],
    *,
    plugin: Path | None = None,
    revise: Callable[[dict[str, Any]], None] | None = None,
) -> Iterator[Bench]:
    """The real gateway of this version. `model_name` is `provider/model id`; the rest is as in `GatewaySettings`.

    Raises:
        Unreachable: npm or the gateway does not answer.
    """
    with _ends() as ends, tempfile.TemporaryDirectory(prefix="butlerctl-gateway-") as folder:
        settings = GatewaySettings(
            version, AGENT, model_name, ends.model_url, TIMEZONE, ends.tools, plugin=plugin, revise=revise
        )
        with (
            OpenClaw(settings, Path(folder), environ) as gateway,
            ends.bench(gateway.url, gateway.token) as bench,
        ):
            yield bench


@contextlib.contextmanager
def stand_in_bench(model_name: str) -> Iterator[Bench]:
    """The lab's own gateway in the same place."""
    token = secrets.token_hex(16)
    with contextlib.ExitStack() as resources:
        ends = resources.enter_context(_ends())
        lab = LabGateway(
            ends.model_url, ends.tools, token=token, agent=AGENT, timezone=TIMEZONE, model=model_name
        )
        resources.callback(lab.close)
        server = resources.enter_context(LoopbackServer(lab.app))
        yield resources.enter_context(ends.bench(server.url, token))


@dataclass(frozen=True, slots=True)
class _Ends:
    """What stands on both sides of a gateway. `model_url` leads through a tap to the scripted model."""

    model: ScriptedModel
    webhooks: ScriptedWebhooks
    wire: Wire
    model_url: str
    tools: WebhookToolsSettings

    @contextlib.contextmanager
    def bench(self, url: str, token: str) -> Iterator[Bench]:
        with Operator.connect(url, token) as operator:
            yield Bench(url, token, operator, self.model, self.webhooks, self.wire)


@contextlib.contextmanager
def _ends() -> Iterator[_Ends]:
    with ScriptedModel() as model, ScriptedWebhooks() as webhooks:
        wire = Wire(model.url)
        tools = WebhookToolsSettings(
            webhooks.url, SHAPE, prefix="L4CK3Y", secret=SECRET, timeout=PLUGIN_SECONDS
        )
        with wire.tap as tap:
            yield _Ends(model, webhooks, wire, tap.url, tools)


@contextlib.contextmanager
def spoilt_bench(
    name: str,
    version: str,
    model_name: str,
    environ: Mapping[str, str],
    more: Callable[[dict[str, Any]], None] | None = None,
) -> Iterator[Bench]:
    """The real gateway with the spoilt copy of this name; `more` changes the configuration further.

    Raises:
        Unreachable, BadInput: as `OpenClaw.start`.
    """

    def revise(config: dict[str, Any]) -> None:
        for change in (SPOILT[name].revise, more):
            if change is not None:
                change(config)

    with tempfile.TemporaryDirectory(prefix="butlerctl-plugin-") as folder:
        copy = spoilt_copy(name, installed_plugin(environ), Path(folder))
        with real_bench(version, model_name, environ, plugin=copy, revise=revise) as bench:
            yield bench


def run_on_real(
    cases: Sequence[Case], version: str, model_name: str, environ: Mapping[str, str]
) -> Iterator[Observed]:
    """Every case on the real gateway; one start for each spoilt plugin beside the shipped one. Raises as the benches."""
    for plugin, members in groupby(cases, lambda case: case.plugin):
        opened = (
            spoilt_bench(plugin, version, model_name, environ)
            if plugin
            else real_bench(version, model_name, environ)
        )
        with opened as bench:
            yield from (run_case(bench, case) for case in members)


def run_on_stand_in(cases: Sequence[Case], model_name: str) -> Iterator[Observed]:
    """The cases that need no plugin of JavaScript, on the lab's own gateway."""
    with stand_in_bench(model_name) as bench:
        yield from (run_case(bench, case) for case in cases if not case.plugin)


def run_case(bench: Bench, case: Case) -> Observed:
    """One turn in a session of its own."""
    key = f"agent:{AGENT}:conformance-{case.id}-{uuid.uuid4().hex[:8]}"
    answers = list(case.answers(case.ask))
    bench.model.play(answers if case.loops else [*answers, words(case.ask.done)])
    bench.webhooks.behave(case.webhook)
    bench.wire.clear()
    bench.operator.create_session(AGENT, key)
    offered = tuple(tool.name for tool in bench.operator.effective_tools(key))
    run = _take_turn(bench.operator, key, case)
    messages = with_delivered(messages_of(bench.operator.session_rows(key)), run.reply)
    exchanges, wire = list(bench.webhooks.exchanges), list(bench.wire.exchanges)
    with contextlib.suppress(GatewayRefused, Unreachable):
        bench.operator.delete_session(key)
    return observe(case, run, messages, exchanges, wire, offered)


def _take_turn(operator: Operator, key: str, case: Case) -> Run:
    """A turn that the gateway never ends is an outcome too."""
    run_id = uuid.uuid4().hex
    try:
        return operator.run(AGENT, key, case.ask.prompt, run_id=run_id, timeout=case.seconds)
    except Unreachable:
        return Run(run_id, "lost", "", {}, ())
