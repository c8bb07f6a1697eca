"""Write butlerctl/workflows/node_types.json from an installed n8n: `update_node_types.py NODE_MODULES VERSION`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

PACKAGES = ("n8n-nodes-base", "@n8n/n8n-nodes-langchain")
TARGET = Path(__file__).parent.parent / "butlerctl" / "workflows" / "node_types.json"


def newest_and_retired(package: Path) -> tuple[dict[str, float], list[str]]:
    """The newest version of each node type of a package, and the types that its editor no longer offers."""
    newest: dict[str, float] = {}
    visible: set[str] = set()
    nodes: list[dict[str, Any]] = json.loads((package / "dist/types/nodes.json").read_text(encoding="utf-8"))
    for node in nodes:
        name = node["name"].rpartition(".")[2]
        versions = node["version"] if isinstance(node["version"], list) else [node["version"]]
        newest[name] = max(newest.get(name, 0), *versions)
        if not node.get("hidden"):
            visible.add(name)
    return dict(sorted(newest.items())), sorted(newest.keys() - visible)


def main(modules: Path, version: str) -> None:
    found = {name: newest_and_retired(modules / name) for name in PACKAGES}
    table = {
        "n8n": version,
        "newest": {name: types for name, (types, _) in found.items()},
        "retired": {name: retired for name, (_, retired) in found.items()},
    }
    TARGET.write_text(json.dumps(table, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
