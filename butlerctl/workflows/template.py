"""The one generator of the twelve workflow exports in `workflows/`.

    python -m butlerctl.workflows.template --check | --write [FOLDER]

Every workflow refuses input that the contract forbids before a Google node runs (400), answers a failure of
Google with 502 and its own faults with 500, and names the n8n execution in every answer:

    Webhook -> Check input -> Input ok? -> Google -> Format response -> Respond ok

The JavaScript of the two Code nodes lies in `javascript/`; the constants above it come from here.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from butlerctl.inventory.operations import OPERATIONS, Route
from butlerctl.workflows.template_nodes import Person, build_connections, build_nodes, stable_uuid


@dataclass(frozen=True, slots=True)
class Household:
    """What all workflows share."""

    people: tuple[Person, ...]
    prefix: str = "L4CK3Y"
    timezone: str = "America/New_York"
    header_credential: str = "k8Wq3ZtR5nYb1VhD"

    @property
    def routes(self) -> tuple[tuple[Route, Person], ...]:
        return tuple((Route(name, person.name), person) for name in OPERATIONS for person in self.people)


SHIPPED = Household(
    people=(
        Person(
            name="husband",
            calendar="husband@example.test",
            task_lists={"Household": "<HUSBAND_TASKS_LIST_ID>"},
            spreadsheet="1hUsBaNdHoUsEhOlDsHeEt0000000000000000000000",
            credentials={
                "calendar": "Jc4hT9mKx2PqL7sA",
                "tasks": "Rv6bN1yGz8WdE3uF",
                "sheets": "Qo5jM0aXk9TiC2pH",
            },
        ),
        Person(
            name="wife",
            calendar="wife@example.test",
            task_lists={"Household": "d2lmZS10YXNrcy1saXN0LWlk"},
            spreadsheet="<WIFE_SPREADSHEET_ID>",
            credentials={
                "calendar": "<WIFE_CALENDAR_CRED_ID>",
                "tasks": "<WIFE_TASKS_CRED_ID>",
                "sheets": "<WIFE_SHEETS_CRED_ID>",
            },
        ),
    )
)

EXECUTION_TIMEOUT = 12
"""Seconds: n8n answers a plain 500 before the plugin gives up at 15."""


def exports(household: Household = SHIPPED) -> dict[str, str]:
    """File name -> text of every export of the household."""
    return {
        route.workflow_file: json.dumps(workflow(route, person, household), indent=2, ensure_ascii=False)
        + "\n"
        for route, person in household.routes
    }


def workflow(route: Route, person: Person, household: Household = SHIPPED) -> dict[str, Any]:
    """One export, in the key order of the editor's download."""
    operation = OPERATIONS[route.operation]
    name = " ".join(
        part for part in (household.prefix, operation.domain, operation.verb, person.name) if part
    )
    return {
        "name": name,
        "nodes": build_nodes(route, person, household.prefix, household.header_credential),
        "connections": build_connections(route.operation),
        "active": False,
        "settings": {
            "executionOrder": "v1",
            "timezone": household.timezone,
            "executionTimeout": EXECUTION_TIMEOUT,
        },
        "versionId": stable_uuid(route, "version"),
        "meta": {"templateCredsSetupCompleted": True},
        "nodeGroups": [],
        "id": stable_uuid(route, "workflow").replace("-", "")[:16],
        "tags": [],
    }


def main(argv: list[str]) -> int:
    """`--check` names the files that differ (exit 1), `--write` writes them."""
    if not argv or argv[0] not in ("--check", "--write"):
        sys.stderr.write("usage: python -m butlerctl.workflows.template --check|--write [FOLDER]\n")
        return 2
    folder = Path(argv[1]) if len(argv) > 1 else Path("workflows")
    stale = [name for name, text in exports().items() if _read(folder / name) != text]
    for name in stale:
        if argv[0] == "--write":
            (folder / name).write_text(exports()[name], encoding="utf-8")
        sys.stdout.write(
            f"{folder / name}: {'written' if argv[0] == '--write' else 'differs from the template'}\n"
        )
    return 1 if stale and argv[0] == "--check" else 0


def _read(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.exists() else None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
