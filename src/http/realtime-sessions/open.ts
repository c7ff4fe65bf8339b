// Opens realtime sessions: the key, the model and the first reservation are checked before the protocol changes, and the
// provider has answered by then. A client without credits gets an error of HTTP, and no session.

import type { IncomingMessage, Server } from "node:http";
import type { Socket } from "node:net";
import { retirementHeaders } from "../../catalog/retirement.ts";
import { GatewayError } from "../../core/errors.ts";
import type { ClientHeaders } from "../../formats/format.ts";
import { realtime } from "../../formats/realtime/format.ts";
import { verifiedAgain } from "../../gateway/admit.ts";
import type { Caller } from "../../gateway/call.ts";
import { type Connected, connectSession } from "../../gateway/realtime/connect.ts";
import { beginTurn, type ResponseTurn } from "../../gateway/realtime/turn.ts";
import type { CallContext } from "../context.ts";
import type { BodyRoom } from "../exchange/body.ts";
import { toGatewayError } from "../exchange/errors.ts";
import { newRequestId, pathOf, requestIdOf } from "../exchange/request-head.ts";
import { SocketConnection } from "../sockets/connection.ts";
import { accept, handshakeProblem, type Refusal, refuse, type Upgrading } from "../sockets/handshake.ts";
import { checkKey } from "../sockets/key-check.ts";
import { turnHeaders } from "../sockets/session.ts";
import * as TEXT from "../text.ts";
import { type OpenedSecret, openSecret, SECRET_PREFIX } from "../v1/realtime/secrets.ts";
import { type BooksContext, createBooks } from "./books.ts";
import { RealtimeSession } from "./session.ts";

type RealtimeContext = BooksContext & Pick<CallContext, "settings" | "openCalls" | "state">;

interface RealtimeOpener {
  readonly server: Server;
  readonly edge: RealtimeContext & { readonly isClosing: () => boolean };
  readonly room: BodyRoom;
  readonly sessions: Set<{ leave(code: number, reason: string): void }>;
  readonly count: (keyId: string, socket: Socket) => Refusal | null;
}

/** Browsers cannot send headers with a WebSocket, so their key is the name of a protocol. */
const KEY_PROTOCOL = "openai-insecure-api-key.";
/** The protocol that is spoken. Browsers insist that one of theirs is chosen. */
const PROTOCOL = "realtime";
const PING_MS = 30_000;
/** A key that is revoked ends its sessions within this time. */
const CHECK_MS = 1_000;

export function createRealtimeOpener(opener: RealtimeOpener): (upgrading: Upgrading) => void {
  return (upgrading) => {
    const { request, socket } = upgrading;
    socket.on("error", () => undefined);
    const invalid = handshakeProblem(request);
    if (invalid !== null) return refuse(socket, invalid);
    const sessionId = requestIdOf(request);
    open(upgrading, sessionId, opener).catch((error: unknown) => {
      const known = toGatewayError(error);
      const { log } = opener.edge;
      if (known.status === 500)
        log.error({ event: "realtime.failed", sessionId, err: error }, "session was not opened");
      refuse(socket, refusalOf(known, sessionId));
    });
  };
}

async function open(upgrading: Upgrading, sessionId: string, opener: RealtimeOpener): Promise<void> {
  const { request, socket } = upgrading;
  const { edge, server, count } = opener;
  const given = await credentialsOf(request, edge);
  const checked = await checkKey(server, { socket, ...given });
  if (checked === null) return;
  const problem = "refusal" in checked ? checked.refusal : count(checked.keyId, socket);
  if (problem !== null || "refusal" in checked) return problem === null ? undefined : refuse(socket, problem);
  const { key, profile, teams } = verifiedAgain(checked.keyHash, edge.keys);
  const caller = { key, profile, teams };
  const model = modelOf(request, given.secret);
  const services = edge.services();
  const first = await beginTurn({ requestId: newRequestId(), caller, model, host: null }, services);
  const connected = await connectOr(first, { sessionId }, services);
  if (socket.destroyed) {
    connected.socket.destroy();
    return first.release();
  }
  const headers = { ...checked.headers, ...headersOf(request, { sessionId, first, connected }) };
  accept(upgrading, headers);
  serve(upgrading, { sessionId, caller, model, first, connected, secret: given.secret }, opener);
}

async function connectOr(
  first: ResponseTurn,
  { sessionId }: { readonly sessionId: string },
  services: ReturnType<RealtimeContext["services"]>,
): Promise<Connected> {
  try {
    return await connectSession(first.reservation, { sessionId }, services);
  } catch (error) {
    await first.release();
    throw error;
  }
}

interface SocketCredentials {
  readonly headers: ReturnType<typeof turnHeaders>;
  readonly keyHash?: string;
  readonly secret: OpenedSecret | null;
}

