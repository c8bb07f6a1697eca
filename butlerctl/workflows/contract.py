"""Which route a workflow serves: by its webhook's path, its file name, or its own name.

With an inventory the contract is exact. Without one the shape `…/domain/verb/profile` is enough to know an
export of a butler, so that the rules of the contract help in any repository.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from butlerctl.inventory.operations import OPERATIONS, Route
from butlerctl.workflows.workflow import Node, Workflow

_BY_PLACE = {(operation.domain, operation.verb): operation.name for operation in OPERATIONS.values()}


class Routes(NamedTuple):
    """What path, file name and workflow name say. They ought to agree."""

    by_path: Route | None = None
    by_file: Route | None = None
    by_name: Route | None = None

    @property
    def declared(self) -> Route | None:
        """The route that the file is meant for, whatever its path says."""
        return self.by_file or self.by_name

    @property
    def any(self) -> Route | None:
        return self.by_path or self.declared


class Contract:
    """The routes that a household expects; `routes` is None where any household's may stand."""

    def __init__(
        self,
        routes: Iterable[Route] | None = None,
        prefix: str = "",
        places: Mapping[str, frozenset[str]] | None = None,
    ) -> None:
        self.routes = None if routes is None else tuple(routes)
        self.prefix = prefix
        self.places = places or {}
        self.by_path = {route.webhook_path(prefix): route for route in self.routes or ()}
        self._by_spelling = {_spelling(path): route for path, route in self.by_path.items()}
        self._by_file = {route.workflow_name: route for route in self.routes or ()}

    @property
    def profiles(self) -> frozenset[str]:
        return frozenset(route.profile for route in self.routes or ())

    def assign(self, workflow: Workflow) -> Routes:
        """The routes that a workflow serves or claims."""
        paths = [path_of(node) for node in workflow.webhooks]
        by_path = next((route for route in map(self.route_of_path, paths) if route), None)
        return Routes(
            by_path, self._route_of_stem(workflow.stem), self._route_of_name(workflow.name, by_path)
        )

    def assign_file(self, stem: str) -> Routes:
        """The route that a file claims by its name alone."""
        return Routes(by_file=self._route_of_stem(stem))

    def route_of_path(self, path: str) -> Route | None:
        """The route at a webhook path; letter case and surplus slashes do not hide it."""
        if self.routes is not None:
            return self._by_spelling.get(_spelling(path))
        return _route_by_shape(path)

    def expected_path(self, route: Route, seen: str) -> str:
        """The path that a route must have. Without an inventory the prefix is taken from the path seen."""
        if self.routes is not None:
            return route.webhook_path(self.prefix)
        parts = [part for part in seen.split("/") if part]
        return route.webhook_path("/".join(parts[:-3]))

    def _route_of_stem(self, stem: str) -> Route | None:
        if self.routes is not None:
            return self._by_file.get(stem)
        for name in OPERATIONS:
            if stem.startswith(name + "_") and len(stem) > len(name) + 1:
                return Route(name, stem[len(name) + 1 :])
        return None

    def _route_of_name(self, name: str, by_path: Route | None) -> Route | None:
        """From a name such as "L4CK3Y calendar add wife": domain, verb and, at its end, the profile."""
        words = name.casefold().replace("-", " ").replace("_", " ").split()
        if len(words) < 3 or (words[-3], words[-2]) not in _BY_PLACE:
            return None
        operation = _BY_PLACE[words[-3], words[-2]]
        known = {profile.casefold(): profile for profile in self.profiles}
        if self.routes is None and by_path:
            known.setdefault(by_path.profile.casefold(), by_path.profile)
            known.setdefault(words[-1], words[-1])
        return Route(operation, known[words[-1]]) if words[-1] in known else None


def path_of(webhook: Node) -> str:
    path = webhook.parameters.get("path")
    return path if isinstance(path, str) else ""


def methods_of(webhook: Node) -> tuple[str, ...]:
    """The HTTP methods of a Webhook node; n8n's default is GET."""
    method = webhook.parameters.get("httpMethod", "GET")
    return tuple(str(item) for item in method) if isinstance(method, list) else (str(method),)


def _spelling(path: str) -> str:
    return "/".join(part for part in path.split("/") if part).casefold()


def _route_by_shape(path: str) -> Route | None:
    parts = [part for part in path.split("/") if part]
    if len(parts) < 3:
        return None
    operation = _BY_PLACE.get((parts[-3].casefold(), parts[-2].casefold()))
    profile = parts[-1]
    if operation is None or profile[0] in ":=" or "{" in profile:
        return None
    return Route(operation, profile)
