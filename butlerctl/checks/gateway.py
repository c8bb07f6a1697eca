"""What a gateway says and does, gathered for its check: settings, tools, probes, real turns. Nothing is judged here."""

from __future__ import annotations

import contextlib
import time
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from butlerctl.checks.gateway_disk import PluginOnDisk, plugin_on_disk
from butlerctl.checks.gateway_n8n import N8nAddress, n8n_address
from butlerctl.checks.gateway_question import Question, RealTurn, questions
from butlerctl.errors import BadInput, ButlerctlError, GatewayRefused, Unreachable
from butlerctl.gateway.interface import fresh_session
from butlerctl.gateway.operator import Invocation, Operator, Run, Session, Tool, tools_of
from butlerctl.gateway.operator_cron import Job, JobRun, job_session
from butlerctl.gateway.plugin import PLUGIN_ID, PluginEntry
from butlerctl.gateway.rows import messages_of
from butlerctl.gateway.websocket import ConnectionLost
from butlerctl.inventory.model import Inventory
from butlerctl.inventory.operations import Route

_GRACE_SECONDS = 15  # a job's turn ends some time after its limit
_JOB = "butlerctl gateway check"


@dataclass(frozen=True, slots=True)
class SeenJob:
    """A scheduled job, and the tools that failed in its last run though the gateway calls that run ok."""

    job: Job
    failed_tools: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GatewayFacts:
    """What was seen. `tools` is what each agent really gets, None where the gateway would not say.

    `turn` and `cron_turn` are None when no real turn was made.
    """

    version: str
    default_agent: str
    tools: Mapping[str, tuple[Tool, ...] | None]
    config: Mapping[str, Any]
    health: Mapping[str, Any]
    entry: PluginEntry
    cron_enabled: bool
    jobs: tuple[SeenJob, ...]
    invocations: Mapping[Route, Invocation]
    n8n: N8nAddress
    turn: RealTurn | None
    cron_turn: RealTurn | None
    plugin: PluginOnDisk


def look(operator: Operator, inventory: Inventory, *, with_turn: bool) -> GatewayFacts:
    """Gather everything in sessions of its own, which are deleted afterwards. No write is caused.

    Raises:
        Unreachable, NotPermitted, GatewayRefused: as `Operator`; a connection that is lost ends the check.
        SecretMissing: the inventory's n8n.url leads nowhere.
        BadInput: the gateway has no such agent, or answers in a shape that is not known.
    """
    agent = inventory.gateway.agent
    agents = operator.agents()
    if agent not in agents.ids:
        raise BadInput(
            f"the gateway has no agent {agent}; it has: {', '.join(agents.ids)}",
            hint="gateway.agent of the inventory names the household's",
        )
    answer = operator.config()
    config = answer.get("config") or {}
    asked = questions(inventory)
    others = {each: _others_tools(operator, each) for each in agents.ids if each != agent}
    jobs = _jobs(operator, agents.default)
    cron_enabled = operator.cron.enabled()
    with _session(operator, agent) as (key, session):
        invocations = {question.route: _invoke(operator, inventory, key, question) for question in asked}
        return GatewayFacts(
            version=operator.version,
            default_agent=agents.default,
            tools={agent: operator.effective_tools(key), **others},
            config=config,
            health=operator.health(),
            entry=operator.plugin_entry(PLUGIN_ID),
            cron_enabled=cron_enabled,
            jobs=jobs,
            invocations=invocations,
            n8n=n8n_address(config, inventory, invocations),
            turn=_turn(operator, inventory, key, asked[0]) if with_turn and asked else None,
            cron_turn=_cron_turn(operator, inventory, asked[0])
            if with_turn and asked and cron_enabled
            else None,
            plugin=plugin_on_disk(answer, session, operator.started),
        )


@contextlib.contextmanager
def _session(operator: Operator, agent: str) -> Iterator[tuple[str, Session]]:
    """A session of its own, deleted at the end whatever happens."""
    key = f"agent:{agent}:{fresh_session()}"
    session = operator.create_session(agent, key)
    try:
        yield key, session
    finally:
        operator.clean(lambda gateway: gateway.delete_session(key))


