import assert from "node:assert/strict";
import test from "node:test";
import { call, json, SECRET, webhooks } from "./household.mjs";
import { asSent, maskOf } from "../redact.mjs";

/** Every character that an encoder may write in another way. */
const STRANGE = `q"uote\\back\\\\/slash<&'>+ %${"$^.*(a|b)[c]{2}?"}`;
const LONG = "invented-secret-of-a-household-0123456789";

/** What a call's observation shows of an answer, as the model gets it. */
async function shown(t, answer, secret) {
  const n8n = await webhooks(t, answer);
  const environment = { N8N_WEBHOOK_SECRET: secret };
  const observation = await call("list_tasks", { profile: "wife" }, { baseUrl: n8n.url }, { environment });
  return { text: JSON.stringify(observation), observation, sent: n8n.requests[0]?.headers["x-l4ck3y-auth"] };
}

const plain = (status, text, type = "text/plain") => (_request, response) => {
  response.writeHead(status, { "Content-Type": type });
  response.end(text);
};

test("an answer that echoes the secret reaches the model without it", async (t) => {
  const echo = (request, response) =>
    json(response, 500, { message: `got ${request.headers["x-l4ck3y-auth"]}`, [SECRET]: [SECRET] });
  const { text } = await shown(t, echo, SECRET);
  assert.ok(!text.includes(SECRET));
  assert.match(text, /got <redacted>/);
});

const CUT = [
  ["a page", (text) => plain(502, text, "text/html")],
  ["a text with status 200", (text) => plain(200, text)],
  ["the message of a workflow", (text) => (_q, r) => json(r, 502, { ok: false, error: { code: "google_error", message: text } })],
  ["the message of an honest failure", (text) => (_q, r) => json(r, 200, { ok: false, error: { message: text } })],
  ["a long JSON answer", (text) => (_q, r) => json(r, 500, { message: text })],
];
for (const [what, answer] of CUT) {
  test(`a secret across the cut of ${what} leaves no first part`, async (t) => {
    for (let before = 470; before <= 500; before += 6) {
      const { text } = await shown(t, answer(`${"x".repeat(before)}${LONG}`), LONG);
      assert.ok(!text.includes(LONG.slice(0, 8)), text.slice(-90));
    }
  });
}

const ENCODERS = [
  ["as it is", (text) => text],
  ["JSON", JSON.stringify],
  ["JSON in JSON", (text) => JSON.stringify(JSON.stringify({ text }))],
  ["JSON with \\/", (text) => JSON.stringify(text).replaceAll("/", "\\/")],
  ["JSON for HTML", (text) => JSON.stringify(text).replace(/[<>&'+]/g, (sign) => `\\u00${sign.charCodeAt(0).toString(16)}`)],
  ["JSON in capitals", (text) => JSON.stringify(text).replace(/[<>&'+]/g, (sign) => `\\u00${sign.charCodeAt(0).toString(16).toUpperCase()}`)],
  ["HTML", (text) => text.replace(/[<>&'"]/g, (sign) => `&#${sign.charCodeAt(0)};`)],
  ["HTML by name", (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;")],
  ["a URL", encodeURIComponent],
  ["a form", (text) => new URLSearchParams({ text }).toString()],
  ["base64", (text) => Buffer.from(`a ${text} and more`).toString("base64")],
  ["base64 for a URL", (text) => Buffer.from(text).toString("base64url")],
];
for (const [what, encode] of ENCODERS) {
  test(`a secret in a text that an encoder of ${what} has written is masked`, async (t) => {
    const { text } = await shown(t, plain(500, `echo: ${encode(STRANGE)}.`), STRANGE);
    assert.match(text, /redacted>/);
    for (const part of ["uote", "slash", "1b3Rl", "uVwb3Rl"]) assert.ok(!text.includes(part), text);
  });
}

test("a secret with blanks around it is sent without them, and masked as it was sent", async (t) => {
  for (const secret of [`${SECRET}\n`, ` ${SECRET}\r\n`, `\t${SECRET}`]) {
    const { text, sent } = await shown(t, plain(500, `echo: ${SECRET}`), secret);
    assert.equal(sent, SECRET);
    assert.ok(!text.includes(SECRET), text);
  }
  assert.equal((await shown(t, plain(200, ""), " \n")).sent, undefined);
});

test("a secret that is a number is masked where an answer holds the number", async (t) => {
  const { observation } = await shown(t, (_q, r) => json(r, 500, { pin: 84728472, other: 84728473 }), "84728472");
  assert.deepEqual(observation.body, { pin: "<redacted>", other: 84728473 });
  const long = "12345678901234567890";
  assert.deepEqual(maskOf(long)(JSON.parse(`{"a":${long}}`)), { a: "<redacted>" });
});

test("what is no secret stays as it is", () => {
  const value = { a: [1, null, true, "text/plain"], "invented-secret": "x" };
  assert.deepEqual(maskOf("other-secret")(value), value);
  assert.deepEqual(maskOf("abc")({ abc: "abc" }), { abc: "abc" });
  assert.deepEqual(maskOf("")("text"), "text");
  assert.equal(asSent("in the middle\n stays"), "in the middle\n stays");
});

test("an escaped sign at the end of a secret goes with it", () => {
  const mask = maskOf("00000000000&");
  for (const written of ["&amp;", "&#38;", "%26", "\\u0026", "&"]) {
    assert.equal(mask(`~00000000000${written}~`), "~<redacted>~");
  }
});
