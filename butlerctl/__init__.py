"""Prove that a household's AI butler really did what it says."""

from __future__ import annotations

__version__ = "0.1.0"
