"""What the Google nodes of n8n need: credentials, and a place to act on."""

from __future__ import annotations

from typing import Any

from butlerctl.inventory.operations import Operation
from butlerctl.workflows.notations import words
from butlerctl.workflows.walk import Path
from butlerctl.workflows.workflow import BASE, Node, Workflow

CALENDAR = BASE + "googleCalendar"
TASKS = BASE + "googleTasks"
SHEETS = BASE + "googleSheets"
NODE_OF_DOMAIN = {"calendar": CALENDAR, "tasks": TASKS, "sheets": SHEETS}

# The parameter that names the calendar, the list or the spreadsheet.
PLACES = {CALENDAR: ("calendar",), TASKS: ("task",), SHEETS: ("documentId", "sheetName")}

# These work with a Google credential only.
CREDENTIALED = frozenset(
    BASE + name
    for name in words(
        "gmail gmailTrigger googleAds googleAnalytics googleBigQuery googleBooks googleBusinessProfile "
        "googleCalendar googleCalendarTrigger googleChat googleContacts googleDocs googleDrive "
        "googleDriveTrigger googlePerspective googleSheets googleSheetsTrigger googleSlides googleTasks "
        "googleTranslate youTube"
    )
)

_DEFAULT_OPERATION = {CALENDAR: "create", TASKS: "create", SHEETS: "read"}
_OPERATION = {
    "calendar_list": "getAll",
    "calendar_add": "create",
    "tasks_list": "getAll",
    "tasks_add": "create",
    "sheets_read": "read",
    "sheets_append": "append",
}


def operation_of(node: Node) -> str:
    """What the node does; a parameter at its default is left out of exports."""
    return str(node.parameters.get("operation") or _DEFAULT_OPERATION.get(node.type, ""))


def writes(node: Node) -> bool:
    """Whether running the node twice makes a second object."""
    return (node.type in (CALENDAR, TASKS) and operation_of(node) == "create") or (
        node.type == SHEETS and operation_of(node) == "append"
    )


def lists(node: Node) -> bool:
    """Whether the node may honestly find nothing."""
    return (node.type in (CALENDAR, TASKS) and operation_of(node) == "getAll") or (
        node.type == SHEETS and operation_of(node) == "read"
    )


def serves(node: Node, operation: Operation) -> bool:
    """Whether the node does what an operation of the butler needs."""
    return node.type == NODE_OF_DOMAIN[operation.domain] and operation_of(node) == _OPERATION[operation.name]


def place(node: Node, parameter: str) -> tuple[Any, Path]:
    """The value that names a place, out of its resource locator, and its path; None where it is absent."""
    value = node.parameters.get(parameter)
    path: Path = ("nodes", node.index, "parameters", parameter)
    if isinstance(value, dict) and "value" in value:
        return value["value"], (*path, "value")
    return value, path


def google_nodes(workflow: Workflow) -> list[Node]:
    """The nodes for calendar, tasks and sheets."""
    return [node for node in workflow.nodes if node.type in PLACES]
