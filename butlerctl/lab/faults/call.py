"""The agent makes no call, or not the one that it was asked for."""

from __future__ import annotations

from butlerctl.lab.faults.base import Fault, Faults, model, only, plugin, writes

FAULTS: Faults = {
    "narrated": Fault("the model says that it is done and makes no call", model("narrates")),
    "promised": Fault("the model promises and makes no call", model("promises")),
    "silent": Fault("the model says nothing and makes no call", model("empty_reply")),
    "text": Fault("the model writes the call as a line of text", model("convention_text")),
    "harmony": Fault("the model writes the call as Harmony text", model("harmony_text")),
    "dsml": Fault("the model writes the call as DSML text", model("dsml_text")),
    "unknown_tool": Fault("the model calls a tool that nobody offered", model("unknown_tool")),
    "wrong_profile": Fault("the model calls for another person", model("wrong_profile")),
    "wrong_hour": Fault(
        "the model asks an hour later", model("wrong_hour"), only("calendar_list", "calendar_add")
    ),
    "wrong_day": Fault(
        "the model asks a day later", model("wrong_date"), only("calendar_list", "calendar_add", "tasks_add")
    ),
    "wrong_text": Fault("the model calls with another title or cell", model("wrong_text"), writes),
    "truncated": Fault("the arguments break off in the middle", model("truncated_arguments")),
    "doubled": Fault("the model makes the same call twice at once", model("doubled_call"), writes),
    "repeated": Fault("the model makes the call again although it had worked", model("repeats_call"), writes),
    "provider": Fault("the model's provider refuses for its rate limit", model("provider_429")),
    "provider_down": Fault("the model's provider fails", model("provider_500")),
    "not_offered": Fault("the model is not offered the tool", plugin("not_offered")),
}
