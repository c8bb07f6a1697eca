"""Pinned data: real results of a run, saved in the file.

They often hold names, addresses and tokens of real people, and they make the editor's test runs skip the node.
An e-mail address or a token in them makes this an error.

Fix: unpin before the export. `--fix` empties `pinData`.
"""

from __future__ import annotations

from collections.abc import Iterable

from butlerctl.workflows.findings import Severity
from butlerctl.workflows.notations import compiled
from butlerctl.workflows.rules.base import Context, Hit, Rule
from butlerctl.workflows.secrets import find_secrets
from butlerctl.workflows.walk import strings
from butlerctl.workflows.workflow import Workflow

_EMAIL = r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})*\.[a-zA-Z]{2,24}"


def check(workflow: Workflow, context: Context) -> Iterable[Hit]:
    del context
    pinned = workflow.document.get("pinData")
    if not isinstance(pinned, dict) or not any(pinned.values()):
        return
    what = ""
    if any("@" in text and compiled(_EMAIL).search(text) for _, text in strings(pinned)):
        what = ", with an e-mail address"
    elif any(find_secrets({"pinData": pinned}, workflow.source.suspects)):
        what = ", with a token"
    nodes = ", ".join(f'"{name}"' for name in list(pinned)[:3])
    yield Hit(
        f"pinned data of {nodes}{what}",
        ("pinData",),
        at_key=True,
        help="unpin before the export; --fix empties pinData",
        severity=Severity.ERROR if what else None,
    )


RULE = Rule("BW502", "pinned data", Severity.WARNING, check=check, fix="empties pinData")
