"""Pinned data: real results of a run, saved in the file.

They often hold names, addresses and tokens of real people, and they make the editor's test runs skip the node.
A token in them makes this an error, and so does an e-mail address in a butler's workflow or in the configured folder.
Elsewhere an address is a warning: n8n uses pinned data in the editor only, so nothing runs otherwise, and whether it
belongs to a person (or is made up, a role's, a vendor's) cannot be seen. File names (`icon@2x.png`) and the chat ids
of messengers are no addresses.

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
# Files (`icon@2x.png`), and the chat ids of a messenger, look like addresses.
_NO_DOMAINS = (".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".js", "@s.whatsapp.net", "@c.us", "@g.us")


def check(workflow: Workflow, context: Context) -> Iterable[Hit]:
    pinned = workflow.document.get("pinData")
    if not isinstance(pinned, dict) or not any(pinned.values()):
        return
    what, severity = "", None
    if any(find_secrets({"pinData": pinned}, workflow.source.suspects)):
        what, severity = ", with a token", Severity.ERROR
    elif any(_holds_address(text) for _, text in strings(pinned)):
        what, severity = ", with an e-mail address", Severity.ERROR if context.is_butlers else None
    nodes = ", ".join(f'"{name}"' for name in list(pinned)[:3])
    yield Hit(
        f"pinned data of {nodes}{what}",
        ("pinData",),
        at_key=True,
        help="unpin before the export; --fix empties pinData",
        severity=severity,
    )


def _holds_address(text: str) -> bool:
    return "@" in text and any(
        not match[0].lower().endswith(_NO_DOMAINS) for match in compiled(_EMAIL).finditer(text)
    )


RULE = Rule("BW502", "pinned data", Severity.WARNING, check=check, fix="empties pinData")
