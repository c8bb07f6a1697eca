"""Every misbehaviour that a gateway is held against, in the order of the report."""

from __future__ import annotations

from butlerctl.lab.conformance.case import Case
from butlerctl.lab.conformance.cases_arguments import ARGUMENT_CASES
from butlerctl.lab.conformance.cases_framing import FRAMING_CASES
from butlerctl.lab.conformance.cases_names import NAME_CASES
from butlerctl.lab.conformance.cases_plugin import PLUGIN_CASES
from butlerctl.lab.conformance.cases_text import TEXT_CASES
from butlerctl.lab.conformance.cases_webhook import WEBHOOK_CASES

CASES: tuple[Case, ...] = (
    *ARGUMENT_CASES,
    *FRAMING_CASES,
    *NAME_CASES,
    *TEXT_CASES,
    *WEBHOOK_CASES,
    *PLUGIN_CASES,
)
"""Those with a spoilt plugin stand last, and those with the same one side by side: each copy needs a gateway."""
