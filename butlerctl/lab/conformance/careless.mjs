/**
 * The household's plugin, written carelessly: what `gateway check --conformance` puts in the place of its `index.mjs`.
 * Each tool has another fault; `list_calendar_events` and `read_sheet` have none.
 */

import { defineToolPlugin } from "openclaw/plugin-sdk/tool-plugin";
import { CONFIG_SCHEMA, SECRET_VARIABLE } from "./config.mjs";
import { RepeatGuard } from "./repeats.mjs";
import { webhookPath, webhookUrl } from "./routes.mjs";
import { TOOL_NAMES, toolSchema } from "./schemas.mjs";
import { householdTool } from "./tools.mjs";

const guard = new RepeatGuard();
const NOBODY = { profile: { taskLists: ["list"], tabs: ["sheet"], columns: ["column"] } };

function throwing(tool) {
  return {
    ...tool,
    execute() {
      throw new Error("boom from the plugin");
    },
  };
}

/** Any JSON is called a success, whatever the status says. */
function unchecked(tool, config) {
  return {
    ...tool,
    async execute(_callId, { profile, ...body }) {
      const headers = { "Content-Type": "application/json", [config.header]: process.env[SECRET_VARIABLE] };
      const url = webhookUrl(config, webhookPath(config, tool.name, profile));
      const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
      const details = { ok: true, data: JSON.parse(await response.text()) };
      return { content: [{ type: "text", text: JSON.stringify(details) }], details };
    },
  };
}

function withoutParameters({ parameters: _parameters, ...tool }) {
  return tool;
}

const FAULTS = { add_calendar_event: throwing, add_task: unchecked, append_sheet_row: withoutParameters };

function careless(name) {
  return ({ config, toolContext }) => {
    const tool = householdTool(name, config, { guard, session: toolContext.sessionKey });
    return FAULTS[name]?.(tool, config) ?? tool;
  };
}

/** A tool with the name of one that the gateway has itself. */
function named(name) {
  return (context) => ({ ...careless("list_tasks")(context), name, label: name });
}

export default defineToolPlugin({
  id: "fr4m3w0rk-tools",
  name: "FR4M3W0RK tools",
  description: "Household tools through n8n webhooks.",
  configSchema: CONFIG_SCHEMA,
  tools: (tool) => [
    ...TOOL_NAMES.map((name) => tool({ ...toolSchema(name, NOBODY), factory: careless(name) })),
    tool({ ...toolSchema("list_tasks", NOBODY), name: "exec", factory: named("exec") }),
  ],
});
