import assert from "node:assert/strict";
import test from "node:test";
import { call, EVENT, webhooks } from "./household.mjs";
import { instantOf } from "../validate.mjs";

const TASK = { profile: "wife", title: "Water the plants" };
const ROW = { profile: "husband", sheet: "Log", values: ["2026-07-04", "milk", 2.5] };

const FORBIDDEN = [
  ["a stranger", "list_tasks", { profile: "kids" }, /profile: must be one of husband, wife/],
  ["no profile", "list_tasks", {}, /profile: is missing/],
  ["no arguments", "list_tasks", undefined, /must be object/],
  ["an extra key", "add_task", { ...TASK, location: "x" }, /location: is no argument/],
  ["an own __proto__", "add_task", JSON.parse('{"profile":"wife","title":"x","__proto__":{"a":1}}'), /__proto__/],
  ["a missing end", "add_calendar_event", { ...EVENT, end: undefined }, /end/],
  ["a number as title", "add_task", { ...TASK, title: 17 }, /title: must be string/],
  ["a blank title", "add_task", { ...TASK, title: "  " }, /title/],
  ["text as limit", "list_tasks", { profile: "wife", limit: "5" }, /limit: must be integer/],
  ["limit 0", "list_tasks", { profile: "wife", limit: 0 }, /limit/],
  ["limit 101", "list_tasks", { profile: "wife", limit: 101 }, /limit/],
  ["half a limit", "list_tasks", { profile: "wife", limit: 2.5 }, /limit/],
  ["a cut end", "add_calendar_event", { ...EVENT, end: "2026-07-04T1" }, /end: .*RFC 3339/],
  ["an end before the start", "add_calendar_event", { ...EVENT, end: EVENT.start }, /end: must be after start/],
  ["an end before the start in another zone", "add_calendar_event", { ...EVENT, end: "2026-07-04T11:00:00Z" }, /after/],
  ["31 February", "add_calendar_event", { ...EVENT, start: "2026-02-31T10:00:00Z" }, /start/],
  ["24:00", "add_calendar_event", { ...EVENT, end: "2026-07-04T24:00:00-04:00" }, /end/],
  ["no offset", "add_calendar_event", { ...EVENT, start: "2026-07-04T10:00:00" }, /start/],
  ["a due day that does not exist", "add_task", { ...TASK, due: "2026-02-30" }, /due/],
  ["another person's list", "add_task", { ...TASK, list: "Household" }, /list: must be one of Garden/],
  ["another person's sheet", "read_sheet", { profile: "wife", sheet: "Check" }, /sheet: must be one of Log/],
  ["a formula", "append_sheet_row", { ...ROW, values: ["=1+1", "b", "c"] }, /values\.0/],
  ["a formula behind a blank", "append_sheet_row", { ...ROW, values: [" +1", "b", "c"] }, /values\.0/],
  ["a cell that is a list", "append_sheet_row", { ...ROW, values: [[], "b", "c"] }, /values\.0/],
  ["a row of another width", "append_sheet_row", { ...ROW, values: ["a", "b"] }, /values: must be 3 cells/],
  ["values as JSON text", "append_sheet_row", { ...ROW, values: '["a","b","c"]' }, /values: must be array/],
];

for (const [what, tool, args, fault] of FORBIDDEN) {
  test(`${what} is refused before anything is sent`, async (t) => {
    const n8n = await webhooks(t);
    const given = args && JSON.parse(JSON.stringify(args));
    const observation = await call(tool, what === "an own __proto__" ? args : given, { baseUrl: n8n.url });
    assert.equal(observation.ok, false);
    assert.equal(observation.error, "invalid_args");
    assert.equal(observation.boundary, "call");
    assert.equal(observation.sent, false);
    assert.match(observation.message, fault);
    assert.equal(n8n.requests.length, 0);
  });
}

const ALLOWED = [
  ["list_calendar_events", { profile: "wife", start: EVENT.start, end: EVENT.end, limit: 250 }],
  ["add_calendar_event", { ...EVENT, category: "personal" }],
  ["add_calendar_event", { ...EVENT, start: "2026-07-04T10:00Z", end: "2026-07-04T12:00:00.5+02:00".replace("12", "13") }],
  ["add_task", { ...TASK, due: "2028-02-29", list: "Garden" }],
  ["read_sheet", { profile: "husband", sheet: "Check", limit: 1 }],
  ["append_sheet_row", ROW],
];

for (const [tool, args] of ALLOWED) {
  test(`${tool} with ${JSON.stringify(args)} is sent`, async (t) => {
    const n8n = await webhooks(t);
    const observation = await call(tool, args, { baseUrl: n8n.url });
    assert.equal(observation.ok, true, observation.message);
    assert.equal(n8n.requests.length, 1);
  });
}

test("one moment written in two zones is one instant", () => {
  assert.equal(instantOf("2026-07-04T10:00:00-04:00"), instantOf("2026-07-04T14:00Z"));
  assert.equal(instantOf("2026-07-04T10:00:00.000001Z") - instantOf("2026-07-04T10:00:00Z"), 1);
});
