// Addresses as Google's clients write them, before anything else sees them. One form of the path is left, and a key in
// the query moves into its header, so that no log line, trace or error can show it.

import type { IncomingMessage } from "node:http";

type GoogleRequest = Pick<IncomingMessage, "url" | "headers">;

/** Where the query may hold a key: all that Gemini's clients call. */
const GOOGLE_PATH = /^\/+v1(?:beta\b|\/+models\b)/;
const KEY_HEADER = "x-goog-api-key";
const METHOD = /(?::|%3A)(generateContent|streamGenerateContent|countTokens)\/*$/i;
/** The versions that clients choose, also after the `/v1` of a base URL. */
const VERSION = /^(?:\/+v1(?:alpha|beta1?)?)+\/+/;
/** What stands before a model's name, the first two at Vertex AI. */
const PREFIXES = [/^projects\/[^/]+\/locations\/[^/]+\//, /^publishers\/[^/]+\//, /^(?:models\/+)+/];

/** Changes path and headers in place. Requests of other clients stay as they are. */
export function normaliseGoogleUrl(request: GoogleRequest): void {
  const { url = "/" } = request;
  if (url.includes(":") || url.includes("%3")) request.url = normalisePath(url);
  if (url.includes("?") && GOOGLE_PATH.test(request.url as string)) moveKey(request);
}

/** Names of models may have slashes, which are encoded here: the router takes one segment. */
function normalisePath(url: string): string {
  const end = url.indexOf("?");
  const path = end < 0 ? url : url.slice(0, end);
  const [ending, method] = METHOD.exec(path) ?? [];
  if (ending === undefined || !VERSION.test(path)) return url;
  const named = path.slice(0, -ending.length).replace(VERSION, "");
  const model = PREFIXES.reduce((name, prefix) => name.replace(prefix, ""), named);
  return `/v1beta/models/${model.replaceAll("/", "%2F")}:${method}${url.slice(path.length)}`;
}

function moveKey(request: GoogleRequest): void {
  const { url = "/", headers } = request;
  const start = url.indexOf("?");
  const pairs = url.slice(start + 1).split("&");
  const others = pairs.filter((pair) => keyIn(pair) === null);
  if (others.length === pairs.length) return;
  request.url = others.length === 0 ? url.slice(0, start) : `${url.slice(0, start)}?${others.join("&")}`;
  // Keys that differ are joined, as Node joins a repeated header. No key looks like that.
  const given = [headers[KEY_HEADER] ?? [], ...pairs.map((pair) => keyIn(pair) ?? [])].flat();
  headers[KEY_HEADER] = [...new Set(given)].join(", ");
}

function keyIn(pair: string): string | null {
  return new URLSearchParams(pair).get("key");
}
