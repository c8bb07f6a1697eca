/** A tool of the household, ready to run: check the arguments, send, judge the answer. */

import { failed, observe } from "./answer.mjs";
import { DEFAULT_HEADER, DEFAULT_TIMEOUT_SECONDS, SECRET_VARIABLE } from "./config.mjs";
import { asSent, maskOf } from "./redact.mjs";
import { webhookPath, webhookUrl } from "./routes.mjs";
import { toolSchema } from "./schemas.mjs";
import { argumentFaults } from "./validate.mjs";
import { post } from "./webhook.mjs";

/** The tool as the gateway registers it. `session` tells whose calls are counted together. */
export function householdTool(name, config, { guard, session = "", environment = process.env }) {
  const schema = toolSchema(name, config.profiles);
  return {
    ...schema,
    label: name,
    async execute(_callId, args, signal) {
      const secret = asSent(environment[SECRET_VARIABLE] ?? "");
      const mask = maskOf(secret);
      const refusal = refuse(schema, args, config, guard, session);
      const observation = refusal ?? (await send(name, args, { config, secret, mask, signal }));
      return toolResult(mask(observation));
    },
  };
}

function refuse(schema, args, config, guard, session) {
  const faults = argumentFaults(schema, args, config.profiles);
  if (faults.length > 0) return failed("call", "invalid_args", faults.join("; "), { sent: false });
  const repeated = guard.refusal(session, schema.name, args);
  return repeated === null ? null : failed("call", "repeated_call", repeated, { sent: false });
}

async function send(name, { profile, ...body }, { config, secret, mask, signal }) {
  const path = webhookPath(config, name, profile);
  if (path === null) return failed("route", "unknown_route", "No webhook is configured for this.", { sent: false });
  const exchange = await post({
    url: webhookUrl(config, path),
    body,
    header: config.header ?? DEFAULT_HEADER,
    secret,
    timeoutSeconds: config.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS,
    signal,
  });
  return observe(exchange, path, mask);
}

/** The gateway shows `content` to the model, keeps `details`, and calls the result an error when `ok` is false. */
function toolResult(observation) {
  return { content: [{ type: "text", text: JSON.stringify(observation, null, 2) }], details: observation };
}