async function credentialsOf(request: IncomingMessage, edge: RealtimeContext): Promise<SocketCredentials> {
  const headers = turnHeaders(request.headers);
  const named = protocolsOf(request)
    .find((name) => name.startsWith(KEY_PROTOCOL))
    ?.slice(KEY_PROTOCOL.length);
  const authorization = request.headers.authorization ?? (named === undefined ? undefined : `Bearer ${named}`);
  const text = authorization?.replace(/^Bearer +/i, "").trim() ?? "";
  if (!text.startsWith(SECRET_PREFIX)) return { headers: { ...headers, authorization }, secret: null };
  const secret = await openSecret(text, edge);
  return { headers, keyHash: secret.keyHash, secret };
}

function protocolsOf({ headers }: IncomingMessage): readonly string[] {
  return (headers["sec-websocket-protocol"] ?? "").split(",").map((name) => name.trim());
}

/** A client secret is for one model. */
function modelOf(request: IncomingMessage, secret: OpenedSecret | null): string {
  const query = new URLSearchParams(pathOf(request).split("?")[1] ?? "");
  if (query.has("call_id"))
    throw new GatewayError("badRequest", TEXT.noCalls, { code: "not_supported", param: "call_id" });
  const asked = query.get("model") ?? query.get("deployment");
  if (secret !== null && asked !== null && asked !== secret.model) {
    const message = TEXT.secretForModel(secret.model);
    throw new GatewayError("forbidden", message, { code: "wrong_model", param: "model" });
  }
  const model = secret?.model ?? asked;
  if (model === null)
    throw new GatewayError("badRequest", TEXT.modelInQuery, { code: "model_required", param: "model" });
  return model;
}

interface Opened {
  readonly sessionId: string;
  readonly first: ResponseTurn;
  readonly connected: Connected;
}

function headersOf(request: IncomingMessage, { sessionId, first, connected }: Opened): Refusal["headers"] {
  const { retirement } = first.reservation;
  return {
    "x-request-id": sessionId,
    "x-service-model": connected.model.id,
    "x-service-host": connected.model.host,
    "sec-websocket-protocol": protocolsOf(request).includes(PROTOCOL) ? PROTOCOL : undefined,
    ...(retirement === null ? {} : retirementHeaders(retirement)),
  };
}

interface ServedSession extends Opened {
  readonly caller: Caller;
  readonly model: string;
  readonly secret: OpenedSecret | null;
}

function serve({ request, socket, head }: Upgrading, served: ServedSession, opener: RealtimeOpener): void {
  const { sessionId, caller, model, first, connected, secret } = served;
  const { edge, room, sessions } = opener;
  const { bodyLimitBytes, bodyGraceMs, writeStallMs, socketAgeMs, socketIdleMs } = edge.settings.server;
  const limits = { messageBytes: bodyLimitBytes, stallMs: writeStallMs, pingMs: PING_MS, graceMs: bodyGraceMs };
  const { id: keyId, hash } = caller.key;
  const books = createBooks(
    { sessionId, caller, model, host: connected.model, headers: request.headers as ClientHeaders },
    edge,
  );
  const checks = setInterval(() => session.check(), CHECK_MS).unref();
  const session = new RealtimeSession({
    ...{ model: connected.model, keyId: connected.keyId, first, books, openCalls: edge.openCalls },
    opening: secret?.session === undefined ? null : JSON.stringify({ type: "session.update", session: secret.session }),
    requireKey: () => void verifiedAgain(hash, edge.keys),
    writeError: (error) => realtime.writeError(error, sessionId),
    ageMs: socketAgeMs,
    idleMs: socketIdleMs,
    onEnd(end) {
      clearInterval(checks);
      sessions.delete(session);
      const { id, provider } = connected.model;
      edge.log.info({ event: "realtime.closed", sessionId, keyId, model: id, provider, ...end }, "session is over");
    },
  });
  const shared = { limits, charge: (bytes: number) => room.tryTake(keyId, bytes), isRelayed: true };
  const client = new SocketConnection(socket, {
    ...shared,
    events: { message: (bytes, charge) => session.takeFromClient(bytes, charge), closed: () => session.clientGone() },
  });
  const provider = new SocketConnection(connected.socket, {
    ...shared,
    isClient: true,
    events: {
      message: (bytes, charge) => session.takeFromProvider(bytes, charge),
      closed: () => session.providerGone(),
    },
  });
  sessions.add(session);
  session.begin({ client, provider });
  provider.begin(Buffer.alloc(0));
  client.begin(head);
  // The others have been told already.
  if (edge.isClosing()) session.leave(SHUTTING_DOWN_CODE, TEXT.sessionShutDown);
}

const SHUTTING_DOWN_CODE = 1001;

function refusalOf(error: GatewayError, sessionId: string): Refusal {
  const { retryAfterSeconds, headers } = error.details;
  const retry =
    retryAfterSeconds === undefined ? { "x-should-retry": "false" } : { "retry-after": String(retryAfterSeconds) };
  return {
    status: error.status,
    headers: { "content-type": "application/json; charset=utf-8", "x-request-id": sessionId, ...retry, ...headers },
    body: JSON.stringify(realtime.writeError(error, sessionId)),
  };
}
