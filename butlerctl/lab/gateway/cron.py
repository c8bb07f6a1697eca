"""Scheduled jobs of the lab's gateway, as OpenClaw keeps them. Nothing starts by its schedule here, only when told."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from butlerctl.lab.gateway.operator_turn import AgentTurn

Job = dict[str, Any]
TakeTurn = Callable[[str, str], AgentTurn]


class LabCron:
    """The jobs and their finished runs, the newest first. Safe to use from several threads."""

    def __init__(self, timezone: str) -> None:
        self.enabled = True
        self._timezone = timezone
        self._jobs: dict[str, Job] = {}
        self._runs: dict[str, list[Mapping[str, Any]]] = {}
        self._lock = threading.Lock()

    def add(self, params: Mapping[str, Any], default_agent: str) -> Job:
        job_id, at = str(uuid.uuid4()), _now()
        with self._lock:
            self._jobs[job_id] = {
                "id": job_id,
                "agentId": default_agent,
                "enabled": True,
                "createdAtMs": at,
                "updatedAtMs": at,
                **params,
                "state": {},
            }
            return self._jobs[job_id]

    def jobs(self) -> list[Job]:
        with self._lock:
            return list(self._jobs.values())

    def get(self, job_id: str) -> Job | None:
        return self._jobs.get(job_id)

    def remove(self, job_id: str) -> bool:
        with self._lock:
            return self._jobs.pop(job_id, None) is not None

    def runs(self, job_id: str) -> list[Mapping[str, Any]]:
        with self._lock:
            return list(self._runs.get(job_id, ()))

    def start(self, job: Job, take_turn: TakeTurn) -> str:
        """Run the job in a thread of its own; its run id."""
        run_id = f"manual:{job['id']}:{_now()}"
        threading.Thread(target=self.run, args=(job, take_turn, run_id), daemon=True).start()
        return run_id

    def run(self, job: Job, take_turn: TakeTurn, run_id: str = "") -> None:
        """One turn in the session of the job, and its outcome among the runs."""
        at = _now()
        key = f"agent:{job['agentId']}:cron:{job['id']}"
        turn = take_turn(key, self._prompt(job))
        failed = {"error": f"FailoverError: {turn.failure}", "errorReason": "unknown"} if turn.failure else {}
        entry = {
            "ts": _now(),
            "jobId": job["id"],
            "action": "finished",
            "status": "error" if turn.failure else "ok",
            **failed,
            "summary": turn.reply,
            "runId": run_id,
            "runAtMs": at,
            "durationMs": _now() - at,
            "sessionKey": f"{key}:run:{uuid.uuid4()}",
        }
        with self._lock:
            self._runs.setdefault(str(job["id"]), []).insert(0, entry)

    def _prompt(self, job: Job) -> str:
        """A job's message as the model gets it, with the time behind it."""
        here, utc = datetime.now(ZoneInfo(self._timezone)), datetime.now(UTC)
        clock = f"{here:%A, %B} {_ordinal(here.day)}, {here:%Y} - {here.hour % 12 or 12}:{here:%M %p}"
        return (
            f"[cron:{job['id']} {job['name']}] {job['payload']['message']}\n"
            f"Current time: {clock} ({self._timezone})\nReference UTC: {utc:%Y-%m-%d %H:%M} UTC"
        )


def _ordinal(day: int) -> str:
    ending = "th" if 11 <= day <= 13 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
    return f"{day}{ending}"


def _now() -> int:
    return int(time.time() * 1000)
