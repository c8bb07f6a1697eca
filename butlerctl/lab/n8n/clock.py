"""Times as n8n writes them: UTC with milliseconds and a Z, or milliseconds since 1970."""

from __future__ import annotations

import time
from datetime import UTC, datetime


def now_text() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def now_millis() -> int:
    return int(time.time() * 1000)
