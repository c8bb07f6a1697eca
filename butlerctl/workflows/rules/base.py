"""What a rule is, what it is given, and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from butlerctl.workflows.contract import Contract, Routes
from butlerctl.workflows.document import Reading
from butlerctl.workflows.findings import Severity
from butlerctl.workflows.positions import Span
from butlerctl.workflows.summary import Summary
from butlerctl.workflows.walk import Path
from butlerctl.workflows.workflow import Workflow


class Hit(NamedTuple):
    """A finding before it has a position. `token` is pointed at inside the value, and merges equal hits.

    `at_key` points at the member's key, `at_node` at the node's name; `span` is an exact place in the text.
    `secret` keeps the line out of every output.
    """

    message: str
    path: Path = ()
    token: str = ""
    node: str = ""
    help: str = ""
    severity: Severity | None = None
    at_key: bool = False
    span: Span | None = None
    secret: bool = False


class Known(NamedTuple):
    """What the inventory says of a placeholder. `reference` is empty when it is documented only."""

    meaning: str
    reference: str


class Context(NamedTuple):
    """What the rules may know beside the file: `routes` are those of the workflow at hand.

    `complete` says that the whole configured folder is linted; `placeholders` is None without an inventory.
    """

    contract: Contract = Contract()
    routes: Routes = Routes()
    complete: bool = False
    placeholders: Mapping[str, Known] | None = None
    documented: frozenset[str] = frozenset()
    expect_active: str = "warn"
    strict_ids: bool = False

    @property
    def is_butlers(self) -> bool:
        """Whether the workflow at hand is a butler's: it serves a route, or lies in the configured folder."""
        return self.routes.any is not None or self.placeholders is not None

    def severity_if(self, matters: bool) -> Severity | None:
        """The severity of a hit: None is the rule's own, also for a butler; elsewhere what n8n passes over is less."""
        return None if matters or self.is_butlers else Severity.WARNING


CheckFile = Callable[[Reading], Iterable[Hit]]
Check = Callable[[Workflow, Context], Iterable[Hit]]
CheckSet = Callable[[Sequence[Summary], Context], Iterable[tuple[Summary | None, Hit]]]


class Rule(NamedTuple):
    """One rule: its check looks at a file as read, at one workflow, or at all workflows together.

    A rule with `needles` (lower case) runs only on files in which some value holds one of them. `on` is False for a
    rule that waits for --pedantic or --select. `fix` says what --fix does. A set rule answers with the summary
    of the workflow at fault, or with None for the inventory.
    """

    code: str
    summary: str
    severity: Severity
    check: Check | None = None
    check_file: CheckFile | None = None
    check_set: CheckSet | None = None
    needles: tuple[str, ...] = ()
    on: bool = True
    fix: str = ""
