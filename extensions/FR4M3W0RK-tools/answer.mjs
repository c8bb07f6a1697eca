/**
 * What the webhook's answer proves, as the observation that the model gets.
 *
 * Success needs all of it: status 200, JSON, `ok: true`, `data`. Every failure names the boundary at which it
 * was seen: call, route, request, header, active, google or shape.
 */

const EXCERPT = 500;
const UNKNOWN_EFFECT = "It may have been done all the same: read back before you try again.";

const FAILURES = {
  timeout: `No answer in time. ${UNKNOWN_EFFECT}`,
  aborted: `The call was aborted. ${UNKNOWN_EFFECT}`,
  network: `The connection failed. ${UNKNOWN_EFFECT}`,
  too_large: "The answer is larger than this tool reads.",
  redirect: "Something in front of n8n answered with a redirect, which is not followed.",
  bad_secret: "The configured secret cannot be sent as a header.",
};
const BOUNDARY_OF_FAILURE = { too_large: "shape", bad_secret: "header" };
const BOUNDARY_OF_CODE = { invalid_args: "call", google_error: "google", workflow_error: "shape" };

export function failed(boundary, error, message, more = {}) {
  return { ok: false, boundary, error, message, ...more };
}

/** The observation for what `post` returned. `mask` hides the secret: before a text is cut, which may cut it in two. */
export function observe(exchange, path, mask = (value) => value) {
  if (exchange.failure) {
    const boundary = BOUNDARY_OF_FAILURE[exchange.failure] ?? "request";
    return failed(boundary, exchange.failure, FAILURES[exchange.failure], { path, detail: exchange.detail });
  }
  const { status } = exchange;
  const body = parse(exchange.text);
  if (status !== 200) return refused(exchange, body, path, mask);
  if (body === undefined || !isJson(exchange.contentType)) return notJson(exchange, path, mask);
  if (body?.ok === true && isObject(body.data)) {
    return { ok: true, status, path, data: body.data, ...(body.execution && { execution: body.execution }) };
  }
  return reported(body, { status, path, body: excerpt(exchange.text, body, mask) }, mask);
}

function refused({ status, text }, body, path, mask) {
  const boundary = BOUNDARY_OF_CODE[body?.error?.code] ?? boundaryOfStatus(status, body);
  const message = messageIn(body, mask) ?? `HTTP status ${status}.`;
  return failed(boundary, "http_status", message, { status, path, body: excerpt(text, body, mask) });
}

/** 403: the header. 404 in n8n's own words: no such webhook. 500 in JSON: n8n ran and failed. Else: on the way. */
function boundaryOfStatus(status, body) {
  if (status < 300) return "shape";
  if (status === 401 || status === 403) return "header";
  if (status === 404 && /\bregistered\b/.test(String(body?.message))) return "active";
  if (status === 500 && isObject(body)) return "shape";
  return "request";
}

function notJson({ status, contentType, text }, path, mask) {
  const isPage = /\bhtml\b/i.test(contentType);
  const message = text === "" ? `The answer is empty. ${UNKNOWN_EFFECT}` : "The answer is no JSON.";
  return failed(isPage ? "request" : "shape", "not_json", message, { status, path, body: excerpt(text, undefined, mask) });
}

function reported(body, more, mask) {
  if (body?.ok === false) {
    const boundary = BOUNDARY_OF_CODE[body.error?.code] ?? "shape";
    const message = messageIn(body, mask) ?? "The workflow says that it failed.";
    return failed(boundary, "webhook_reported_failure", message, more);
  }
  const message = `The answer has no ok: true with data, so nothing is confirmed. ${UNKNOWN_EFFECT}`;
  return failed("shape", "unexpected_answer", message, more);
}

function messageIn(body, mask) {
  const message = body?.error?.message;
  return typeof message === "string" && message !== "" ? mask(message).slice(0, EXCERPT) : undefined;
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const isJson = (contentType) => /^application\/json\b/i.test(contentType);
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const excerpt = (text, body, mask) =>
  body !== undefined && text.length <= EXCERPT ? mask(body) : mask(text).slice(0, EXCERPT);
