"""The executions that the stand-in records, with all their data: the webhook's headers too, as n8n does."""

from __future__ import annotations

import itertools
import json
import secrets
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from butlerctl.lab.n8n.clock import now_text
from butlerctl.lab.n8n.engine import Result
from butlerctl.lab.n8n.workflows import Version, Workflow


@dataclass(slots=True)
class Execution:
    """One run of a workflow. `status` is running, success, error or canceled; `saved` is the version saved then.

    It is shown as running until it is stored: n8n has answered by then.
    """

    id: str
    workflow: Workflow
    version: Version
    saved: str
    status: str = "running"
    started: str = field(default_factory=now_text)
    stopped: str | None = None
    result: Result = field(default_factory=Result)
    stored_from: float = 0.0
    """Monotonic."""

    @property
    def shown_status(self) -> str:
        return self.status if time.monotonic() >= self.stored_from else "running"

    def finish(self, result: Result) -> None:
        """Keep the result; an execution that was cancelled stays so."""
        self.result = result
        self.stopped = now_text()
        if self.status == "running":
            self.status = "error" if result.error else "success"

    def cancel(self) -> None:
        self.status = "canceled"
        self.stopped = now_text()

    def as_json(self, *, with_data: bool, limit: int | None = None) -> dict[str, Any]:
        """As `GET /executions` and `GET /executions/{id}` show it; data beyond `limit` bytes are held back."""
        document: dict[str, Any] = {
            "id": self.id,
            "finished": self.status == "success",
            "mode": "webhook",
            "retryOf": None,
            "retrySuccessId": None,
            "status": self.shown_status,
            "startedAt": self.started,
            "stoppedAt": self.stopped,
            "workflowId": self.workflow.id,
            "waitTill": None,
        }
        if not with_data:
            return document
        shown = self._data()
        if limit is not None and shown["jsonSizeBytes"] > limit:
            held_back = {"data": {"version": 1, "resultData": {"runData": {}}}, "dataTooLargeToDisplay": True}
            return {**document, **shown, **held_back}
        return {**document, **shown}

    def _data(self) -> dict[str, Any]:
        result: dict[str, Any] = {"runData": self.result.run_data, "lastNodeExecuted": self.result.last_node}
        if self.result.error:
            result = {"error": self.result.error, **result}
        stack = [self.result.waiting] if self.result.waiting else []
        data = {
            "version": 1,
            "startData": {},
            "resultData": result,
            "executionData": {
                "contextData": {},
                "nodeExecutionStack": stack,
                "metadata": {},
                "waitingExecution": {},
                "waitingExecutionSource": {},
            },
            "resumeToken": secrets.token_hex(16),
        }
        return {
            "storedAt": "db",
            "jsonSizeBytes": len(json.dumps(data)),
            "workflowVersionId": self.saved,
            "data": data,
            "workflowData": {
                "id": self.workflow.id,
                "name": self.workflow.name,
                "nodes": self.version.nodes,
                "connections": self.version.connections,
                "settings": self.workflow.settings,
                "nodeGroups": [],
            },
            "customData": {},
        }


class Executions:
    """All executions, the newest first."""

    def __init__(self) -> None:
        self.lag = 0.0
        """Seconds from the answer until the execution is stored; up to 0.1 were seen on a busy machine."""
        self._all: dict[str, Execution] = {}
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()

    def __iter__(self) -> Iterator[Execution]:
        with self._lock:
            return iter(list(reversed(self._all.values())))

    def begin(self, workflow: Workflow, version: Version) -> Execution:
        with self._lock:
            execution = Execution(str(next(self._numbers)), workflow, version, workflow.saved)
            self._all[execution.id] = execution
            return execution

    def get(self, execution_id: str) -> Execution | None:
        return self._all.get(execution_id)
