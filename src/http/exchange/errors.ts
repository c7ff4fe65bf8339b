// Error responses, one writer for every path. Whatever was thrown becomes one of our errors, in the client's format.

import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { FastifyReply, FastifyRequest } from "fastify";
import { type ErrorKind, GatewayError } from "../../core/errors.ts";
import { USUAL } from "../../formats/registry.ts";
import * as TEXT from "../text.ts";
import { closeGently } from "./disconnect.ts";
import { errorPage, wantsPage } from "./error-page.ts";
import { newRequestId, requestIdHeaders } from "./request-head.ts";

const FRAMEWORK_ERRORS: Readonly<Record<string, { kind: ErrorKind; message: string }>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: { kind: "tooLarge", message: TEXT.bodyTooLarge },
  FST_ERR_CTP_INVALID_MEDIA_TYPE: { kind: "wrongMediaType", message: TEXT.sendJson },
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: { kind: "badRequest", message: TEXT.wrongLength },
  FST_ERR_BAD_URL: { kind: "badRequest", message: TEXT.invalidPath },
};

export function toGatewayError(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  const { code = "", statusCode = 500 } = (error ?? {}) as { code?: string; statusCode?: number };
  const known = FRAMEWORK_ERRORS[code];
  if (known !== undefined) return new GatewayError(known.kind, known.message, { cause: error });
  if (statusCode >= 400 && statusCode < 500) {
    return new GatewayError("badRequest", TEXT.unreadable, { cause: error });
  }
  if (statusCode === 503) {
    return new GatewayError("unavailable", TEXT.shuttingDown, { retryAfterSeconds: 1, cause: error });
  }
  return new GatewayError("internal", TEXT.internal, {
    cause: error,
  });
}

/** The same request would get the same error. Official clients read the header; some would otherwise retry for minutes. */
const FINAL_STATUSES: ReadonlySet<number> = new Set([400, 401, 402, 404, 405, 413, 415, 422, 508]);

export function sendError(error: GatewayError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { retryAfterSeconds, headers } = error.details;
  const format = request.clientFormat ?? USUAL;
  // If this response ends the connection, the client reads it although it is still sending.
  if (!request.raw.complete) closeGently(request.socket);
  reply.headers(requestIdHeaders(request.id, format));
  if (retryAfterSeconds !== undefined) reply.header("retry-after", String(retryAfterSeconds));
  else if (FINAL_STATUSES.has(error.status)) reply.header("x-should-retry", "false");
  if (headers !== undefined) reply.headers(headers);
  reply.code(error.status);
  if (wantsPage(request)) return reply.type("text/html; charset=utf-8").send(errorPage(error, request.id));
  return reply.type("application/json; charset=utf-8").send(JSON.stringify(format.writeError(error, request.id)));
}

function malformedBy(code: string | undefined, headersMaxBytes: number): GatewayError {
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return new GatewayError("tooSlow", TEXT.requestTooSlow);
  if (code !== "HPE_HEADER_OVERFLOW") return new GatewayError("badRequest", TEXT.notHttp);
  const message = TEXT.headersTooLong(headersMaxBytes / 1024);
  return new GatewayError("headersTooLarge", message, { code: "headers_too_large" });
}

/** Responds to bytes that are not HTTP. They never reach a route, and still get a request id and our error shape. */
export function respondToMalformedHttp(
  error: Error & { code?: string },
  socket: Socket,
  headersMaxBytes: number,
): void {
  if (!socket.writable) {
    socket.destroy(error);
    return;
  }
  const known = malformedBy(error.code, headersMaxBytes);
  const { status } = known;
  const requestId = newRequestId();
  const body = JSON.stringify(USUAL.writeError(known, requestId));
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nx-request-id: ${requestId}\r\ncontent-type: application/json\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
}
