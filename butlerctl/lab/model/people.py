"""Whose calendar, list or sheet a sentence is about: by a profile's name, or by what people call its role."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from butlerctl.lab.model import words

_OWNS = re.compile(rf"^\s+(?:\w+\s+)?(?:{words.CONTAINERS})\b", re.IGNORECASE)
_POSSESSIVE = re.compile(r"(?:['’]s?|s)$")
_OWNED = re.compile(rf"\b(?:{words.CONTAINERS})\s+(?:\S+\s+){{0,2}}$", re.IGNORECASE)
_FOR = re.compile(r"\b(?:for|für|bei|von|para|pour|chez|de|du|del|d['’])\s+(?:\w+\s+)?$", re.IGNORECASE)


class Mention(NamedTuple):
    """A profile and where the text names it."""

    profile: str
    start: int
    end: int


def find_profile(text: str, profiles: Sequence[str]) -> Mention | None:
    """The person whose things are meant: the owner of a calendar or list before one who is only mentioned."""
    mentions = [mention for profile in profiles for mention in _mentions(text, profile)]
    return max(mentions, key=lambda mention: (_weight(text, mention), -mention.start), default=None)


def _mentions(text: str, profile: str) -> list[Mention]:
    pattern = re.compile(rf"(?<!\w)(?:{words.one_of(names_of(profile))})(?:['’]s?|s)?(?!\w)", re.IGNORECASE)
    return [Mention(profile, match.start(), match.end()) for match in pattern.finditer(text)]


def names_of(profile: str) -> frozenset[str]:
    """What people call this person: the profile's name, and every word for its role when the name is one."""
    plain = profile.lower()
    spoken = re.sub(r"[-_.]+", " ", plain)
    roles = (role for role in words.ROLES if plain in role or spoken in role)
    return frozenset({plain, spoken}).union(*roles)


def _weight(text: str, mention: Mention) -> int:
    before, after = text[: mention.start], text[mention.end :]
    said = text[mention.start : mention.end].lower()
    possessive = said not in names_of(mention.profile) and _POSSESSIVE.search(said) is not None
    if _OWNED.search(before) is not None or (possessive and after[:1].isspace()):
        return 3
    if _OWNS.match(after) is not None:
        return 2
    return 1 if _FOR.search(before) is not None else 0
