/** FR4M3W0RK tools: the OpenClaw plugin that gives an agent the six typed tools of a household. */

import { defineToolPlugin } from "openclaw/plugin-sdk/tool-plugin";
import { CONFIG_SCHEMA } from "./config.mjs";
import { RepeatGuard } from "./repeats.mjs";
import { TOOL_NAMES, toolSchema } from "./schemas.mjs";
import { householdTool } from "./tools.mjs";

const guard = new RepeatGuard();
/** Only for the gateway's static description of a tool; the schema that the model gets comes from the configuration. */
const NOBODY = { profile: { taskLists: ["list"], tabs: ["sheet"], columns: ["column"] } };

export default defineToolPlugin({
  id: "fr4m3w0rk-tools",
  name: "FR4M3W0RK tools",
  description: "Household tools through n8n webhooks.",
  configSchema: CONFIG_SCHEMA,
  tools: (tool) =>
    TOOL_NAMES.map((name) =>
      tool({
        ...toolSchema(name, NOBODY),
        factory: ({ config, toolContext }) => householdTool(name, config, { guard, session: toolContext.sessionKey }),
      }),
    ),
});
