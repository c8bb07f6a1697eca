"""The scheduled jobs of an OpenClaw gateway: which there are, how they went, and one turn in their lane."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from butlerctl.gateway.websocket import Connection


@dataclass(frozen=True, slots=True)
class JobRun:
    """One finished run. `status` is the gateway's word: `ok` says nothing about tools. `at` has a zone."""

    status: str
    at: datetime
    error: str = ""
    reason: str = ""
    run_id: str = ""
    summary: str = ""


@dataclass(frozen=True, slots=True)
class Job:
    """A scheduled job. `kind` is `agentTurn`, `systemEvent` or `command`; `agent` is empty for the default one.

    `runs_once`: the gateway disables it after its last try, whether that went well or not. `model`, `fallbacks` and `tools` are what the job changes for itself; `last` is None while it never ran.
    """

    id: str
    name: str
    enabled: bool
    agent: str
    kind: str
    runs_once: bool = False
    model: str = ""
    fallbacks: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    last: JobRun | None = None


class Cron:
    """The `cron` methods, over an operator's connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def enabled(self) -> bool:
        return self._connection.call("cron.status").get("enabled") is True

    def jobs(self) -> tuple[Job, ...]:
        """Every job of all pages, the disabled ones too, each with its last run."""
        rows: list[Mapping[str, Any]] = []
        offset: int | None = 0
        while offset is not None:
            page = self._connection.call("cron.list", {"offset": offset, "includeDisabled": True})
            rows += page["jobs"]
            following = page.get("nextOffset")
            offset = following if following is not None and following > offset else None
        return tuple(_job(row, self.last_run(str(row["id"]))) for row in rows)

    def last_run(self, job_id: str) -> JobRun | None:
        """The newest finished run; None while there is none."""
        entries = self._connection.call("cron.runs", {"id": job_id, "limit": 1, "sortDir": "desc"})["entries"]
        return _run(entries[0]) if entries else None

    def add_idle_job(self, agent: str, name: str, message: str, timeout: float) -> str:
        """A job that never starts by itself, with a session of its own: its id. It delivers nothing."""
        tomorrow = datetime.now(UTC) + timedelta(days=1)
        answer = self._connection.call(
            "cron.add",
            {
                "name": name,
                "enabled": False,
                "deleteAfterRun": False,  # else its session is gone with it
                "agentId": agent,
                "schedule": {"kind": "at", "at": tomorrow.strftime("%Y-%m-%dT%H:%M:%SZ")},
                "sessionTarget": "isolated",
                "wakeMode": "now",
                "payload": {
                    "kind": "agentTurn",
                    "message": message,
                    "timeoutSeconds": max(1, round(timeout)),
                },
                "delivery": {"mode": "none"},
            },
        )
        return str(answer["id"])

    def start(self, job_id: str) -> None:
        """Run it now, whatever its schedule says; `last_run` has the outcome some time later."""
        self._connection.call("cron.run", {"id": job_id, "mode": "force"})

    def remove(self, job_id: str) -> None:
        self._connection.call("cron.remove", {"id": job_id})


def job_session(agent: str, job_id: str) -> str:
    """The session in which the last run of an isolated job can be read."""
    return f"agent:{agent}:cron:{job_id}"


def _job(row: Mapping[str, Any], last: JobRun | None) -> Job:
    payload = row.get("payload") or {}
    return Job(
        id=str(row["id"]),
        name=str(row.get("name", "")),
        enabled=row.get("enabled") is True,
        agent=str(row.get("agentId") or ""),
        kind=str(payload.get("kind", "")),
        runs_once=(row.get("schedule") or {}).get("kind") == "at",
        model=str(payload.get("model") or ""),
        fallbacks=tuple(map(str, payload.get("fallbacks") or ())),
        tools=tuple(map(str, payload.get("toolsAllow") or ())),
        last=last,
    )


def _run(entry: Mapping[str, Any]) -> JobRun:
    return JobRun(
        status=str(entry.get("status", "")),
        at=datetime.fromtimestamp(int(entry.get("runAtMs") or entry["ts"]) / 1000, UTC),
        error=str(entry.get("error") or ""),
        reason=str(entry.get("errorReason") or ""),
        run_id=str(entry.get("runId") or ""),
        summary=str(entry.get("summary") or ""),
    )
