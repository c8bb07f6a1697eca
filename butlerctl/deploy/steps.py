"""The steps of a run, each announced in the journal, sent once, noted, and held to what n8n then says and serves."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from butlerctl.deploy import wire
from butlerctl.deploy.difference import differences
from butlerctl.deploy.journal import Journal, Step
from butlerctl.deploy.preflight import credentials_of
from butlerctl.deploy.server import Document, Held
from butlerctl.deploy.wire import faults, wait_until_gone
from butlerctl.errors import ButlerctlError, DeployFailed, Unreachable
from butlerctl.inventory.operations import Route
from butlerctl.n8n.webhooks import Webhooks
from butlerctl.n8n.write import N8nWriter, body_of
from butlerctl.workflows.canonical import DEFAULTS, settings_of

_PAUSE = 0.05


@dataclass(frozen=True, slots=True)
class Steps:
    """What saves answers with the workflow as it was read back. Beyond what N8nWriter raises: DeployFailed."""

    api: N8nWriter
    webhooks: Webhooks
    journal: Journal

    def create(self, route: Route, export: Document, others: Iterable[str] = ()) -> Held:
        """`others` are the workflows that have its name already."""
        self.journal.sending(Step.CREATE, route, "", export, others)
        created = self._send(Step.CREATE, route, "", lambda: self.api.create(body_of(export)))
        self.journal.done(Step.CREATE, route, created.id, created.version)
        return self._with_its_credentials(created.id, export)

    def update(self, route: Route, held: Held, wanted: Document, step: Step = Step.UPDATE) -> Held:
        """Save; where the workflow is published, n8n publishes it too."""
        self.journal.sending(step, route, held.id, wanted)
        saved = self._send(step, route, held.id, lambda: self.api.update(held.id, _body(wanted, held)))
        self.journal.done(step, route, held.id, saved.version)
        return self._with_its_credentials(held.id, wanted)

    def publish(self, route: Route, held: Held, version: str) -> Held:
        self.journal.sending(Step.PUBLISH, route, held.id)
        published = self._send(Step.PUBLISH, route, held.id, lambda: self.api.activate(held.id, version))
        self.journal.done(Step.PUBLISH, route, held.id, version)
        return published

    def unpublish(self, route: Route, held: Held) -> None:
        self.journal.sending(Step.UNPUBLISH, route, held.id)
        self._send(Step.UNPUBLISH, route, held.id, lambda: self.api.deactivate(held.id))
        self.journal.done(Step.UNPUBLISH, route, held.id, "")
        wait_until_gone(self.webhooks, held.hooks)

    def require_unchanged(self, held: Held, *, released: bool = False) -> None:
        """One more look right before something is written over it. `released`: it was unpublished since, on purpose.

        Raises:
            DeployFailed: somebody saved, published or unpublished it since it was looked at.
        """
        now = self.read(held.id)
        then = "" if released else held.active_version
        if (now.version, now.active_version, now.saved_digest) != (held.version, then, held.saved_digest):
            raise DeployFailed("somebody changed it in n8n a moment ago")

    def require_served(self, held: Held, wanted: Document, before: Document | None) -> None:
        """Published is what was wanted, and it answers. n8n may take a moment for either.

        Raises:
            DeployFailed: it does not, within the patience for it.
        """
        deadline = time.monotonic() + wire.PATIENCE
        while found := unlike(held, wanted):
            if time.monotonic() > deadline:
                raise DeployFailed(found)
            time.sleep(_PAUSE)
            held = self.read(held.id)
        for fault in faults(self.webhooks, wanted, before=before).values():
            if fault:
                raise DeployFailed(fault, hint="the API says that it is published")

    def _send(self, step: Step, route: Route, workflow_id: str, act: Callable[[], Document]) -> Held:
        """What was announced. Without an answer it stays open whether n8n did it; any answer closes it."""
        try:
            return Held(act())
        except Unreachable:
            raise
        except ButlerctlError:
            self.journal.refused(step, route, workflow_id)
            raise

    def _with_its_credentials(self, workflow_id: str, wanted: Document) -> Held:
        """Read back: n8n may have put other credentials in the place of the wanted ones, without a word."""
        held = self.read(workflow_id)
        for node, kind, asked, stored in rebound(wanted, held.document):
            raise DeployFailed(
                f'n8n put the {kind} {stored or "none"} in the place of {asked} in the node "{node}"',
                hint="a credential that does not exist is replaced by the only one of the same name",
            )
        return held

    def read(self, workflow_id: str) -> Held:
        document = self.api.workflow(workflow_id)
        if document is None:
            raise DeployFailed(f"the workflow {workflow_id} is gone")
        return Held(document)


def unlike(held: Held, wanted: Document) -> str:
    """How what n8n publishes differs from what is wanted, in a few words; empty when it does not."""
    if held.published is None:
        return "nothing is published"
    changes = differences(held.published, wanted)
    if not changes:
        return ""
    more = f" and {len(changes) - 1} more" if len(changes) > 1 else ""
    return f"what n8n publishes is not what was wanted: {changes[0].where}{more}"


def rebound(wanted: Document, stored: Document) -> Iterator[tuple[str, str, str, str]]:
    """(node, type, wanted id, stored id) of every credential that n8n changed."""
    found = {(node, kind): str(entry.get("id") or "") for node, kind, entry in credentials_of(stored)}
    for node, kind, entry in credentials_of(wanted):
        asked = str(entry.get("id") or "")
        if asked != found.get((node, kind), ""):
            yield node, kind, asked, found.get((node, kind), "")


def _body(wanted: Document, held: Held) -> Mapping[str, Any]:
    """n8n keeps settings that are left out: those that are to go get the value that means nothing."""
    extra = settings_of(held.document).keys() - settings_of(wanted).keys()
    body = body_of(wanted)
    return body | {
        "settings": {**{key: DEFAULTS[key] for key in extra if key in DEFAULTS}, **body["settings"]}
    }
