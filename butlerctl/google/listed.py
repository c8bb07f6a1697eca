"""What events and tasks have in common: objects with ids, in containers that are listed page by page."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar

from butlerctl.google.client import Answer
from butlerctl.google.interface import Confirmation, Hit, Readback, Removal, Sighting
from butlerctl.google.pages import Listing, list_all, readback
from butlerctl.google.places import SearchedPlaces
from butlerctl.ledger import Asked, Window

CHANGED = "it was changed while butlerctl looked at it"


class ListedRecord(SearchedPlaces):
    """A system of record over one list method. The subclasses say what an event or a task is."""

    api: ClassVar[str]
    place_key: ClassVar[str]
    """The name of a container in evidence documents, and of the client's parameter."""
    id_key: ClassVar[str]
    """The name of an object's id in evidence documents."""
    id_parameter: ClassVar[str]
    texts: ClassVar[Sequence[str]]
    """The fields in which a nonce is looked for, the title first."""
    link_key: ClassVar[str]
    page_size: ClassVar[int]
    delete_options: ClassVar[Mapping[str, Any]] = MappingProxyType({})

    @abstractmethod
    def _resource(self) -> Any:
        """The client's resource with list, get and delete."""

    @abstractmethod
    def _query(self, window: Window) -> dict[str, Any]:
        """The query of a search."""

    @abstractmethod
    def _is_gone(self, body: Mapping[str, Any]) -> bool:
        """Whether the object that get shows is a deleted one."""

    @abstractmethod
    def _refusals(self, body: Mapping[str, Any], asked: Asked, container: str) -> tuple[str, ...]:
        """The guards."""

    def _search(
        self,
        place: str,
        pattern: re.Pattern[str],
        window: Window,
        when: str,
        known: frozenset[str] = frozenset(),
    ) -> Sighting:
        query = self._query(window)
        listing = self._list(place, query)
        found = [hit for item in listing.items if (hit := self._hit(place, item, pattern))]
        found = [hit for hit in found if hit.object_id not in known]
        document = self._list_document(place, when, listing, query, [hit.body for hit in found])
        document["searched"] = {"pages": listing.pages, "objects": len(listing.items)}
        return Sighting((document,), tuple(found), listing.problem)

    def _list(self, container: str, query: Mapping[str, Any]) -> Listing:
        resource = self._resource()
        request = resource.list(**{self.place_key: container}, maxResults=self.page_size, **query)
        return list_all(self._account, request, resource.list_next)

    def _hit(self, container: str, item: Mapping[str, Any], pattern: re.Pattern[str]) -> Hit | None:
        match = pattern.search(" ".join(str(item.get(name, "")) for name in self.texts))
        return match and Hit(
            nonce=match[0],
            domain=self.domain,
            profile=self.profile,
            container=container,
            object_id=item["id"],
            title=item.get(self.texts[0], ""),
            link=item.get(self.link_key, ""),
            body=item,
        )

    def _read_list(self, container: str, query: Mapping[str, Any], limit: int | None, when: str) -> Sighting:
        """The whole list as the read operation should show it, at most `limit` objects."""
        listing = self._list(container, query)
        document = self._list_document(container, when, listing, query, list(listing.items[:limit]))
        return Sighting((document,), problem=listing.problem)

    def _list_document(
        self,
        container: str,
        when: str,
        listing: Listing,
        query: Mapping[str, Any],
        items: list[Mapping[str, Any]],
    ) -> Readback:
        return readback(
            f"{self.api}.list",
            self.profile,
            when,
            listing,
            place={self.place_key: container},
            query=dict(query),
            body=listing.body_with(items),
        )

    def confirm(self, hit: Hit, asked: Asked) -> Confirmation:
        answer, document = self._get(hit, "after")
        if answer.status == 404:
            return Confirmation(hit, "", (), is_gone=True, readbacks=(document,))
        if answer.problem:
            return Confirmation(hit, "", (), readbacks=(document,), problem=answer.problem)
        etag = answer.body.get("etag", "")
        if self._is_gone(answer.body):
            return Confirmation(hit, etag, (), is_gone=True, readbacks=(document,))
        refusals = self._refusals(answer.body, asked, hit.container)
        return Confirmation(hit, etag, refusals, readbacks=(document,))

    def delete(self, confirmation: Confirmation) -> Removal:
        """With If-Match. 404 and 410 are a success: the client repeats a request whose answer was lost.

        After a 412 the object is looked at again: gone is a success, anything else is a refusal.
        """
        hit = confirmation.hit
        request = self._resource().delete(**self._ids(hit), **self.delete_options)
        request.headers["If-Match"] = confirmation.etag
        answer = self._account.write(request)
        document = self._object_document(hit, answer, "delete", "after_delete")
        if answer.problem is None or answer.status in {404, 410}:
            return Removal(readbacks=(document,))
        if answer.status == 412:
            again, _ = self._get(hit, "after_delete")
            gone = again.status == 404 or (again.problem is None and self._is_gone(again.body))
            return Removal(() if gone else (CHANGED,), readbacks=(document,))
        return Removal(readbacks=(document,), problem=answer.problem)

    def gone(self, nonce: str, hits: Sequence[Hit], window: Window) -> Sighting:
        sighting = Sighting()
        for hit in hits:
            answer, document = self._get(hit, "after_delete")
            lives = answer.problem is None and not self._is_gone(answer.body)
            problem = None if answer.status == 404 else answer.problem
            sighting += Sighting((document,), (hit,) if lives else (), problem)
        return sighting + self.find(nonce, window, when="after_delete")

    def _get(self, hit: Hit, when: str) -> tuple[Answer, Readback]:
        answer = self._account.read(self._resource().get(**self._ids(hit)))
        return answer, self._object_document(hit, answer, "get", when)

    def _ids(self, hit: Hit) -> dict[str, str]:
        return {self.place_key: hit.container, self.id_parameter: hit.object_id}

    def _object_document(self, hit: Hit, answer: Answer, verb: str, when: str) -> Readback:
        place = {self.place_key: hit.container}
        return readback(
            f"{self.api}.{verb}",
            self.profile,
            when,
            answer,
            place=place,
            **{self.id_key: hit.object_id},
        )
