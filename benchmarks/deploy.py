"""How long a deployment of all twelve workflows takes, and the way back.

    python benchmarks/deploy.py                    # to the stand-in
    python benchmarks/deploy.py --engine real      # to the real n8n of the inventory's pin, from npm

Wall-clock seconds of the whole command in one process, without the start of the interpreter. `apply` is the
snapshot, a fresh look, twelve saved, published, read back and asked on the wire; `rollback` the same backwards.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from butlerctl.cli.app import run
from butlerctl.inventory.loader import load_inventory
from butlerctl.inventory.model import Inventory
from butlerctl.lab.n8n import N8nStandIn
from butlerctl.lab.plan import Plan, plan_lab
from butlerctl.lab.real.n8n import RealN8n

ROOT = Path(__file__).parent.parent
ROUNDS = 7
NOWHERE = "http://127.0.0.1:9"


def seconds(*argv: str, expected: int = 0) -> float:
    """How long one command takes; its output is thrown away."""
    began = time.perf_counter()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as err:
        code = run(list(argv))
    took = time.perf_counter() - began
    if code != expected:
        sys.exit(f"butlerctl {' '.join(argv)}: {code}: {err.getvalue()}")
    return took


def renew(folder: Path, number: int) -> None:
    for path in (folder / "workflows").glob("*.json"):
        document = json.loads(path.read_text(encoding="utf-8"))
        code = next(node for node in document["nodes"] if node["type"].endswith(".code"))
        code["parameters"]["jsCode"] += f"\n// {number}"
        path.write_text(json.dumps(document), encoding="utf-8")


def measure(folder: Path) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {
        "plan": [],
        "apply": [],
        "drift": [],
        "rollback --check": [],
        "rollback": [],
    }
    plan = str(folder / "plan.json")
    for number in range(ROUNDS):
        renew(folder, number)
        found["plan"].append(seconds("plan", "--out", plan, expected=1))
        found["apply"].append(seconds("apply", plan, "--yes"))
        found["drift"].append(seconds("drift"))
        found["rollback --check"].append(seconds("rollback", "--check"))
        found["rollback"].append(seconds("rollback"))
    return found


def served(engine: str, inventory: Inventory, plan: Plan) -> tuple[N8nStandIn | RealN8n, str]:
    """n8n with the twelve exports, published, and its address. No Google is behind it: nothing runs."""
    if engine == "real":
        real = RealN8n(
            inventory.pins.n8n, google_url=NOWHERE, timezone=inventory.timezone, environ=os.environ
        )
        real.add_credentials((each.id, each.name, each.type, data_of(each.type)) for each in plan.credentials)
        real.start()
        return real, real.server.url
    stand_in = N8nStandIn(google_url=NOWHERE)
    for each in plan.credentials:
        stand_in.add_credential(each.id, each.name, each.type, data_of(each.type))
    return stand_in, stand_in.start()


def data_of(kind: str) -> dict[str, Any]:
    if kind == "httpHeaderAuth":
        return {"name": "X-L4CK3Y-Auth", "value": "the-benchmark"}
    return {
        "clientId": "id",
        "clientSecret": "secret",
        "oauthTokenData": {"access_token": "a", "refresh_token": "r"},
    }


def main() -> None:
    engine = "real" if sys.argv[1:] == ["--engine", "real"] else "stand-in"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copy(ROOT / "inventory.yaml", folder)
        shutil.copytree(ROOT / "workflows", folder / "workflows")
        inventory = load_inventory(folder / "inventory.yaml", os.environ)
        plan = plan_lab(inventory)
        n8n, url = served(engine, inventory, plan)
        try:
            for document in plan.workflows.values():
                n8n.import_workflow(document)
            os.environ |= {
                **plan.environ,
                "N8N_URL": url,
                "N8N_API_KEY": n8n.create_api_key(),
                "OPENCLAW_GATEWAY_URL": NOWHERE,
                "BUTLERCTL_INVENTORY": str(folder / "inventory.yaml"),
                "BUTLERCTL_STATE_DIR": str(folder / "state"),
            }
            found = measure(folder)
        finally:
            n8n.close()
    print(f"twelve workflows, {engine}, {ROUNDS} rounds")
    for command, times in found.items():
        print(
            f"{command:18} median {statistics.median(times):5.2f} s, least {min(times):5.2f} s, most {max(times):5.2f} s"
        )


if __name__ == "__main__":
    main()
