"""Run the catalogue of misbehaviours through a gateway, one turn each."""

from __future__ import annotations

import contextlib
import tempfile
import uuid
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

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
from butlerctl.lab.real.openclaw import GatewaySettings, OpenClaw
from butlerctl.protocol.tools import ProfileShape

AGENT = "butler"
SHAPE = {
    name: ProfileShape(("Household",), ("Log", "butler verify"), ("date", "item", "amount"))
    for name in ("husband", "wife")
}
SECRET = "invented-secret-of-the-lab"  # noqa: S105 - the lab's own, on loopback


@dataclass(frozen=True, slots=True)
class Bench:
    """A gateway between a scripted model and scripted webhooks; `wire` is what a tap sees before the model."""

    url: str
    token: str
    operator: Operator
    model: ScriptedModel
    webhooks: ScriptedWebhooks
    wire: list[Exchange]


@contextlib.contextmanager
def real_bench(version: str, model_name: str, environ: Mapping[str, str]) -> Iterator[Bench]:
    """The real gateway of this version with the household's plugin. `model_name` is `provider/model id`.

    Raises:
        Unreachable: npm or the gateway does not answer.
    """
    with contextlib.ExitStack() as resources:
        folder = Path(resources.enter_context(tempfile.TemporaryDirectory(prefix="butlerctl-gateway-")))
        model = resources.enter_context(ScriptedModel())
        webhooks = resources.enter_context(ScriptedWebhooks())
        tools = WebhookToolsSettings(
            webhooks.url, SHAPE, prefix="L4CK3Y", secret=SECRET, timeout=PLUGIN_SECONDS
        )
        wire: list[Exchange] = []
        tap = resources.enter_context(Tap(model.url, wire.append))
        settings = GatewaySettings(version, AGENT, model_name, tap.url, "America/New_York", tools)
        gateway = resources.enter_context(OpenClaw(settings, folder, environ))
        operator = resources.enter_context(Operator.connect(gateway.url, gateway.token))
        yield Bench(gateway.url, gateway.token, operator, model, webhooks, wire)


def run_cases(bench: Bench, cases: Iterable[Case]) -> Iterator[Observed]:
    for case in cases:
        yield run_case(bench, case)


def run_case(bench: Bench, case: Case) -> Observed:
    """One turn in a session of its own."""
    key = f"agent:{AGENT}:conformance-{case.id}-{uuid.uuid4().hex[:8]}"
    answers = list(case.answers(case.ask))
    bench.model.play(answers if case.loops else [*answers, words(case.ask.done)])
    bench.webhooks.behave(case.webhook)
    bench.wire.clear()
    bench.operator.create_session(AGENT, key)
    run = _take_turn(bench.operator, key, case)
    messages = with_delivered(messages_of(bench.operator.session_rows(key)), run.reply)
    exchanges, wire = list(bench.webhooks.exchanges), list(bench.wire)
    with contextlib.suppress(GatewayRefused, Unreachable):
        bench.operator.delete_session(key)
    return observe(case, run, messages, exchanges, wire)


def _take_turn(operator: Operator, key: str, case: Case) -> Run:
    """A turn that the gateway never ends is an outcome too."""
    run_id = uuid.uuid4().hex
    try:
        return operator.run(AGENT, key, case.ask.prompt, run_id=run_id, timeout=case.seconds)
    except Unreachable:
        return Run(run_id, "lost", "", {}, ())
