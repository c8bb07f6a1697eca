"""The agents of the lab's gateway: the household's, and others that stand beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from butlerctl.errors import GatewayRefused


@dataclass(frozen=True, slots=True)
class OtherAgent:
    """An agent without the household's plugin. It can be looked at, not asked."""

    id: str
    core_tools: tuple[str, ...] = ()
    is_default: bool = False


class Agents:
    """Who answers to which session key. `household` is the default one unless another says so."""

    def __init__(self, household: str, others: Sequence[OtherAgent] = ()) -> None:
        self.household = household
        self.others = tuple(others)
        self.default = next((each.id for each in self.others if each.is_default), household)

    @property
    def ids(self) -> tuple[str, ...]:
        return (self.household, *(each.id for each in self.others))

    def core_tools(self, agent: str) -> tuple[str, ...]:
        return next((each.core_tools for each in self.others if each.id == agent), ())

    def of_session(self, key: str) -> str:
        """`agent:<id>:…` names its agent; any other key is the default one's."""
        return key.split(":")[1] if key.startswith("agent:") else self.default

    def session_for(self, key: str | None, agent: str | None) -> str:
        """The session of a tool that is invoked: the named one, else the main one of the named or default agent.

        Raises:
            GatewayRefused: the session belongs to another agent than the named one.
        """
        session = key or f"agent:{agent or self.default}:main"
        owner = self.of_session(session)
        if agent and owner != agent:
            message = f'agent id "{agent}" does not match session agent "{owner}"'
            raise GatewayRefused(message, code="validation_error")
        return session
