"""The Google emulator: Calendar v3, Tasks v1 and Sheets v4 on loopback, driven by Google's discovery documents."""

from __future__ import annotations

from butlerctl.lab.google.emulator import READ_SCOPES, WRITE_SCOPES, GoogleEmulator
from butlerctl.lab.google.errors import Answer, GoogleError
from butlerctl.lab.google.faults import DROP, Fault, page, refuse
from butlerctl.lab.google.store import Stored
from butlerctl.lab.google.switches import Knobs, Switches
from butlerctl.lab.google.tokens import Grant, OAuthClient

__all__ = [
    "DROP",
    "READ_SCOPES",
    "WRITE_SCOPES",
    "Answer",
    "Fault",
    "GoogleEmulator",
    "GoogleError",
    "Grant",
    "Knobs",
    "OAuthClient",
    "Stored",
    "Switches",
    "page",
    "refuse",
]
