/** One POST to n8n. Says what came back, or what went wrong on the way; never throws, never holds the secret. */

export const USER_AGENT = "FR4M3W0RK-Tools/1.0";
const MAX_ANSWER_BYTES = 2_000_000;

/**
 * @returns `{ status, contentType, text }`, or `{ failure, detail }` with failure one of
 * `timeout`, `aborted`, `redirect`, `bad_secret`, `too_large`, `network`.
 */
export async function post({ url, body, header, secret, timeoutSeconds, signal }) {
  const deadline = AbortSignal.timeout(timeoutSeconds * 1000);
  const headers = { "Content-Type": "application/json", "User-Agent": USER_AGENT };
  if (secret) headers[header] = secret;
  if (!areHeaders(headers)) return { failure: "bad_secret", detail: "the secret cannot stand in a header" };
  try {
    const response = await fetch(url, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
      redirect: "error",
      signal: signal ? AbortSignal.any([signal, deadline]) : deadline,
    });
    return await read(response);
  } catch (error) {
    return { failure: failureOf(error, deadline, signal), detail: String(error?.cause?.code ?? error?.code ?? "") };
  }
}

/** A secret with a line break makes fetch throw an error that quotes it: look first, and quote nothing. */
function areHeaders(headers) {
  try {
    new Headers(headers);
    return true;
  } catch {
    return false;
  }
}

async function read(response) {
  const chunks = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > MAX_ANSWER_BYTES) return { failure: "too_large", detail: `over ${MAX_ANSWER_BYTES} bytes` };
    chunks.push(chunk);
  }
  return {
    status: response.status,
    contentType: response.headers.get("content-type") ?? "",
    text: Buffer.concat(chunks).toString("utf8"),
  };
}

function failureOf(error, deadline, signal) {
  if (signal?.aborted) return "aborted";
  if (deadline.aborted) return "timeout";
  return error?.cause?.message === "unexpected redirect" ? "redirect" : "network";
}
