import assert from "node:assert/strict";
import { createServer } from "node:net";
import { once } from "node:events";
import test from "node:test";
import { call, EVENT, json, webhooks } from "./household.mjs";

const NOT_REGISTERED = { code: 404, message: 'The requested webhook "POST x" is not registered.', hint: "..." };
const plain = (status, type, text) => (_request, response) => {
  response.writeHead(status, type ? { "Content-Type": type } : {});
  response.end(text);
};
const answers = (status, body) => (_request, response) => json(response, status, body);

const REFUSALS = [
  ["403 of n8n", plain(403, "", "Authorization data is wrong!"), "header", "http_status"],
  ["404 of n8n", answers(404, NOT_REGISTERED), "active", "http_status"],
  ["404 of a proxy", plain(404, "text/html", "<h1>Not Found</h1>"), "request", "http_status"],
  ["502 of a proxy", plain(502, "text/html", "<h1>Bad Gateway</h1>"), "request", "http_status"],
  ["502 of the workflow", answers(502, { ok: false, error: { code: "google_error", message: "quota" } }), "google", "http_status"],
  ["500 of n8n", answers(500, { message: "Error in workflow" }), "shape", "http_status"],
  ["400 of the workflow", answers(400, { ok: false, error: { code: "invalid_args", message: "end" } }), "call", "http_status"],
  ["201 with an ok", answers(201, { ok: true, data: {} }), "shape", "http_status"],
  ["200 that is empty", plain(200, "application/json", ""), "shape", "not_json"],
  ["200 with a page", plain(200, "text/html; charset=utf-8", "<html></html>"), "request", "not_json"],
  ["200 with JSON called text", plain(200, "text/plain", '{"ok":true,"data":{}}'), "shape", "not_json"],
  ["200 with cut JSON", plain(200, "application/json", '{"ok":true,"da'), "shape", "not_json"],
  ["200 that was only started", answers(200, { message: "Workflow was started" }), "shape", "unexpected_answer"],
  ["200 with ok but no data", answers(200, { ok: true }), "shape", "unexpected_answer"],
  ['200 with ok "true"', answers(200, { ok: "true", data: {} }), "shape", "unexpected_answer"],
  ["200 with null", answers(200, null), "shape", "unexpected_answer"],
  ["200 with a list", answers(200, []), "shape", "unexpected_answer"],
  ["200 that says no", answers(200, { ok: false, error: { code: "google_error", message: "gone" } }), "google", "webhook_reported_failure"],
  ["200 that says no in words", answers(200, { ok: false, error: "Google API: invalid_grant" }), "shape", "webhook_reported_failure"],
  ["a code field inside 200", answers(200, { code: 403, message: "x" }), "shape", "unexpected_answer"],
  ["a redirect", (_q, r) => r.writeHead(302, { Location: "http://127.0.0.1:1/" }).end(), "request", "redirect"],
  ["a reset", (request) => request.socket.resetAndDestroy(), "request", "network"],
  ["a body that breaks off", (request, r) => {
    r.writeHead(200, { "Content-Type": "application/json", "Content-Length": "99" });
    r.write('{"ok":true');
    setTimeout(() => request.socket.destroy(), 20);
  }, "request", "network"],
  ["an answer without end", (_q, r) => {
    r.writeHead(200, { "Content-Type": "application/json" });
    r.write(`{"ok":true,"data":{"x":"${"x".repeat(2_100_000)}`);
  }, "shape", "too_large"],
];

for (const [what, answer, boundary, error] of REFUSALS) {
  test(`${what} is no success and names the boundary ${boundary}`, async (t) => {
    const n8n = await webhooks(t, answer);
    const observation = await call("add_calendar_event", EVENT, { baseUrl: n8n.url });
    assert.equal(observation.ok, false);
    assert.equal(observation.boundary, boundary);
    assert.equal(observation.error, error);
    assert.ok(observation.message.length > 0);
    assert.equal(observation.path, "/webhook/L4CK3Y/calendar/add/wife");
    assert.equal(n8n.requests.length, 1, "a write is never sent twice");
  });
}

test("an empty list is an honest answer", async (t) => {
  const n8n = await webhooks(t, answers(200, { ok: true, data: { events: [] } }));
  const observation = await call("list_calendar_events", { profile: "wife" }, { baseUrl: n8n.url });
  assert.deepEqual(observation.data, { events: [] });
});

test("no answer in time is a lost reply, whose effect is unknown", async (t) => {
  const n8n = await webhooks(t, () => {});
  const started = Date.now();
  const observation = await call("add_calendar_event", EVENT, { baseUrl: n8n.url, timeoutSeconds: 0.2 });
  assert.equal(observation.error, "timeout");
  assert.equal(observation.boundary, "request");
  assert.match(observation.message, /read back/);
  assert.ok(Date.now() - started < 5000);
});

test("the time limit covers a body that drips", async (t) => {
  const n8n = await webhooks(t, (_request, response) => {
    response.writeHead(200, { "Content-Type": "application/json" });
    response.write('{"ok":');
  });
  const observation = await call("add_calendar_event", EVENT, { baseUrl: n8n.url, timeoutSeconds: 0.2 });
  assert.equal(observation.error, "timeout");
});

test("an aborted turn is told from a lost reply", async (t) => {
  const abort = new AbortController();
  const n8n = await webhooks(t, () => abort.abort());
  const observation = await call("add_calendar_event", EVENT, { baseUrl: n8n.url }, { signal: abort.signal });
  assert.equal(observation.error, "aborted");
});

test("a closed port is a failure of the connection", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  const observation = await call("list_tasks", { profile: "wife" }, { baseUrl: `http://127.0.0.1:${port}` });
  assert.equal(observation.error, "network");
  assert.equal(observation.detail, "ECONNREFUSED");
});

test("a secret that no header can hold is refused without being quoted", async (t) => {
  const n8n = await webhooks(t);
  const environment = { N8N_WEBHOOK_SECRET: "line-one\nline-two" };
  const observation = await call("list_tasks", { profile: "wife" }, { baseUrl: n8n.url }, { environment });
  assert.equal(observation.error, "bad_secret");
  assert.equal(observation.boundary, "header");
  assert.ok(!JSON.stringify(observation).includes("line-one"));
  assert.equal(n8n.requests.length, 0);
});
