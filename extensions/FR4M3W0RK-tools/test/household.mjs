/** What the tests share: an invented household, and a real n8n in miniature on loopback. */

import { createServer } from "node:http";
import { once } from "node:events";
import { RepeatGuard } from "../repeats.mjs";
import { householdTool } from "../tools.mjs";

export const SECRET = "invented-secret-1234";
export const HOUSEHOLD = {
  husband: { taskLists: ["Household"], tabs: ["Log", "Check"], columns: ["date", "item", "amount"] },
  wife: { taskLists: ["Garden"], tabs: ["Log"], columns: ["date", "item"] },
};
export const EVENT = {
  profile: "wife",
  summary: "Dentist",
  start: "2026-07-04T10:00:00-04:00",
  end: "2026-07-04T11:00:00-04:00",
};

/** Serve `answer(request, response)` on loopback; `requests` records what arrived. */
export async function webhooks(t, answer = succeed) {
  const requests = [];
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method, url, headers } = request;
    requests.push({ method, url, headers, body: Buffer.concat(chunks).toString() });
    answer(request, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${server.address().port}`, requests };
}

export function json(response, status, body) {
  response.writeHead(status, { "Content-Type": "application/json; charset=utf-8" });
  response.end(JSON.stringify(body));
}

export function succeed(_request, response) {
  json(response, 200, { ok: true, data: { id: "evt1" }, execution: "17" });
}

/** Call a tool and return its observation. */
export async function call(name, args, config, { environment = { N8N_WEBHOOK_SECRET: SECRET }, guard, signal } = {}) {
  const options = { environment, guard: guard ?? new RepeatGuard() };
  const tool = householdTool(name, { prefix: "L4CK3Y", profiles: HOUSEHOLD, ...config }, options);
  const result = await tool.execute("call_1", args, signal);
  return result.details;
}
