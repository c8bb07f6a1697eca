"""The linter itself: files in, report out. One bad file or one broken rule never stops the rest."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from butlerctl.errors import ExitCode
from butlerctl.workflows.document import Problem, Reading, read
from butlerctl.workflows.findings import Finding, Report, Severity
from butlerctl.workflows.inputs import Input, covers, expand, lies_in, shown
from butlerctl.workflows.placing import Seen, place, place_in_inventory
from butlerctl.workflows.rules.base import Context, Hit, Rule
from butlerctl.workflows.rules.bw007_suppression import RULE as IDLE_SUPPRESSION
from butlerctl.workflows.rules.registry import RULES
from butlerctl.workflows.selection import is_ignored_in, is_selected
from butlerctl.workflows.settings import LintSettings
from butlerctl.workflows.summary import Summary, summarize, summarize_unreadable
from butlerctl.workflows.suppressions import Suppression, silence, suppressions
from butlerctl.workflows.workflow import Source, Workflow

# Of one rule in one workflow: more would only be counted.
MOST_HITS = 1000
CRASH = Rule("BW000", "a rule of the linter crashed", Severity.ERROR)


def lint_paths(
    paths: Sequence[str | Path],
    settings: LintSettings | None = None,
    *,
    stdin: bytes | None = None,
    rules: Sequence[Rule] = RULES,
) -> Report:
    """Lint files and folders; without paths, the workflow folder of the settings' household.

    `stdin` is linted as well when given. Raises nothing for bad files: they are findings.
    """
    settings = settings or LintSettings()
    household = settings.household
    names = [str(path) for path in paths]
    if not names and stdin is None and household:
        names = [shown(household.directory)]
    inputs = list(expand(names, named=not settings.from_hook))
    if stdin is not None:
        inputs.append(Input("<stdin>", named=True, data=stdin))
    complete = household is not None and covers(names, household.directory, any_folder=settings.everywhere)
    return _Run(settings, rules, complete=complete).lint(inputs)


def lint_documents(
    documents: Mapping[str, Mapping[str, Any]],
    settings: LintSettings | None = None,
    *,
    rules: Sequence[Rule] = RULES,
) -> Report:
    """Lint parsed workflows by file name. Positions are those of the document printed with two blanks."""
    inputs = [Input(name, named=True, data=_printed(document)) for name, document in documents.items()]
    return _Run(settings or LintSettings(), rules, complete=False).lint(inputs)


def exit_code(report: Report, fail_on: Severity, *, findings_count: bool = True) -> ExitCode:
    """What the process says. Nothing checked is never success; `findings_count` is off for surveys."""
    if report.crashed:
        return ExitCode.BUG
    if findings_count and any(finding.severity >= fail_on for finding in report.findings):
        return ExitCode.BROKEN
    return ExitCode.PROVEN if report.checked else ExitCode.NOT_PROVEN


class _FileResult(NamedTuple):
    """What is kept of a file until the end: its findings, and what its notes silence."""

    findings: list[Finding]
    suppressions: list[Suppression]


class _Run:
    """One run over a list of files, one file in memory at a time."""

    def __init__(self, settings: LintSettings, rules: Sequence[Rule], *, complete: bool) -> None:
        selected = [rule for rule in rules if is_selected(rule, settings)]
        self._settings = settings
        self._complete = complete
        self._codes = frozenset(rule.code for rule in selected)
        self._file_rules = [(rule, rule.check_file) for rule in selected if rule.check_file]
        self._rules = [(rule, rule.check) for rule in selected if rule.check]
        self._set_rules = [(rule, rule.check_set) for rule in selected if rule.check_set]
        self._inputs: dict[str, Input] = {}
        self._configured_folders: dict[str, bool] = {}
        self._summaries: list[Summary] = []
        self._results: dict[str, _FileResult] = {}
        self._checked = 0
        self._skipped = 0
        self._crashed = False

    def lint(self, inputs: Iterable[Input]) -> Report:
        for item in inputs:
            self._lint_file(item)
        self._read_companions()
        if self._set_rules:
            self._lint_set()
        findings: list[Finding] = []
        suppressed = 0
        for file, result in self._results.items():
            silenced = silence(result.findings, result.suppressions, self._codes)
            suppressed += silenced.suppressed
            findings.extend(silenced.kept)
            if silenced.idle and IDLE_SUPPRESSION.code in self._codes:
                idle = [Seen(IDLE_SUPPRESSION, hit, ()) for hit in silenced.idle]
                findings.extend(place(file, _load(self._inputs[file]).text, idle))
        findings = [item for item in findings if not is_ignored_in(item.file, item.code, self._settings)]
        findings.sort(key=lambda item: (item.file, item.line, item.column, item.code))
        files = tuple(file for file, item in self._inputs.items() if item.given)
        return Report(
            tuple(findings), self._checked, self._skipped, suppressed, crashed=self._crashed, files=files
        )

    def _lint_file(self, item: Input) -> None:
        self._inputs[item.file] = item
        configured = self._is_configured(item)
        context = self._context(configured=configured)
        reading = _load(item)
        seen: list[Seen] = []
        silenced: list[Suppression] = []
        if item.given:
            self._count(reading)
            for rule, check in self._file_rules:
                self._collect(rule, (), seen, check, reading)
        source = Source(reading)
        for member in reading.members:
            workflow = Workflow(self._rendered(member.document), source, member.path)
            routes = context.contract.assign(workflow)
            if item.given:
                self._lint_workflow(workflow, context._replace(routes=routes), seen)
                silenced.extend(suppressions(workflow))
            self._summaries.append(summarize(workflow, routes, given=item.given, configured=configured))
        if reading.problem:
            routes = context.contract.assign_file(reading.stem)
            self._summaries.append(summarize_unreadable(item.file, routes, configured=configured))
        if seen or silenced:
            found = place(item.file, reading.text, seen, repeated=bool(reading.repeated))
            self._results[item.file] = _FileResult(found, silenced)

    def _lint_workflow(self, workflow: Workflow, context: Context, seen: list[Seen]) -> None:
        workflow.everywhere = "BW106" in self._codes
        for rule, check in self._rules:
            if not rule.needles or workflow.source.holds_any(rule.needles):
                self._collect(rule, workflow.prefix, seen, check, workflow, context)

    def _collect(
        self,
        rule: Rule,
        prefix: tuple[str | int, ...],
        seen: list[Seen],
        check: Callable[..., Iterable[Hit]],
        *args: Any,
    ) -> None:
        try:
            seen.extend([Seen(rule, hit, prefix) for hit in islice(check(*args), MOST_HITS)])
        except Exception as error:  # noqa: BLE001 - a broken rule is reported, and the others go on
            seen.append(Seen(CRASH, self._crash(rule, error), prefix))

    def _crash(self, rule: Rule, error: Exception) -> Hit:
        self._crashed = True
        import traceback

        frame = traceback.extract_tb(error.__traceback__)[-1]
        place_in_code = f"{Path(frame.filename).name}:{frame.lineno}"
        return Hit(
            f"rule {rule.code} crashed: {type(error).__name__} at {place_in_code}",
            token=rule.code,
            help="a bug in butlerctl: please report it; the other rules went on",
        )

    def _read_companions(self) -> None:
        """Files of the configured folder that were not asked for: the set rules need them for comparison."""
        household = self._settings.household
        if household is None or self._complete or not any(item.configured for item in self._summaries):
            return
        known = {Path(file).resolve() for file in self._inputs}
        for item in expand([shown(household.directory)], named=False):
            if Path(item.file).resolve() not in known:
                self._lint_file(item._replace(given=False))

    def _lint_set(self) -> None:
        context = self._context(configured=True)
        by_file: dict[str, list[Seen]] = {}
        inventory = self._inventory_file()
        for rule, check in self._set_rules:
            try:
                for summary, hit in check(self._summaries, context):
                    file = summary.file if summary else inventory
                    seen = Seen(rule, hit, summary.prefix if summary else ())
                    by_file.setdefault(file, []).append(seen)
            except Exception as error:  # noqa: BLE001 - as above
                by_file.setdefault(inventory, []).append(Seen(CRASH, self._crash(rule, error), ()))
        for file, hits in by_file.items():
            result = self._results.setdefault(file, _FileResult([], []))
            if file in self._inputs:
                result.findings.extend(place(file, _load(self._inputs[file]).text, hits))
            else:
                result.findings.extend(place_in_inventory(file, hits))

    def _count(self, reading: Reading) -> None:
        self._checked += len(reading.members)
        self._skipped += not reading.members

    def _context(self, *, configured: bool) -> Context:
        household = self._settings.household
        if household is None or not configured:
            return Context(expect_active=household.expect_active if household else "warn")
        return Context(
            contract=household.contract,
            complete=self._complete,
            placeholders=household.placeholders,
            documented=household.documented,
            expect_active=household.expect_active,
            strict_ids=household.strict_ids,
        )

    def _is_configured(self, item: Input) -> bool:
        household = self._settings.household
        if household is None:
            return False
        if self._settings.everywhere or item.data is not None:
            return self._settings.everywhere
        folder = item.file.rpartition("/")[0]
        if folder not in self._configured_folders:
            self._configured_folders[folder] = lies_in(item.file, household.directory)
        return self._configured_folders[folder]

    def _inventory_file(self) -> str:
        household = self._settings.household
        return shown(household.file) if household else ""

    def _rendered(self, document: dict[str, Any]) -> dict[str, Any]:
        if not self._settings.bindings:
            return document
        from butlerctl.workflows.render import render

        return render(document, self._settings.bindings)


def _load(item: Input) -> Reading:
    try:
        return read(item.load(), item.file, named=item.named)
    except OSError as error:
        return Reading(item.file, "", problem=Problem(f"the file cannot be read: {error.strerror}"))


def _printed(document: Mapping[str, Any]) -> bytes:
    return json.dumps(document, indent=2, ensure_ascii=False).encode("utf-8", "surrogatepass")
