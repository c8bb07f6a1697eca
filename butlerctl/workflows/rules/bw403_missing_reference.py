"""An expression or a Code node reads from a node that does not exist: `$('Old name')`.

n8n renames references when a node is renamed in the editor, but not inside code, and no import complains. The run
fails when it comes there.

Fix: write the node's present name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from butlerctl.workflows.findings import Severity
from butlerctl.workflows.notations import compiled
from butlerctl.workflows.placeholders import STICKY_NOTE
from butlerctl.workflows.rules.base import Context, Hit, Rule
from butlerctl.workflows.walk import last_key, strings
from butlerctl.workflows.workflow import Workflow

# $('X'), $node["X"], $items(`X`)
_REFERENCE = r"\$(?:\(|node\[|items\()\s*(['\"`])((?:\\.|[^\\\n]){1,200}?)\1"
_CODE_KEYS = ("jsCode", "functionCode", "code")
_OTHER_DOLLAR = ("cheerio", "jquery", "jQuery", "$ =", "$=")


def check(workflow: Workflow, context: Context) -> Iterable[Hit]:
    del context
    for node in workflow.nodes:
        if node.type == STICKY_NOTE or node.disabled:
            continue
        for path, text in strings(node.parameters, (*node.path, "parameters")):
            if "$" in text:
                for name in _names(text, is_code=last_key(path) in _CODE_KEYS):
                    if name not in workflow.by_name:
                        yield Hit(
                            f'reads from the node "{name}", and there is no such node',
                            path,
                            token=name,
                            node=node.name,
                            help="write the present name of the node",
                        )


def _names(text: str, *, is_code: bool) -> Iterator[str]:
    if is_code:
        if not any(word in text for word in _OTHER_DOLLAR):
            yield from _references(text)
    elif text.startswith("="):
        for match in compiled(r"(?s)\{\{(.*?)\}\}").finditer(text):
            yield from _references(match[1])


def _references(code: str) -> Iterator[str]:
    for match in compiled(_REFERENCE).finditer(code):
        if not _is_comment(code, match.start()):
            yield match[2].replace("\\", "")


def _is_comment(code: str, at: int) -> bool:
    line = code[code.rfind("\n", 0, at) + 1 : at].lstrip()
    return line.startswith(("//", "*", "/*")) or " //" in line


RULE = Rule(
    "BW403",
    "a reference to a missing node",
    Severity.ERROR,
    check=check,
    needles=("$(", "$node[", "$items("),
)
