// The head of a request: its id, its path, and the heads that are refused. Two readers could understand those differently,
// or they are not meant for this server. Node itself checks the framing of bodies. Addresses as Google's clients write them
// get one form of the path, and a key in the query moves into its header, so that no log line, trace or error can show it.

import type { IncomingMessage } from "node:http";
import type { FastifyRequest } from "fastify";
import { GatewayError } from "../../core/errors.ts";
import { timeInHex } from "../../core/requests/time-text.ts";
import type { ClientEnd } from "../../formats/format.ts";
import { randomHex } from "../../telemetry/trace-context.ts";
import * as TEXT from "../text.ts";

/** An id of the caller's own is taken if it is short and plain: it ends up in logs and headers. */
const PLAIN_ID = /^[A-Za-z0-9_.=-]{1,128}$/;
/** An id to look a request up by. A caller chooses X-Request-Id, so more characters are allowed than in our own ids. */
export const REQUEST_ID = /^[\w.=-]{1,200}$/;
/** Digits of the time in milliseconds; one more in the year 2527. */
const TIME_DIGITS = 11;
const RANDOM_BYTES = 7;
const RANDOM_DIGITS = 13;

export function requestIdOf(request: Pick<IncomingMessage, "headers">): string {
  const given = request.headers["x-request-id"];
  return typeof given === "string" && PLAIN_ID.test(given) ? given : newRequestId();
}

/** Under our own name, and under the one that clients of the format look for. */
export function requestIdHeaders(id: string, { habits }: Pick<ClientEnd, "habits">): Record<string, string> {
  const { requestIdHeader } = habits;
  return requestIdHeader === null ? { "x-request-id": id } : { "x-request-id": id, [requestIdHeader]: id };
}

/**
 * Returns an id that begins with the time, so that the log's index of ids grows at its end. Random ids would write a
 * page for each record.
 */
export function newRequestId(): string {
  const time = timeInHex(Date.now()).padStart(TIME_DIGITS, "0");
  return `req_${time}${randomHex(RANDOM_BYTES).slice(-RANDOM_DIGITS)}`;
}

/**
 * The path of a request. An absolute address is reduced to its path if it is this server's own (RFC 9112, 3.2.2).
 * Needless percent-encoding is undone (RFC 3986, 6.2.2.2): `/%761` must not slip past a check for `/v1`.
 */
