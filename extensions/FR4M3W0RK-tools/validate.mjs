/** The arguments of a call, checked again here: a gateway may run a call that its schema forbids. */

import { Value } from "typebox/value";
import { DAY_PATTERN, INSTANT_PATTERN } from "./schemas.mjs";

/** What is wrong with the arguments, as `field: what would be right`; an empty list when nothing is. */
export function argumentFaults(schema, args, household) {
  const faults = schemaFaults(schema.parameters, args);
  return faults.length > 0 ? faults : beyondSchema(args, household);
}

function schemaFaults(parameters, args) {
  return [...new Set(Value.Errors(parameters, args).flatMap((error) => describe(error, parameters)))];
}

function describe({ keyword, instancePath, params, message }, parameters) {
  const field = instancePath.slice(1).replaceAll("/", ".") || "arguments";
  switch (keyword) {
    case "required":
      return params.requiredProperties.map((name) => `${name}: is missing`);
    case "additionalProperties":
      return params.additionalProperties.map((name) => `${name}: is no argument of this tool`);
    case "enum":
      return [`${field}: must be one of ${params.allowedValues.join(", ")}`];
    case "pattern":
      if (field.startsWith("values.")) return [`${field}: must not begin with =, + or @`];
      return [`${field}: does not fit. ${parameters.properties[field]?.description ?? ""}`.trim()];
    default:
      return [`${field}: ${message}`];
  }
}

/** What a schema cannot say: moments that exist, in order; names that are this person's own. */
function beyondSchema(args, household) {
  const person = household[args.profile];
  return [
    ...timeFaults(args),
    ...(args.due !== undefined && !isDay(args.due) ? ["due: must be a day that exists, YYYY-MM-DD"] : []),
    ...ownName("list", args.list, person.taskLists),
    ...ownName("sheet", args.sheet, person.tabs),
    ...rowFaults(args.values, person.columns),
  ];
}

function timeFaults({ start, end }) {
  const [from, to] = [start, end].map((moment) => (moment === undefined ? undefined : instantOf(moment)));
  const faults = [];
  if (from === null) faults.push("start: must be an RFC 3339 time with offset");
  if (to === null) faults.push("end: must be an RFC 3339 time with offset");
  if (typeof from === "number" && typeof to === "number" && to <= from) faults.push("end: must be after start");
  return faults;
}

function ownName(field, name, names) {
  return name === undefined || names.includes(name) ? [] : [`${field}: must be one of ${names.join(", ")}`];
}

function rowFaults(values, columns) {
  if (values === undefined || values.length === columns.length) return [];
  return [`values: must be ${columns.length} cells (${columns.join(", ")})`];
}

/** Microseconds since 1970, or null for text that names no moment (31 February, 24:00, offset +25:00). */
export function instantOf(text) {
  if (!new RegExp(INSTANT_PATTERN).test(text) || !isDay(text.slice(0, 10))) return null;
  const [, hour, minute, second = "0", fraction = "", zone] =
    /T(\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?(Z|[+-]\d\d:\d\d)$/.exec(text);
  const offset = zone === "Z" ? 0 : offsetMinutes(zone);
  if (hour > 23 || minute > 59 || second > 59 || offset === null) return null;
  const [year, month, day] = text.slice(0, 10).split("-").map(Number);
  const milliseconds = Date.UTC(year, month - 1, day, hour, minute - offset, second);
  return milliseconds * 1000 + Number(fraction.padEnd(6, "0").slice(0, 6));
}

function offsetMinutes(zone) {
  const [hours, minutes] = zone.slice(1).split(":").map(Number);
  if (hours > 23 || minutes > 59) return null;
  return (zone[0] === "-" ? -1 : 1) * (hours * 60 + minutes);
}

function isDay(text) {
  if (!new RegExp(DAY_PATTERN).test(text)) return false;
  const [year, month, day] = text.split("-").map(Number);
  const date = new Date(Date.UTC(2000, month - 1, 1));
  date.setUTCFullYear(year, month - 1, day);
  return year > 0 && month >= 1 && month <= 12 && day >= 1 && date.getUTCMonth() === month - 1;
}
