import assert from "node:assert/strict";
import test from "node:test";
import { call, EVENT, HOUSEHOLD, SECRET, webhooks } from "./household.mjs";
import { webhookPath } from "../routes.mjs";
import { TOOL_NAMES } from "../schemas.mjs";

test("a call becomes one POST that carries the arguments without the profile", async (t) => {
  const n8n = await webhooks(t);
  const observation = await call("add_calendar_event", EVENT, { baseUrl: n8n.url });
  assert.deepEqual(observation, {
    ok: true,
    status: 200,
    path: "/webhook/L4CK3Y/calendar/add/wife",
    data: { id: "evt1" },
    execution: "17",
  });
  const [request] = n8n.requests;
  const { profile, ...body } = EVENT;
  assert.equal(n8n.requests.length, 1);
  assert.equal(request.method, "POST");
  assert.equal(request.url, `/webhook/L4CK3Y/calendar/add/${profile}`);
  assert.equal(request.headers["content-type"], "application/json");
  assert.equal(request.headers["user-agent"], "FR4M3W0RK-Tools/1.0");
  assert.equal(request.headers["x-l4ck3y-auth"], SECRET);
  assert.deepEqual(JSON.parse(request.body), body);
});

test("no header is sent when the secret is empty or missing", async (t) => {
  const n8n = await webhooks(t);
  for (const environment of [{}, { N8N_WEBHOOK_SECRET: "" }]) {
    await call("list_tasks", { profile: "wife" }, { baseUrl: n8n.url }, { environment });
  }
  assert.equal(n8n.requests.length, 2);
  for (const request of n8n.requests) assert.ok(!("x-l4ck3y-auth" in request.headers));
});

test("prefix, header name and address come from the configuration", async (t) => {
  const n8n = await webhooks(t);
  const config = { baseUrl: `${n8n.url}/`, prefix: "", header: "X-Other" };
  await call("list_tasks", { profile: "husband" }, config);
  assert.equal(n8n.requests[0].url, "/webhook/tasks/list/husband");
  assert.equal(n8n.requests[0].headers["x-other"], SECRET);
});

test("two people and six tools make twelve different paths, and nobody else has one", () => {
  const config = { prefix: "L4CK3Y", profiles: HOUSEHOLD };
  const paths = TOOL_NAMES.flatMap((tool) => ["husband", "wife"].map((name) => webhookPath(config, tool, name)));
  assert.equal(new Set(paths).size, 12);
  for (const name of ["kids", "__proto__", "constructor", ""]) {
    assert.equal(webhookPath(config, "list_tasks", name), null);
  }
  assert.equal(webhookPath(config, "toString", "wife"), null);
});
