"""A model that loops calls the same tool with the same arguments without end: refused after a few, as the plugin does.

`repeats.mjs` in Python; a test holds the two equal.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class _Limit:
    """`most` same calls within `window` seconds; `words` say so to the model."""

    most: int
    window: float
    words: str


_READ = _Limit(10, 60, "ten times within a minute: it is not made again before that minute is over.")
_WRITE = _Limit(3, 600, "three times already: it is not sent again.")
# The gateway tries a failed job again after 1, 5 and 15 minutes, also when its write had been done.
_JOB_WRITE = _Limit(3, 1800, _WRITE.words)
# Each try has a session of its own: they are counted together.
_TRY_OF_A_JOB = re.compile(r"(.*:cron:[^:]+)(?::run:[^:]+)?")


class RepeatGuard:
    """Counts the calls of each session. Safe to use from several threads."""

    def __init__(self) -> None:
        self._made: dict[str, list[float]] = {}
        self._lock = threading.Lock()

    def refusal(self, session: str, tool: str, arguments: Mapping[str, Any], now: float | None = None) -> str:
        """Why this call is refused; empty, and counted, when it is not. A refused call counts for nothing."""
        moment = time.monotonic() if now is None else now
        job = _TRY_OF_A_JOB.fullmatch(session)
        limit = _READ if tool.startswith(("list_", "read_")) else _JOB_WRITE if job else _WRITE
        key = json.dumps([job[1] if job else session, tool, arguments], sort_keys=True)
        with self._lock:
            times = [at for at in self._made.get(key, ()) if moment - at < limit.window]
            refused = len(times) >= limit.most
            self._made[key] = times if refused else [*times, moment]
        return f"This very call was made {limit.words}" if refused else ""
