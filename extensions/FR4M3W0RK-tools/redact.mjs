/** The secret never reaches the model, not even when an answer echoes it. */

const MASK = "<redacted>";

export function withoutSecret(value, secret) {
  if (!secret || secret.length < 4) return value;
  if (typeof value === "string") return value.replaceAll(secret, MASK);
  if (Array.isArray(value)) return value.map((item) => withoutSecret(item, secret));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [withoutSecret(key, secret), withoutSecret(item, secret)]),
  );
}
