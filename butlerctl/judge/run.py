"""The documents of one run: those of another prompt or day are left out, the others are sorted and read once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property

from butlerctl.evidence import Bundle, Document
from butlerctl.inventory.operations import OPERATIONS, Route
from butlerctl.judge import readback, routes, values
from butlerctl.judge.conversation import Conversation, holds_prompt, read_conversation
from butlerctl.judge.execution import Execution
from butlerctl.judge.readback import Reading
from butlerctl.judge.requests import is_api_call, request_of
from butlerctl.judge.wire import with_wire

# A document that was made further than this from the turn belongs to another run.
_SAME_RUN = timedelta(hours=6)
_DATED = frozenset({"transcript", "exchange", "received_request", "execution", "readback"})


@dataclass(frozen=True)
class Evidence:
    """A bundle's documents of this run, by kind."""

    bundle: Bundle
    documents: tuple[Document, ...]

    @classmethod
    def of(cls, bundle: Bundle) -> Evidence:
        return cls(bundle, tuple(item for item in bundle.evidence if _is_of_this_run(item, bundle)))

    def of_kind(self, *kinds: str) -> tuple[Document, ...]:
        return tuple(document for document in self.documents if document["kind"] in kinds)

    @cached_property
    def readings(self) -> tuple[Reading, ...]:
        found = (readback.read_reading(item, self.bundle.zone) for item in self.of_kind("readback"))
        return tuple(reading for reading in found if reading is not None)

    @cached_property
    def profiles(self) -> frozenset[str]:
        told = {reading.profile for reading in self.readings if reading.profile}
        told |= {route.profile for route in self._routes_on_the_wire}
        return frozenset(told | ({self.bundle.intent.profile} if self.bundle.intent else set()))

    @cached_property
    def conversations(self) -> tuple[Conversation, ...]:
        """The recordings of what was asked: one, or several repeats of the same question."""
        return with_wire(self._asked_for())

    def _asked_for(self) -> tuple[Conversation, ...]:
        intent = self.bundle.intent
        prompt = intent.prompt if intent else ""
        found = [read_conversation(document, prompt) for document in self.of_kind("transcript")]
        if prompt:
            return tuple(item for item in found if any(holds_prompt(words, prompt) for words in item.prompts))
        if intent and len({item.prompts for item in found}) > 1:
            asked = [item for item in found if any(call.name == intent.tool for call in item.calls)] or found
            found = [item for item in found if item.prompts == asked[0].prompts]
        return tuple(found)

    @cached_property
    def webhook_exchanges(self) -> tuple[Document, ...]:
        return tuple(item for item in self.of_kind("exchange") if not is_api_call(item) and "request" in item)

    def route_of(self, document: Document) -> Route | None:
        """The route that a document is about, when it tells."""
        told = document.get("route")
        if isinstance(told, Mapping) and told.get("operation") in OPERATIONS:
            return Route(str(told.get("operation")), str(told.get("profile")))
        if document["kind"] == "exchange":
            return routes.address_of(request_of(document).get("url")).route
        if document["kind"] == "received_request":
            return routes.address_of(document.get("path")).route
        if document["kind"] == "execution":
            execution = Execution(document)
            by_url = routes.address_of(execution.webhook_url).route if execution.webhook_url else None
            return by_url or self._route_of_execution(document)
        return routes.route_of_workflow(document.get("document"), document.get("file"), self.profiles)

    @cached_property
    def _routes_on_the_wire(self) -> frozenset[Route]:
        addresses = [request_of(item).get("url") for item in self.of_kind("exchange")]
        addresses += [item.get("path") for item in self.of_kind("received_request")]
        found = (routes.address_of(address).route for address in addresses)
        return frozenset(route for route in found if route is not None)

    def _route_of_execution(self, document: Document) -> Route | None:
        by_name = routes.route_of_name(document.get("workflow"), self.profiles)
        if by_name is not None:
            return by_name
        for live in self.of_kind("workflow_live", "workflow_export"):
            held = live.get("document")
            told = (held.get("id"), held.get("name")) if isinstance(held, Mapping) else ()
            if any(name and name in told for name in (document.get("workflow_id"), document.get("workflow"))):
                return self.route_of(live)
        intent = self.bundle.intent
        return intent.route if intent and self._routes_on_the_wire == {intent.route} else None


def _is_of_this_run(document: Document, bundle: Bundle) -> bool:
    if document["kind"] not in _DATED or bundle.clock is None:
        return True
    moments = (values.instant(document.get(key), bundle.zone) for key in ("at", "started", "when"))
    moment = next((moment for moment in moments if moment), None)
    return moment is None or abs(moment - bundle.clock) <= _SAME_RUN
