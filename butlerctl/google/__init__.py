"""Google as the system of record: what is there, read with butlerctl's own credential, and removed with guards."""

from __future__ import annotations