def _others_tools(operator: Operator, agent: str) -> tuple[Tool, ...] | None:
    with contextlib.suppress(GatewayRefused), _session(operator, agent) as (key, _):
        return operator.effective_tools(key)
    return None


def _invoke(operator: Operator, inventory: Inventory, key: str, question: Question) -> Invocation:
    """A read through plugin and n8n, without a model. Write routes are not invoked: they would write."""
    seconds = inventory.n8n.webhook.timeout + 10
    return operator.invoke_tool(inventory.gateway.agent, key, question.tool, question.arguments, seconds)


def _turn(operator: Operator, inventory: Inventory, key: str, question: Question) -> RealTurn:
    run_id = f"butlerctl-{uuid.uuid4().hex}"
    agent, timeout = inventory.gateway.agent, inventory.gateway.timeout
    try:
        run = operator.run(agent, key, question.words, run_id=run_id, timeout=timeout)
        given = tools_of(run.meta.get("systemPromptReport"))
        return RealTurn(question, run, messages_of(operator.session_rows(key)), given)
    except (Unreachable, GatewayRefused) as error:
        _raise_if_lost(error)
        return RealTurn(question, _failed(run_id, error.message), (), {})


def _raise_if_lost(error: ButlerctlError) -> None:
    """A connection that is lost says nothing of the agent: the whole check is to be tried again."""
    if isinstance(error, ConnectionLost) or isinstance(error.__cause__, ConnectionLost):
        raise error


def _cron_turn(operator: Operator, inventory: Inventory, question: Question) -> RealTurn:
    """The same question in the lane of scheduled jobs: a job that never starts by itself, removed afterwards."""
    agent, timeout = inventory.gateway.agent, inventory.gateway.timeout
    cron, job_id = operator.cron, ""
    try:
        job_id = cron.add_idle_job(agent, _JOB, question.words, timeout)
        key = job_session(agent, job_id)
        cron.start(job_id)
        run = _wait(operator, job_id, timeout + _GRACE_SECONDS)
        return RealTurn(question, run, messages_of(operator.session_rows(key)), _given(operator, key))
    except (Unreachable, GatewayRefused) as error:
        _raise_if_lost(error)
        return RealTurn(question, _failed(job_id, error.message), (), {})
    finally:
        if job_id:
            operator.clean(lambda gateway: gateway.cron.remove(job_id))
            operator.clean(lambda gateway: gateway.delete_session(job_session(agent, job_id)))


def _given(operator: Operator, key: str) -> Mapping[str, str]:
    """Nothing for a turn that failed too early to leave a session."""
    with contextlib.suppress(GatewayRefused):
        return operator.given_tools(key)
    return {}


def _wait(operator: Operator, job_id: str, seconds: float) -> Run:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        last = operator.cron.last_run(job_id)
        if last is not None:
            return _run_of(last)
        time.sleep(0.2)
    return _failed(job_id, f"the job did not end within {seconds:.0f} s")


def _run_of(last: JobRun) -> Run:
    error = {"message": last.error} if last.error else None
    return Run(last.run_id, last.status, last.summary, {}, (), error)


def _failed(run_id: str, message: str) -> Run:
    return Run(run_id, "error", "", {}, (), {"message": message})


def _jobs(operator: Operator, default_agent: str) -> tuple[SeenJob, ...]:
    """The household's jobs; one that a killed check left behind is none of them."""
    jobs = (job for job in operator.cron.jobs() if job.name != _JOB)
    return tuple(SeenJob(job, _failed_tools(operator, job, default_agent)) for job in jobs)


def _failed_tools(operator: Operator, job: Job, default_agent: str) -> tuple[str, ...]:
    if job.last is None or job.last.status != "ok":
        return ()
    rows = operator.session_rows(job_session(job.agent or default_agent, job.id))
    return tuple(
        dict.fromkeys(str(message.get("name")) for message in messages_of(rows) if message.get("is_error"))
    )
