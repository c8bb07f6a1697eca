/** A tool of the household, ready to run: check the arguments, send, judge the answer. */

import { failed, observe } from "./answer.mjs";
import { DEFAULT_HEADER, DEFAULT_TIMEOUT_SECONDS, SECRET_VARIABLE } from "./config.mjs";
import { withoutSecret } from "./redact.mjs";
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
      const secret = environment[SECRET_VARIABLE] ?? "";
      const refusal = refuse(schema, args, config, guard, session);
      const observation = refusal ?? (await send(name, args, { config, secret, signal }));
      return toolResult(withoutSecret(observation, secret));
    },
  };
}

function refuse(schema, args, config, guard, session) {
  const faults = argumentFaults(schema, args, config.profiles);
  if (faults.length > 0) return failed("call", "invalid_args", faults.join("; "), { sent: false });
  if (guard.allows(session, schema.name, args)) return null;
  const message = "This very call was made three times already: it is not sent again.";
  return failed("call", "repeated_call", message, { sent: false });
}

async function send(name, { profile, ...body }, { config, secret, signal }) {
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
  return observe(exchange, path);
}

/** The gateway shows `content` to the model, keeps `details`, and calls the result an error when `ok` is false. */
function toolResult(observation) {
  return { content: [{ type: "text", text: JSON.stringify(observation, null, 2) }], details: observation };
}
