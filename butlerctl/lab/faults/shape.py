"""The work is done, and the answer does not say so as the contract wants it."""

from __future__ import annotations

from typing import Any

from butlerctl.inventory.operations import Route
from butlerctl.lab.faults.active import formatter_skipped
from butlerctl.lab.faults.base import Fault, Faults, Plant, exported, set_on, writes
from butlerctl.lab.n8n import answers
from butlerctl.lab.n8n.answers import Answer, json_answer
from butlerctl.lab.stack import Lab

_CUT = Answer(200, b'{"ok":true,"data":{"id":"9bqk7', answers.JSON)
_RAW = [
    {"kind": "calendar#event", "etag": '"3401"', "htmlLink": "https://www.google.com/calendar/event?eid=OWJx"}
]


def _instead(answer: Answer) -> Plant:
    """The workflow does its work, and this is what goes out."""

    def plant_it(lab: Lab, route: Route) -> None:
        lab.n8n.switches.instead[lab.webhook_path(route)] = answer

    return plant_it


def _formatter_unlinked(document: dict[str, Any]) -> None:
    document["connections"].pop("Format response")


FAULTS: Faults = {
    "empty": Fault("the answer is an empty 200", _instead(answers.EMPTY)),
    "text": Fault("the answer is plain text", _instead(Answer(200, b"ok", "text/plain; charset=utf-8"))),
    "page": Fault("the answer is a page of HTML", _instead(answers.page(200, "<html><body>Done</body></html>"))),
    "cut": Fault("the answer breaks off in the middle", _instead(_CUT)),
    "started": Fault("the answer is only an acknowledgement", _instead(answers.STARTED)),
    "fields": Fault("the answer has other fields than the contract's", _instead(json_answer(200, {"ok": True, "data": {}}))),
    "raw": Fault("the answer is a list without ids, as no formatter wrote it", _instead(json_answer(200, _RAW)), writes),
    "error_inside": Fault(
        "an error stands inside a 200",
        _instead(json_answer(200, {"ok": False, "error": {"code": "workflow_error", "message": "something broke"}})),
    ),
    "status": Fault("the work is done and the answer is a 500", _instead(answers.ERROR_IN_WORKFLOW)),
    "formatter_skipped": Fault("the export answers without its formatter", exported(formatter_skipped)),
    "formatter_unlinked": Fault("nothing leads from the export's formatter to the answer", exported(_formatter_unlinked)),
    "words": Fault("the export answers with words", exported(set_on("Respond ok", respondWith="text", responseBody="done"))),
    "failed_status": Fault("the export answers a success with 500", exported(set_on("Respond ok", options={"responseCode": 500}))),
}  # fmt: skip
