"""Secrets are registered for a whole process: what one test invented must neither mask nor slow down another one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from butlerctl import redaction


@contextmanager
def secrets_forgotten() -> Iterator[None]:
    """Whatever is registered inside is forgotten afterwards."""
    kept = set(redaction._registered)
    yield
    if redaction._registered != kept:
        redaction._registered.intersection_update(kept)
        redaction._registered_forms = None
        re.purge()  # it would keep each of these patterns: a megabyte after some dozen labs
