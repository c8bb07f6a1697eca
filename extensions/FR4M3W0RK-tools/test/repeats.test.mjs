import assert from "node:assert/strict";
import test from "node:test";
import { call, EVENT, webhooks } from "./household.mjs";
import { RepeatGuard } from "../repeats.mjs";

const MINUTE = 60 * 1000;
const TASK = { profile: "wife", title: "x" };
const JOB = "agent:butler:cron:0b6f8a52";

/** At which of these minutes a call of a session was let through. */
function letThrough(tool, minutes, { guard = new RepeatGuard(), session = () => "chat" } = {}) {
  return minutes.filter((at, number) => guard.refusal(session(number), tool, TASK, at * MINUTE) === null);
}

test("the same write is not sent a fourth time", async (t) => {
  const n8n = await webhooks(t);
  const guard = new RepeatGuard();
  const answers = [];
  for (let i = 0; i < 5; i += 1) {
    answers.push(await call("add_calendar_event", EVENT, { baseUrl: n8n.url }, { guard }));
  }
  assert.deepEqual(answers.map((answer) => answer.ok), [true, true, true, false, false]);
  assert.equal(answers[4].error, "repeated_call");
  assert.equal(answers[4].boundary, "call");
  assert.equal(answers[4].sent, false);
  assert.match(answers[4].message, /three times already/);
  assert.equal(n8n.requests.length, 3);
  assert.ok((await call("add_calendar_event", { ...EVENT, summary: "x" }, { baseUrl: n8n.url }, { guard })).ok);
});

test("a person may ask for the tasks as often as a person can, and a loop of reads ends", async (t) => {
  const n8n = await webhooks(t);
  const guard = new RepeatGuard();
  const answers = [];
  for (let i = 0; i < 20; i += 1) {
    answers.push(await call("list_tasks", { profile: "wife" }, { baseUrl: n8n.url }, { guard }));
  }
  assert.equal(answers.filter((answer) => answer.ok).length, 10);
  assert.match(answers[19].message, /ten times within a minute/);
  assert.equal(n8n.requests.length, 10);
  const everyTenSeconds = [...Array(60).keys()].map((number) => number / 6);
  assert.equal(letThrough("list_tasks", everyTenSeconds).length, 60);
});

test("writes are counted for each session, and a refused try counts for nothing", () => {
  assert.deepEqual(letThrough("add_task", [0, 1, 2, 3, 9, 9.9, 10, 11, 12, 13]), [0, 1, 2, 10, 11, 12]);
  assert.deepEqual(letThrough("append_sheet_row", [0, 1, 2, 3], { session: String }), [0, 1, 2, 3]);
});

test("the tries of one cron job are counted together, each in a session of its own", () => {
  const session = (number) => `${JOB}:run:${number}`;
  assert.deepEqual(letThrough("add_task", [0, 1, 6, 21, 31], { session }), [0, 1, 6, 31]);
  assert.deepEqual(letThrough("list_tasks", [0, 1, 6, 21], { session }), [0, 1, 6, 21]);
});

test("the runs of a job that writes the same each quarter of an hour are honest, as are those of several jobs", () => {
  const session = (number) => `${JOB}:run:${number}`;
  assert.equal(letThrough("add_task", [0, 15, 30, 45, 60, 75], { session }).length, 6);
  const jobs = (number) => `${JOB}${number}:run:1`;
  assert.equal(letThrough("add_task", [0, 0, 0, 0, 0], { session: jobs }).length, 5);
});
