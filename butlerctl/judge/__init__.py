"""Pure functions from evidence to verdicts. No I/O, no client, no clock."""

from __future__ import annotations

from butlerctl.judge.chain import judge, strict_verdict

__all__ = ["judge", "strict_verdict"]
