/** What the operator configures under `plugins.entries.fr4m3w0rk-tools.config`. */

import { Type } from "typebox";

const closed = (properties) => Type.Object(properties, { additionalProperties: false });
const names = Type.Array(Type.String({ minLength: 1 }), { minItems: 1, uniqueItems: true });

const PERSON = closed({ taskLists: names, tabs: names, columns: names });

export const CONFIG_SCHEMA = closed({
  baseUrl: Type.String({ pattern: "^https?://[^\\s@]+$", description: "Address of n8n, without /webhook." }),
  prefix: Type.Optional(Type.String({ description: "First part of every webhook's path." })),
  header: Type.Optional(
    Type.String({ pattern: "^[A-Za-z0-9-]+$", description: "Name of the header that carries the secret." }),
  ),
  timeoutSeconds: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 300 })),
  profiles: Type.Record(Type.String({ pattern: "^[A-Za-z0-9][A-Za-z0-9_-]*$" }), PERSON, {
    additionalProperties: false,
    minProperties: 1,
  }),
});

export const DEFAULT_HEADER = "X-L4CK3Y-Auth";
export const DEFAULT_TIMEOUT_SECONDS = 15;
/** The environment variable that holds the secret: it never stands in a configuration file. */
export const SECRET_VARIABLE = "N8N_WEBHOOK_SECRET";
