// Requests that two readers could understand differently, or that are not for this server: refused before anything else
// looks at them. Node checks the framing of bodies itself.

import type { IncomingMessage } from "node:http";
import type { FastifyRequest } from "fastify";
import { GatewayError } from "../../core/errors.ts";

/** What is said once or not at all. Node would silently take the first. */
const SINGLE: ReadonlySet<string> = new Set(["host", "authorization", "content-type"]);
const HOST = /^[\w.~!$&'()*+,;=%:[\]-]*$/;
const VERSIONS: ReadonlySet<string> = new Set(["1.0", "1.1"]);

export function refusedRequest({ raw, url }: FastifyRequest): GatewayError | undefined {
  const reason = whyNot(raw, url);
  return reason === null ? refusedEncoding(raw) : new GatewayError("badRequest", reason);
}

function whyNot(raw: IncomingMessage, url: string): string | null {
  if (!VERSIONS.has(raw.httpVersion)) return "Speak HTTP/1.1.";
  const { host } = raw.headers;
  // Checked here and not by Node, whose own answer has no request id.
  if (host === undefined && raw.httpVersion === "1.1") return "A request needs a Host header.";
  if (host !== undefined && !HOST.test(host)) return "The Host header is not a host.";
  const repeated = repeatedHeader(raw.rawHeaders);
  if (repeated !== null) return `The header '${repeated}' is given more than once.`;
  return url.startsWith("/") || url === "*" ? null : "This server is no proxy: send the path only.";
}

function repeatedHeader(rawHeaders: readonly string[]): string | null {
  const seen: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = (rawHeaders[index] as string).toLowerCase();
    if (!SINGLE.has(name)) continue;
    if (seen.includes(name)) return name;
    seen.push(name);
  }
  return null;
}

/** Packed bodies are not unpacked: a few bytes could become any number. */
function refusedEncoding({ headers }: IncomingMessage): GatewayError | undefined {
  const content = headers["content-encoding"]?.toLowerCase() ?? "identity";
  const transfer = headers["transfer-encoding"]?.toLowerCase() ?? "chunked";
  if (content === "identity" && transfer === "chunked") return undefined;
  return new GatewayError("wrongMediaType", "Send the body without Content-Encoding.", {
    code: "unsupported_encoding",
  });
}

/**
 * The path of an address in full, when it is this server's own (RFC 9112, 3.2.2); else the target as it came. Letters that
 * were written as numbers for no reason are letters again (RFC 3986, 6.2.2.2): `/%761` must not pass who looks for `/v1`.
 */
export function pathOf({ url = "/", headers }: IncomingMessage): string {
  if (url.startsWith("/")) return url.includes("%") ? plainly(url) : url;
  const [, host, path] = /^https?:\/\/([^/?#]+)(\/.*)?$/i.exec(url) ?? [];
  return host !== undefined && host.toLowerCase() === headers.host?.toLowerCase() ? plainly(path ?? "/") : url;
}

/** The path only: a query is read by its own rules. */
function plainly(url: string): string {
  const end = url.search(/[?#]/);
  const path = end < 0 ? url : url.slice(0, end);
  const plain = path.replace(/%[2-7][0-9a-f]/gi, (code) => {
    const character = String.fromCharCode(Number.parseInt(code.slice(1), 16));
    return /[\w.~-]/.test(character) ? character : code;
  });
  return plain + url.slice(path.length);
}
