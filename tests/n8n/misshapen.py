"""What takes the place of a workflow's nodes and makes it none."""

from __future__ import annotations

NODES = [{"nodes": nodes} for nodes in (None, {}, "text", [None], [[]], [{"parameters": "text"}])]