export function pathOf({ url = "/", headers }: IncomingMessage): string {
  if (url.startsWith("/")) return url.includes("%") ? decodePlain(url) : url;
  const [, host, path] = /^https?:\/\/([^/?#]+)(\/.*)?$/i.exec(url) ?? [];
  return host !== undefined && host.toLowerCase() === headers.host?.toLowerCase() ? decodePlain(path ?? "/") : url;
}

/** Decodes the path only: a query is read by its own rules. */
function decodePlain(url: string): string {
  const end = url.search(/[?#]/);
  const path = end < 0 ? url : url.slice(0, end);
  const plain = path.replace(/%[2-7][0-9a-f]/gi, (code) => {
    const character = String.fromCharCode(Number.parseInt(code.slice(1), 16));
    return /[\w.~-]/.test(character) ? character : code;
  });
  return plain + url.slice(path.length);
}

/** Headers that may be given once only. Node would silently take the first. */
const SINGLE_HEADERS: ReadonlySet<string> = new Set(["host", "authorization", "content-type"]);
const SINGLE_LENGTHS: ReadonlySet<number> = new Set([...SINGLE_HEADERS].map(({ length }) => length));
const HOST = /^[\w.~!$&'()*+,;=%:[\]-]*$/;
const VERSIONS: ReadonlySet<string> = new Set(["1.0", "1.1"]);

/** The error for a head that is refused, before anything else looks at the request. */
export function headError({ raw, url }: FastifyRequest): GatewayError | undefined {
  const problem = headProblem(raw, url);
  return problem === null ? encodingError(raw) : new GatewayError("badRequest", problem);
}

function headProblem(raw: IncomingMessage, url: string): string | null {
  if (!VERSIONS.has(raw.httpVersion)) return TEXT.wrongProtocol;
  const { host } = raw.headers;
  // Checked here and not by Node, whose own response has no request id.
  if (host === undefined && raw.httpVersion === "1.1") return TEXT.hostMissing;
  if (host !== undefined && !HOST.test(host)) return TEXT.hostInvalid;
  const repeated = repeatedHeader(raw.rawHeaders);
  if (repeated !== null) return TEXT.headerTwice(repeated);
  return url.startsWith("/") || url === "*" ? null : TEXT.noProxy;
}

function repeatedHeader(rawHeaders: readonly string[]): string | null {
  const seen: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const given = rawHeaders[index] as string;
    if (!SINGLE_LENGTHS.has(given.length)) continue;
    const name = given.toLowerCase();
    if (!SINGLE_HEADERS.has(name)) continue;
    if (seen.includes(name)) return name;
    seen.push(name);
  }
  return null;
}

/** Compressed bodies are not decompressed: a few bytes could become any number. */
function encodingError({ headers }: IncomingMessage): GatewayError | undefined {
  const content = headers["content-encoding"]?.toLowerCase() ?? "identity";
  const transfer = headers["transfer-encoding"]?.toLowerCase() ?? "chunked";
  if (content === "identity" && transfer === "chunked") return undefined;
  return new GatewayError("wrongMediaType", TEXT.noEncoding, {
    code: "unsupported_encoding",
  });
}

type GoogleRequest = Pick<IncomingMessage, "url" | "headers">;

/** Paths whose query may hold a key: all that Gemini's clients call. */
const GOOGLE_PATH = /^\/+v1(?:beta\b|\/+models\b)/;
const KEY_HEADER = "x-goog-api-key";
const METHOD =
  /(?::|%3A)(generateContent|streamGenerateContent|countTokens|batchGenerateContent|asyncBatchEmbedContent)\/*$/i;
/** The versions that clients choose, also after the `/v1` of a base URL. */
const VERSION = /^(?:\/+v1(?:alpha|beta1?)?)+\/+/;
/** Paths of Google's clients since their third release. Others have some of them too, so a header has to tell. */
const FIRST_VERSION = /^\/+((?:upload\/+)?)v1\/+(?=(?:models|files|batches|cachedContents)(?:[/?]|$))/;
/** Prefixes of a model's name, the first two at Vertex AI. */
const PREFIXES = [/^projects\/[^/]+\/locations\/[^/]+\//, /^publishers\/[^/]+\//, /^(?:models\/+)+/];

/** Claude at Vertex AI, also where a base URL lacks the version. */
const CLAUDE =
  /^(?:\/+v1(?:beta1)?)*\/+(?:projects\/[^/]+\/locations\/[^/]+\/)?publishers\/anthropic\/models\/([^/?]+?)(?::|%3A)(rawPredict|streamRawPredict)\/*$/i;
/** The model of Vertex AI that counts tokens. */
const COUNTING = "count-tokens";

/** Changes path and headers in place. Requests of other clients stay as they are. */
export function normaliseGoogleUrl(request: GoogleRequest): void {
  const { url: given = "/", headers } = request;
  const url = headers[KEY_HEADER] === undefined ? given : given.replace(FIRST_VERSION, "/$1v1beta/");
  request.url = url.includes(":") || url.includes("%3") ? normalisePath(url) : url;
  if (url.includes("?") && GOOGLE_PATH.test(request.url as string)) moveKey(request);
}

/** Names of models may have slashes, which are encoded here: the router takes one segment. */
function normalisePath(url: string): string {
  const end = url.indexOf("?");
  const path = end < 0 ? url : url.slice(0, end);
  const [, claude, call] = CLAUDE.exec(path) ?? [];
  if (claude === COUNTING) return `/v1/messages/count_tokens${url.slice(path.length)}`;
  if (claude !== undefined) return `/v1/publishers/anthropic/models/${claude}:${call}${url.slice(path.length)}`;
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
