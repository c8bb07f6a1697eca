"""The recorded cases: a bundle and what the judge must say about it, one file each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

FOLDER = Path(__file__).parent.parent / "cases" / "bundles"


class BundleCase(NamedTuple):
    name: str
    bundle: dict[str, Any]
    expect: dict[str, Any]


def load(name: str) -> BundleCase:
    held = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return BundleCase(name, held["bundle"], held["expect"])


def names() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.json"))


def disagreements(got: dict[str, Any], expect: dict[str, Any]) -> list[str]:
    """Where a result object differs from what a case expects, in words."""
    found = [] if got["verdict"] == expect["verdict"] else [f"verdict {got['verdict']}"]
    first = got["first_broken"]
    if expect["link"] is None:
        found += [] if first is None else [f"first_broken {first}"]
        found += _wrong_notes(got, expect)
    elif first is None:
        found.append("no first_broken")
    else:
        found += _wrong_break(first, expect)
    found += [f"{key} {got[key]}" for key in ("turn", "claim") if key in expect and got[key] != expect[key]]
    return found


def _wrong_break(first: dict[str, Any], expect: dict[str, Any]) -> list[str]:
    right = [(item["link"], item["check"]) for item in [expect, *expect.get("accept", [])]]
    by_check = expect["check"].partition(".")[0] in {"lint", "deploy", "cleanup"}
    named = (first["link"], first["check"])
    wrong = first["check"] not in {check for _, check in right} if by_check else named not in right
    found = [f"named {named}"] if wrong else []
    found += [f"hint lacks {word!r}" for word in expect["hint_mentions"] if word not in first["hint"].lower()]
    if "route" in expect and first["route"] != expect["route"]:
        found.append(f"route {first['route']}")
    return found


def _wrong_notes(got: dict[str, Any], expect: dict[str, Any]) -> list[str]:
    said = json.dumps(got["notes"]).lower()
    found = [f"no note mentions {word!r}" for word in expect["hint_mentions"] if word not in said]
    if expect["check"] and expect["check"] not in {note["check"] for note in got["notes"]}:
        found.append(f"no note {expect['check']}")
    return found
