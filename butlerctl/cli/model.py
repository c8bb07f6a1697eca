"""`butlerctl model`: can this model and provider do tool calls?"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from butlerctl.cli.common import FORMAT, Format
from butlerctl.errors import BadInput, ExitCode, NotPermitted, Unreachable, UsageProblem

if TYPE_CHECKING:
    from butlerctl.protocol.battery import Scenario
    from butlerctl.protocol.modelcheck import Sample

app = typer.Typer(
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
    no_args_is_help=True,
    help="Can this model and provider do tool calls?",
)

KEY_VARIABLE = "BUTLERCTL_MODEL_KEY"


class Mode(StrEnum):
    BOTH = "both"
    STREAM = "stream"
    PLAIN = "plain"


@app.callback()
def model() -> None:
    """Can this model and provider do tool calls?"""


@app.command(short_help="Count what goes wrong in small requests that need tools.")
def check(
    url: str = typer.Option(
        ...,
        envvar="BUTLERCTL_MODEL_URL",
        help="Base URL of the OpenAI-compatible endpoint, such as https://host/v1.",
        metavar="URL",
    ),
    model_name: str = typer.Option(
        ..., "--model", envvar="BUTLERCTL_MODEL", help="The model's name there.", metavar="NAME"
    ),
    repeats: int = typer.Option(
        3, "-k", "--repeats", min=1, help="Runs of each request; all must be right.", metavar="NUMBER"
    ),
    only: list[str] = typer.Option(
        [], "--only", help="A request or an aspect by name; may be repeated.", metavar="NAME"
    ),
    mode: Mode = typer.Option(Mode.BOTH, help="Streamed, not streamed, or both."),
    provider: str | None = typer.Option(
        None, help="The upstream to which a router is pinned (OpenRouter).", metavar="NAME"
    ),
    baseline: Path | None = typer.Option(
        None, help="Figures of an earlier run to compare with.", metavar="FILE"
    ),
    save: Path | None = typer.Option(
        None, help="Write the figures here, as a baseline for later.", metavar="FILE"
    ),
    timeout: float = typer.Option(60.0, min=0.1, help="Seconds for one completion.", metavar="SECONDS"),
    format_: Format = FORMAT,
) -> None:
    """Ask a model small requests that need tools, or must not use them, and count what goes wrong.

    The key is read from BUTLERCTL_MODEL_KEY.

    Exit codes: 0 every run was right, or with --baseline nothing is worse than there, 1 otherwise, 75 the provider cannot
    be reached, 77 it refuses the key, 78 bad input.
    """
    from butlerctl.cli.documents import print_line, read_json
    from butlerctl.protocol.modelcheck import summarize, worse_than

    reference = read_json(baseline) if baseline else None
    samples = _run(_scenarios(only), _endpoint(url, model_name, provider, timeout), _modes(mode), repeats)
    _refuse_no_answers(samples, url)
    summary = {"model": model_name, **summarize(samples)}
    worse = worse_than(summary, reference) if reference is not None else []
    if save:
        _save(save, summary)
    if format_ is Format.JSON:
        print(json.dumps({**summary, "worse": worse}))
    else:
        for line in _lines(summary, worse):
            print_line(line)
    good = not worse if reference is not None else summary["pass_rate"] == 1.0
    raise typer.Exit(int(ExitCode.PROVEN if good else ExitCode.BROKEN))


def _save(path: Path, summary: Mapping[str, Any]) -> None:
    try:
        path.write_text(json.dumps(summary, indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}") from error


def _scenarios(only: Sequence[str]) -> list[Scenario]:
    from butlerctl.protocol.battery import SCENARIOS

    chosen = [each for each in SCENARIOS if not only or each.name in only or each.aspect in only]
    known = {word for each in SCENARIOS for word in (each.name, each.aspect)}
    if unknown := [word for word in only if word not in known]:
        raise UsageProblem(
            f"there is no request or aspect {unknown[0]!r}", hint=f"known: {', '.join(sorted(known))}"
        )
    return chosen


def _modes(mode: Mode) -> list[bool]:
    return {Mode.BOTH: [True, False], Mode.STREAM: [True], Mode.PLAIN: [False]}[mode]


def _run(
    scenarios: Sequence[Scenario], endpoint: Mapping[str, Any], modes: Sequence[bool], repeats: int
) -> list[Sample]:
    from butlerctl.protocol.budget import Budget
    from butlerctl.protocol.modelcheck import run_battery
    from butlerctl.protocol.provider import ChatProvider

    budget = Budget(turns=4, calls=8, seconds=4 * endpoint["timeout"])
    with ExitStack() as stack:
        providers = {
            streamed: stack.enter_context(ChatProvider(**endpoint, stream=streamed)) for streamed in modes
        }
        return run_battery(scenarios, providers, repeats, budget, _Progress(endpoint["base_url"]))


def _endpoint(url: str, model_name: str, provider: str | None, timeout: float) -> dict[str, Any]:
    pin = {"provider": {"order": [provider], "allow_fallbacks": False}} if provider else None
    key = os.environ.get(KEY_VARIABLE, "")
    return {"base_url": url, "api_key": key, "model": model_name, "timeout": timeout, "extra": pin}


class _Progress:
    """Tells of each run. Nobody there, or a refused key, shows with the first one, and ends the check."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._first = True

    def __call__(self, sample: Sample) -> None:
        statuses = {completion["http_status"] for completion in sample.turn.completions}
        if self._first and statuses <= {None, 401, 403}:
            _refuse_no_answers([sample], self._url)
        self._first = False
        if sys.stderr.isatty():
            mode = "stream" if sample.streamed else "plain"
            print(f"{sample.scenario.name} ({mode}): {sample.fault or 'right'}", file=sys.stderr)


