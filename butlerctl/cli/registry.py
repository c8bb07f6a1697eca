"""Every command of butlerctl, by name. A command's module is imported when that command is asked for."""

from __future__ import annotations

from typing import NamedTuple


class Command(NamedTuple):
    """Where a command lives. The module has a typer application named `app`."""

    module: str
    summary: str


COMMANDS: dict[str, Command] = {
    "verify": Command("butlerctl.cli.verify", "Prove every route end to end and write the signed report."),
    "lint-workflows": Command("butlerctl.cli.lint_workflows", "Lint n8n workflow exports."),
    "probe": Command(
        "butlerctl.cli.probe", "Check each webhook: registered, guarded, answering, right shape."
    ),
    "roundtrip": Command(
        "butlerctl.cli.roundtrip", "Ask the agent, confirm in Google, delete, confirm gone."
    ),
    "diagnose": Command("butlerctl.cli.diagnose", "Judge recorded evidence and name the first broken link."),
    "transcript": Command("butlerctl.cli.transcript", "Judge recorded agent transcripts."),
    "protocol": Command("butlerctl.cli.protocol", "The function-calling layer on its own."),
    "model": Command("butlerctl.cli.model", "Can this model and provider do tool calls?"),
    "gateway": Command(
        "butlerctl.cli.gateway", "Check the agent gateway: tools, pins, settings, conformance."
    ),
    "tap": Command("butlerctl.cli.tap", "Record what passes between gateway and provider."),
    "plan": Command("butlerctl.cli.plan", "Show what a deployment of the workflows would change."),
    "apply": Command("butlerctl.cli.apply", "Carry out a plan: the whole set, or nothing of it."),
    "snapshot": Command(
        "butlerctl.cli.snapshot", "Keep what n8n holds now as a way back; list what was kept."
    ),
    "rollback": Command("butlerctl.cli.rollback", "Bring the whole set back to a snapshot."),
    "drift": Command("butlerctl.cli.drift", "Compare what n8n serves with the files and the last report."),
    "report": Command("butlerctl.cli.report", "Read and check signed reports."),
    "keys": Command("butlerctl.cli.keys", "Make and show signing keys."),
    "sweep": Command("butlerctl.cli.sweep", "Remove leftovers of interrupted runs, and nothing else."),
    "lab": Command("butlerctl.cli.lab", "The embedded stack on loopback, and its plantable faults."),
}
