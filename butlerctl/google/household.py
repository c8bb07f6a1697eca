"""Every system of record of a household, from its inventory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager

from butlerctl.errors import SecretMissing
from butlerctl.google.calendar import CalendarRecord
from butlerctl.google.client import Account
from butlerctl.google.interface import PATIENCE, SystemOfRecord
from butlerctl.google.sheets import SheetsRecord
from butlerctl.google.tasks import TasksRecord
from butlerctl.inventory.model import Inventory, Profile
from butlerctl.inventory.operations import OPERATIONS

Systems = Mapping[tuple[str, str], SystemOfRecord]
"""By (domain, profile)."""


@contextmanager
def systems_of_record(
    inventory: Inventory, *, patience: float = PATIENCE, reach: bool = False
) -> Iterator[Systems]:
    """The systems of all profiles, for the domains of the inventory's operations. The connections are closed on exit.

    `patience` is how long, in seconds, an expected object is looked for. With `reach` every credential is tried
    at once; without it nothing is sent yet.

    Raises:
        SecretMissing: a credential or an id is not there.
        BadInput: a credential is not what it should be.
        Unreachable, TryAgain, NotPermitted: with `reach`, there is no access token for one.
    """
    domains = dict.fromkeys(OPERATIONS[name].domain for name in inventory.operations)
    url = inventory.google_url.get() if inventory.google_url else ""
    with ExitStack() as stack:
        systems: dict[tuple[str, str], SystemOfRecord] = {}
        for profile in inventory.profiles.values():
            account = stack.enter_context(_account(profile, url))
            if reach:
                account.reach()
            for domain in domains:
                systems[domain, profile.name] = _system(domain, profile, account, patience)
        yield systems


def _account(profile: Profile, url: str) -> Account:
    if profile.google_token is None:
        raise SecretMissing(
            f"profile {profile.name} has no google_token",
            hint="butlerctl reads Google with a credential of its own, never with n8n's (docs/google.md)",
        )
    return Account(profile.name, profile.google_token.get(), url=url)


def _system(domain: str, profile: Profile, account: Account, patience: float) -> SystemOfRecord:
    if domain == "calendar":
        return CalendarRecord(account, profile.calendar.get(), patience=patience)
    if domain == "tasks":
        lists = {name: value.get() for name, value in profile.task_lists.items()}
        return TasksRecord(account, lists, patience=patience)
    sheet = profile.spreadsheet
    return SheetsRecord(account, sheet.id.get(), sheet.tabs, sheet.verify_tab, patience=patience)
