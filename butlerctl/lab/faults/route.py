"""The plugin knows the way to the webhook wrongly."""

from __future__ import annotations

from butlerctl.lab.faults.base import Fault, Faults, plugin

FAULTS: Faults = {
    "other_person": Fault("the plugin sends to another person's webhook", plugin("other_persons_path")),
    "other_operation": Fault(
        "the plugin sends to another operation's webhook", plugin("other_operations_path")
    ),
    "misspelled": Fault("the plugin sends to a path that no workflow has", plugin("misspelled_path")),
    "no_prefix": Fault("the plugin leaves the household's prefix out", plugin("no_prefix")),
    "test_url": Fault("the plugin sends to n8n's test address", plugin("test_url")),
    "doubled": Fault("the plugin's base address already ends in /webhook", plugin("doubled_webhook")),
    "slashes": Fault("the plugin joins base address and path with a slash too many", plugin("double_slash")),
}
