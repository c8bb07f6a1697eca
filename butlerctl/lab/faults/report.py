"""The agent's last words contradict what happened."""

from __future__ import annotations

from butlerctl.lab.faults.base import Fault, Faults, model, only, reads

FAULTS: Faults = {
    "other_facts": Fault("the agent reports other facts than the answer has", model("wrong_claim")),
    "denied": Fault("the agent says that it failed, although it worked", model("denies_success")),
    "extra_deed": Fault("the agent reports a second deed that nobody did", model("extra_deed")),
    "told_empty": Fault(
        "the agent says that there is nothing, although there is", model("tells_nothing"), reads
    ),
    "other_day": Fault(
        "the agent reports another day",
        model("tells_other_day"),
        only("calendar_add", "calendar_list", "tasks_add"),
    ),
}