def _refuse_no_answers(samples: Sequence[Sample], url: str) -> None:
    """A provider that never answered says nothing about the model."""
    from butlerctl.redaction import redact_text

    completions = [completion for sample in samples for completion in sample.turn.completions]
    statuses = {completion["http_status"] for completion in completions}
    if 200 in statuses:
        return
    if statuses & {401, 403}:
        raise NotPermitted("the provider refuses the key", hint=f"set {KEY_VARIABLE}")
    said = {str(completion.get("error") or completion["http_status"]) for completion in completions}
    raise Unreachable(
        f"the provider at {redact_text(url)} gave no completion: {', '.join(sorted(said)) or 'no answer'}",
        hint="is --url its base address, with /v1 where it has one?",
    )


def _lines(summary: Mapping[str, Any], worse: Sequence[str]) -> Iterator[str]:
    yield f"{'request':<20} {'aspect':<18} {'stream':<8} {'plain':<8} what went wrong"
    for name, scenario in summary["scenarios"].items():
        stream, plain = (_out_of(scenario["passed"].get(mode)) for mode in ("stream", "plain"))
        yield f"{name:<20} {scenario['aspect']:<18} {stream:<8} {plain:<8} {'; '.join(scenario['faults'])}".rstrip()
    yield ""
    for label, key in (
        ("right", "pass_rate"),
        ("call when due", "trigger_rate"),
        ("valid calls", "schema_accuracy"),
    ):
        yield f"{label:<18} {'-' if summary[key] is None else format(summary[key], '.0%')}"
    for key in ("leaks", "finish_mismatch", "malformed_names", "providers", "latency_ms", "usage"):
        yield f"{key.replace('_', ' '):<18} {_counted(summary[key])}"
    for line in worse:
        yield f"worse: {line}"


def _out_of(passed: Sequence[int] | None) -> str:
    return f"{passed[0]}/{passed[1]}" if passed else "-"


def _counted(figure: Any) -> str:
    if isinstance(figure, Mapping):
        return ", ".join(f"{key}: {value}" for key, value in figure.items()) or "none"
    return str(figure or "none")
