import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { Value } from "typebox/value";
import { CONFIG_SCHEMA } from "../config.mjs";
import { TOOL_NAMES } from "../schemas.mjs";
import { HOUSEHOLD } from "./household.mjs";

const read = (name) => JSON.parse(readFileSync(new URL(`../${name}`, import.meta.url), "utf8"));
const manifest = read("openclaw.plugin.json");

test("the manifest declares exactly the six tools, else the gateway drops them in silence", () => {
  assert.deepEqual(manifest.contracts.tools, [...TOOL_NAMES]);
});

test("the manifest holds the plugin's own configuration schema and version", () => {
  assert.deepEqual(manifest.configSchema, JSON.parse(JSON.stringify(CONFIG_SCHEMA)));
  assert.equal(manifest.version, read("package.json").version);
});

test("the plugin id is lower case and the same in manifest and code", () => {
  assert.match(manifest.id, /^[a-z0-9-]+$/);
  const code = readFileSync(new URL("../index.mjs", import.meta.url), "utf8");
  assert.ok(code.includes(`id: "${manifest.id}"`));
});

test("typebox is pinned, and the lock names no registry", () => {
  assert.match(read("package.json").dependencies.typebox, /^\d+\.\d+\.\d+$/);
  assert.ok(!JSON.stringify(read("package-lock.json")).includes("resolved"));
});

test("a configuration without people, or with a strange key, is refused", () => {
  const config = { baseUrl: "http://127.0.0.1:5678", profiles: HOUSEHOLD };
  assert.ok(Value.Check(CONFIG_SCHEMA, config));
  assert.ok(!Value.Check(CONFIG_SCHEMA, { ...config, profiles: {} }));
  assert.ok(!Value.Check(CONFIG_SCHEMA, { ...config, secret: "x" }));
  assert.ok(!Value.Check(CONFIG_SCHEMA, { ...config, baseUrl: "file:///etc" }));
  assert.ok(!Value.Check(CONFIG_SCHEMA, { ...config, profiles: { "a/b": HOUSEHOLD.wife } }));
});
