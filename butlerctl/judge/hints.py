"""Every check id of the judge, with its link, its meaning and the operator's next step."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple


class Check(NamedTuple):
    """A check: the link that it breaks, what it means, and what to do when it is broken."""

    link: str
    meaning: str
    step: str


CHECKS: Mapping[str, Check] = MappingProxyType(
    {
        "call.tools_visible": Check(
            "call",
            "tools are missing from what the model was offered",
            "Compare contracts.tools in the plugin's manifest, the gateway's tool policy and what the turn offered;"
            " then restart the gateway and inspect the plugin again.",
        ),
        "call.plugin_loads": Check(
            "call",
            "the plugin did not load",
            "Install what the plugin needs beside it, or fix its entry, then restart the gateway and inspect the plugin.",
        ),
        "call.transport": Check(
            "call",
            "the way to the tools breaks",
            "Do not trust the 200: move the tool server from the old SSE transport to streamable HTTP, or fix its crash.",
        ),
        "call.provider": Check(
            "call",
            "the model call itself failed",
            "Choose a model and provider that answer tool calls, check key and quota, then ask again once.",
        ),
        "call.toolcall_structured": Check(
            "call",
            "there is no structured call for what was asked",
            "Nothing ran, whatever the reply says. See that the turn offers the tool for this person; use a model that"
            " makes native tool calls (butlerctl model check); never run a call that is only text.",
        ),
        "call.tool_name": Check(
            "call",
            "a structured call bears a name that is not registered",
            "Names are compared exactly, prefixes count. Fix the model's chat template or the provider; do not rename the call.",
        ),
        "call.args_json": Check(
            "call",
            "arguments are not one complete JSON object",
            "Do not repair the JSON. Raise the output limit or change the provider, and let the gateway refuse such calls.",
        ),
        "call.arguments_unchanged": Check(
            "call",
            "the gateway ran other arguments than the model wrote",
            "Nothing may repair a call: choose a gateway version that refuses such arguments; remove what the call wrote.",
        ),
        "call.args_match": Check(
            "call",
            "arguments differ from what was asked",
            "Look at the model and at the tool's description (enum, dates, today's date); remove what the wrong call wrote.",
        ),
        "call.no_duplicate_calls": Check(
            "call",
            "the model made the same write twice",
            "Remove the second copy by hand; switch on the gateway's loop detection and check that results reach the model.",
        ),
        "call.promoted_text": Check(
            "call",
            "the gateway made a call out of the model's text",
            "The model made no call. Use a model that makes native ones (butlerctl model check); remove what the call wrote.",
        ),
        "call.merged_calls": Check(
            "call",
            "several calls were made into one",
            "The model or its provider gave them one id or one index: look at the wire, and choose another provider.",
        ),
        "call.finish_mismatch": Check(
            "call",
            "the finish reason does not fit the answer",
            "A gateway may drop a call that comes with the reason `stop`: look at the wire, and choose another provider.",
        ),
        "call.result_error": Check(
            "call",
            "a call's result is an error",
            "Read the result: it names the boundary that failed; the reply must say the same.",
        ),
        "call.orphan_result": Check(
            "call",
            "there is a result without a call",
            "The gateway dropped the call, or the model named a tool that is not there: look at the wire to the provider.",
        ),
        "call.observed": Check(
            "call",
            "a call has no result",
            "What became of it is open: read Google back before anything is sent again.",
        ),
        "route.path": Check(
            "route",
            "the request went to another path than that of operation and profile",
            "Correct the plugin's route map; the webhook's path must be the one of this operation and profile.",
        ),
        "route.url_form": Check(
            "route",
            "base address, prefix or slashes are wrong",
            "Correct the base address: production webhooks live under /webhook/, once, with single slashes.",
        ),
        "request.reaches_n8n": Check(
            "request",
            "nobody, or something other than n8n, answered",
            "Check that n8n runs and that name, port, proxy and sign-in gate let the gateway through to it.",
        ),
        "request.no_redirect": Check(
            "request",
            "a redirect changed the method or dropped the body",
            "Put the final address (with https, and the right host) into the gateway's base address; do not follow redirects.",
        ),
        "request.timeout": Check(
            "request",
            "no reply came in time; the write may have landed",
            "Look for the object before anything is sent again; then find out what made the workflow or the proxy slow.",
        ),
        "request.args_carried": Check(
            "request",
            "the body lacks or changes what the call carried",
            "Correct the plugin: the body carries the call's arguments unchanged, only without profile.",
        ),
        "header.accepted": Check(
            "header",
            "an authorised request was refused",
            "Compare name and value of the header on both sides, and what lies between them.",
        ),
        "header.negative_probe": Check(
            "header",
            "a request without the key is let in",
            "Set the Webhook node's authentication to Header Auth, publish the workflow and probe again.",
        ),
        "active.registered": Check(
            "active",
            "n8n does not know the route, or not reliably",
            "Activate (publish) the workflow in n8n, then probe the webhook; active: true in a file is not the live state.",
        ),
        "active.single_owner": Check(
            "active",
            "another workflow answers at the path, or several are published there",
            "Unpublish all but the right one in n8n, publish that one again, and probe the webhook.",
        ),
        "active.published_version": Check(
            "active",
            "the live version is not the edited one",
            "`butlerctl plan` shows what differs; `butlerctl apply` makes all three the same.",
        ),
        "active.executed_version": Check(
            "active",
            "n8n ran another version than the one that it publishes",
            "Wait a few seconds and probe again; if it stays, restart every process of n8n.",
        ),
        "credential.exists": Check(
            "credential",
            "the workflow names a credential that is not there",
            "Choose the right person's credential in the Google node (or create it), publish, and export the workflow again.",
        ),
        "credential.type": Check(
            "credential",
            "the workflow names a credential of another type",
            "Choose a credential of the node's own type in n8n and publish.",
        ),
        "credential.decrypts": Check(
            "credential",
            "stored credentials cannot be decrypted",
            "Give n8n back its old encryption key (N8N_ENCRYPTION_KEY, or its settings file); do not connect the accounts anew.",
        ),
        "credential.key_pinned": Check(
            "credential",
            "the encryption key is not pinned, or there are several",
            "Set one N8N_ENCRYPTION_KEY for every n8n process and keep a copy in a safe place.",
        ),
        "credential.token_valid": Check(
            "credential",
            "the grant is expired, revoked or was never given",
            "Reconnect this person's Google credential in n8n.",
        ),
        "credential.scope": Check(
            "credential",
            "the grant lacks the permission",
            "Reconnect this person's Google credential in n8n with the scope that the operation needs, or share the place"
            " with write access. Are both right, try the node in n8n's editor: behind a 403 may stand a quota, or an API"
            " that is not switched on.",
        ),
        "credential.owner": Check(
            "credential",
            "the workflow works with the other person's account or another place",
            "Choose the right person's credential and place in the Google node of this workflow; remove what it wrote"
            " elsewhere.",
        ),
        "google.accepted": Check(
            "google",
            "Google refused or failed the operation",
            "Read Google's words: wait and ask again for a limit or a server error, correct ids and times for a refusal.",
        ),
        "google.object_found": Check(
            "google",
            "the object is not there",
            "Open the workflow's execution in n8n and see what its Google node returned.",
        ),
        "google.single_copy": Check(
            "google",
            "there is more than one",
            "Remove the surplus copy by hand; look for a retry in the workflow, the plugin or a proxy.",
        ),
        "google.right_time": Check(
            "google",
            "the object is stored at another time or day",
            "Hand times on with their offset and days as plain days, and set the workflow's time zone; then correct the"
            " object.",
        ),
        "google.right_place": Check(
            "google",
            "the row is in another place, or the sheet's headers changed",
            "Check where the sheet's table begins and how the workflow maps columns; then move the row.",
        ),
        "shape.body_present": Check(
            "shape",
            "the answer is empty",
            "An empty 200 is no success and no empty list: let every branch of the workflow reach a Respond node"
            " (always output data on reads).",
        ),
        "shape.content_type": Check(
            "shape",
            "the answer is not JSON",
            "Let the Respond node answer JSON.",
        ),
        "shape.status": Check(
            "shape",
            "n8n answered with an error status",
            "Open the execution in n8n; do not send the write again before you looked for the object.",
        ),
        "shape.fields": Check(
            "shape",
            "the answer is JSON, but not the formatter's",
            "Set the webhook to respond by its Respond node, and let that node send the formatted answer with its id or list.",
        ),
        "shape.error_field": Check(
            "shape",
            "an error stands inside a 200",
            "Give the workflow's error output an answer with an error status, and look at the execution.",
        ),
        "report.claim_accurate": Check(
            "report",
            "the report contradicts the evidence",
            "Show the reply beside the evidence; let the agent answer from the tool's result only.",
        ),
        "report.claim_backed": Check(
            "report",
            "the report claims something for which there was no call",
            "Nothing of that was done. Let the agent answer from the tool's result only.",
        ),
        "report.history": Check(
            "report",
            "n8n no longer has the run that was asked for",
            "Keep executions longer (pruning settings), or save the evidence at the time of the run.",
        ),
        "lint.bw001": Check(
            "active",
            "the workflow file is not JSON",
            "Export the workflow from n8n again, or repair the file.",
        ),
        "lint.webhook_id": Check(
            "active",
            "the Webhook node has no webhookId",
            "Save the workflow once in n8n's editor and export it again.",
        ),
        "lint.unique_path": Check(
            "active", "two workflows serve the same path", "Give each workflow its own webhook path."
        ),
        "lint.response_mode": Check(
            "shape",
            "the webhook does not respond by its Respond node",
            'Set "Respond" of the Webhook node to "Using \'Respond to Webhook\' node".',
        ),
        "lint.always_output": Check(
            "shape",
            "a read answers nothing when there is nothing",
            'Switch on "Always Output Data" on the read node.',
        ),
        "lint.on_error": Check(
            "shape",
            "a failure that the caller cannot see",
            "Lead the node's error output to a Respond node with an error status.",
        ),
        "lint.env_access": Check(
            "google",
            "the workflow reads $env, which n8n blocks",
            "Put the value into the workflow or into a credential.",
        ),
        "lint.ignore_bots": Check(
            "header",
            "the webhook ignores bots, and the plugin counts as one",
            'Switch off "Ignore Bots" on the Webhook node.',
        ),
        "lint.placeholder": Check(
            "credential",
            "a placeholder was left in the file",
            "Replace the placeholder by the real id, then import again.",
        ),
        "lint.inactive": Check(
            "active", "the file is marked inactive", "Activate the workflow after the import."
        ),
        "lint.profile": Check(
            "credential",
            "a file uses what belongs to another profile",
            "Give the file its own profile's path, credential and place.",
        ),
        "deploy.update": Check(
            "active",
            "an update through n8n's API did not take",
            "Send only name, nodes, connections and settings (active is read-only there), then activate apart.",
        ),
        "deploy.activated": Check(
            "active",
            "an activation through n8n's API did not take",
            "The workflow is not live. Resolve what n8n says, activate again and probe the webhook.",
        ),
        "cleanup.deleted": Check(
            "google", "the test object is not gone", "Delete the test object by hand, or run butlerctl sweep."
        ),
        "cleanup.leftover": Check(
            "google",
            "something of a test was left behind",
            "Run butlerctl sweep, then look at the place yourself.",
        ),
        "harness.reader_token": Check(
            "",
            "butlerctl's own Google token was refused",
            "Renew butlerctl's own Google token for this profile and read again; n8n's credential is not meant.",
        ),
        "harness.n8n_api": Check(
            "",
            "n8n refused butlerctl's own API key",
            "Give butlerctl an API key with the scopes that it reads with; the workflows are not meant.",
        ),
        "harness.readback": Check(
            "",
            "butlerctl's own read of Google failed or is missing",
            "Read Google again; until then nothing is confirmed.",
        ),
        "harness.transcript": Check(
            "",
            "the transcript is missing or may have been cut off",
            "Record the whole turn; an incomplete transcript proves nothing about a call.",
        ),
    }
)


def link_of(check: str) -> str:
    """The link that a check breaks."""
    known = CHECKS.get(check)
    return known.link if known else check.partition(".")[0]


def step_for(check: str) -> str:
    known = CHECKS.get(check)
    return known.step if known else ""
