// Compression of large JSON responses to reads. Writes stay as they are: only they return keys and one-time links, and a
// compressed length can give away a secret that stands beside text of the caller.

import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import type { FastifyInstance, FastifyRequest } from "fastify";

const deflate = { br: promisify(brotliCompress), gzip: promisify(gzip) };
/** One packet holds as much, so less would arrive no sooner. */
const SIZE_MIN_BYTES = 1_400;
/** Fast settings: lists are made for one reader, and the higher ones take ten times as long. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };
const GZIP = { level: 4 };

/** For every route of this scope. Streams and files pass unchanged. */
export function compressJson(server: FastifyInstance): void {
  server.addHook("onSend", async (request, reply, payload) => {
    const isRead = request.method === "GET" || request.method === "HEAD";
    if (!isRead || typeof payload !== "string" || reply.getHeader("content-encoding") !== undefined) return payload;
    if (!String(reply.getHeader("content-type")).startsWith("application/json")) return payload;
    const vary = reply.getHeader("vary");
    reply.header("vary", vary === undefined ? "accept-encoding" : `${vary}, accept-encoding`);
    const encoding = encodingOf(request);
    if (encoding === null || Buffer.byteLength(payload) < SIZE_MIN_BYTES) return payload;
    reply.header("content-encoding", encoding).removeHeader("content-length");
    return encoding === "br" ? deflate.br(payload, BROTLI) : deflate.gzip(payload, GZIP);
  });
}

/** The better of the two that the client takes. A weight of zero refuses one. */
function encodingOf({ headers }: FastifyRequest): "br" | "gzip" | null {
  const accepted = (headers["accept-encoding"] ?? "")
    .toString()
    .toLowerCase()
    .split(",")
    .filter((each) => !/;\s*q=0(?:\.0*)?\s*$/.test(each))
    .map((each) => each.split(";", 1)[0]?.trim());
  return accepted.includes("br") ? "br" : accepted.includes("gzip") ? "gzip" : null;
}
