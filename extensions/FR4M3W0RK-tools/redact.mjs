/** The secret never reaches the model, not even when an answer echoes it, and however the echo is escaped. */

const MASK = "<redacted>";
const SHORTEST = 4;
const ENTITIES = { '"': "quot", "&": "amp", "<": "lt", ">": "gt", "'": "apos" };
const JSON_LETTERS = { "\n": "n", "\r": "r", "\t": "t", "\b": "b", "\f": "f" };

/** What a header carries of a configured secret: the blanks and line ends around it are lost on the way. */
export const asSent = (secret) => secret.replace(/^[\t\n\r ]+|[\t\n\r ]+$/g, "");

/** A function that copies any value without this secret: in texts, in keys, and where it is a number. */
export function maskOf(secret) {
  if (secret.length < SHORTEST) return (value) => value;
  const forms = new RegExp([...formsOf(secret)].join("|"), "g");
  const isSecret = (number) => String(number) === secret || (/^\d+$/.test(secret) && number === Number(secret));
  const mask = (value) => {
    if (typeof value === "string") return value.replace(forms, MASK);
    if (typeof value === "number") return isSecret(value) ? MASK : value;
    if (Array.isArray(value)) return value.map(mask);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [mask(key), mask(item)]));
  };
  return mask;
}

/** Patterns of the secret: as it is, or escaped for JSON (once or more), HTML or a URL; and inside base64. */
function* formsOf(secret) {
  yield secret.match(/[A-Za-z0-9._~-]+|\\+|./gsu).map(inAnyForm).join("");
  const data = Buffer.from(secret);
  for (const shift of [0, 1, 2]) {
    const encoded = Buffer.concat([Buffer.alloc(shift), data]).toString("base64");
    const inside = encoded.slice(Math.ceil((shift * 8) / 6), Math.floor(((shift + data.length) * 8) / 6));
    if (inside.length < 10) continue;
    yield literal(inside);
    yield literal(inside.replaceAll("+", "-").replaceAll("/", "_"));
  }
}

/** The pattern of one special character (backslashes: of all in a row), or of plain text as it is. */
function inAnyForm(run) {
  if (/^[A-Za-z0-9._~-]/.test(run)) return literal(run);
  const [sign, count] = run.startsWith("\\") ? ["\\", run.length] : [run, 1];
  const code = sign.codePointAt(0);
  const forms = [
    [...Array(sign.length).keys()].map((at) => `\\\\{1,4}u${hex(sign.charCodeAt(at), 4)}`).join(""),
    [...Buffer.from(sign)].map((byte) => `%${hex(byte, 2)}`).join(""),
    `&#(?:${code}|x0*${hex(code, 1)});`,
  ];
  if (ENTITIES[sign]) forms.push(`&${ENTITIES[sign]};`);
  if (JSON_LETTERS[sign]) forms.push(`\\\\{1,4}${JSON_LETTERS[sign]}`);
  if (sign === " ") forms.push("\\+");
  const written = sign === "\\" ? `\\\\{${count},${8 * count}}` : `\\\\{0,7}${literal(sign)}`;
  // The escaped forms first: "&amp;" begins with the sign itself, and its rest would stay.
  return `(?:(?:${forms.join("|")}){${count}}|${written})`;
}

const hex = (number, digits) =>
  number.toString(16).padStart(digits, "0").replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
const literal = (text) => text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
