// The WebSocket mode of Responses: every `response.create` is a request of its own, which passes through the server inside
// the process. Its events go to the client as messages. One response runs at a time, and the next ones wait.

import type { ClientRequest, IncomingMessage, OutgoingHttpHeaders } from "node:http";
import { GatewayError } from "../../core/errors.ts";
import { isObject, type JsonObject } from "../../formats/json/fields.ts";
import { parseObject, scanBody } from "../../formats/json/parse.ts";
import { spliceFields } from "../../formats/json/splice.ts";
import { type JsonSource, rawValue } from "../../formats/scan/scan.ts";
import { createSseReader, type SseEvent } from "../../formats/sse/reader.ts";
import type { Holder } from "../../gateway/state/held.ts";
import type { BodyCharge } from "../exchange/body.ts";
import * as TEXT from "../text.ts";
import type { SocketConnection } from "./connection.ts";
import { CLOSE } from "./frames.ts";

export interface SessionTerms {
  readonly connection: SocketConnection;
  readonly holder: Holder;
  /** Sends the request of a turn. */
  readonly begin: (body: Buffer) => ClientRequest;
  /** The most that a connection may be open, and the most that it may be idle. */
  readonly ageMs: number;
  readonly idleMs: number;
  readonly writeError: (error: GatewayError) => JsonObject;
}

interface WaitingTurn {
  readonly body: Buffer;
  readonly charge: BodyCharge | null;
}

/** Turns that may wait behind the running one. */
const WAITING_MAX = 16;
/** Messages that are no turns cost a client nothing, so it may send only a few. */
const REFUSED_MAX = 32;
/** Headers of an error that an HTTP client reads. */
const ERROR_HEADERS = ["retry-after", "x-should-retry", "x-request-id"];
const SERVER_ERROR = 500;
const UNAUTHENTICATED = 401;

export class ResponsesSession {
  readonly #terms: SessionTerms;
  readonly #waiting: WaitingTurn[] = [];
  #running: ClientRequest | null = null;
  #refused = 0;
  #isBusy = false;
  #isOld = false;
  #isLeaving: { readonly code: number; readonly reason: string } | null = null;
  readonly #age: NodeJS.Timeout;
  #idle: NodeJS.Timeout;

  constructor(terms: SessionTerms) {
    this.#terms = terms;
    this.#age = setTimeout(() => this.#tooOld(), terms.ageMs).unref();
    this.#idle = this.#watchIdle();
  }

  /** A message of the client. */
  take(body: Buffer, charge: BodyCharge | null): void {
    if (this.#isLeaving !== null) {
      charge?.release();
      return;
    }
    if (this.#waiting.length >= WAITING_MAX) {
      charge?.release();
      this.leave(CLOSE.busy, TEXT.tooManyTurns(WAITING_MAX));
      return;
    }
    this.#waiting.push({ body, charge });
    void this.#run();
  }

  /** The connection is gone: the running turn ends as if its client had disconnected. */
  over(): void {
    clearTimeout(this.#age);
    clearTimeout(this.#idle);
    for (const { charge } of this.#waiting.splice(0)) charge?.release();
    this.#running?.destroy();
  }

  /** Ends the connection after the running turn; those that wait are not begun. */
  leave(code: number, reason: string): void {
    this.#isLeaving = { code, reason };
    for (const { charge } of this.#waiting.splice(0)) charge?.release();
    if (!this.#isBusy) this.#terms.connection.close(code, reason);
  }

  async #run(): Promise<void> {
    if (this.#isBusy) return;
    this.#isBusy = true;
    clearTimeout(this.#idle);
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#next()) {
      // The request charges its body itself.
      next.charge?.release();
      await this.#turn(next.body);
      this.#running = null;
    }
    this.#isBusy = false;
    if (this.#isOld) this.#endOfAge();
    else if (this.#isLeaving !== null) this.#terms.connection.close(this.#isLeaving.code, this.#isLeaving.reason);
    else if (this.#terms.connection.isOpen) this.#idle = this.#watchIdle();
  }

  /** Nothing more is begun on a connection that ends. */
  #next(): WaitingTurn | undefined {
    return this.#isOld || !this.#terms.connection.isOpen ? undefined : this.#waiting.shift();
  }

  async #turn(message: Buffer): Promise<void> {
    const turn = this.#read(message);
    if (turn instanceof GatewayError) {
      await this.#refuse(turn);
      this.#refused += 1;
      if (this.#refused > REFUSED_MAX) this.leave(CLOSE.policy, "too many messages that are no turns");
      return;
    }
    const { previousId } = turn;
    const isFine = await new Promise<boolean>((resolve) => {
      const request = this.#terms.begin(turn.body);
      this.#running = request;
      // Destroyed by us, or by a server that takes no more connections.
      request.on("error", () => this.#broken().then(resolve));
      request.on("response", (response: IncomingMessage) => {
        this.#answer(response).then(resolve, () => this.#broken().then(resolve));
      });
    });
    if (!isFine && previousId !== null) this.#terms.holder.drop(previousId);
  }

  async #broken(): Promise<false> {
    const error = { type: "api_error", code: "server_error", message: TEXT.turnInterrupted, param: null };
    await this.#sendError(SERVER_ERROR, { error });
    return false;
  }

  /** Returns an error for a message that asks for nothing that can be done. */
  #read(message: Buffer): { readonly body: Buffer; readonly previousId: string | null } | GatewayError {
    try {
      const { source } = scanBody(message);
      const type = fieldOf(source, "type");
      if (type !== "response.create") throw unknownEvent(type);
      if ((fieldOf(source, "stream_id") ?? null) !== null) throw notHere("stream_id", TEXT.noLanes);
      if (fieldOf(source, "background") === true) throw notHere("background", TEXT.noBackgroundHere);
      const isWarmUp = fieldOf(source, "generate") === false;
      const previousId = fieldOf(source, "previous_response_id");
      const changes = new Map([
        ["type", null],
        ["background", null],
        ["stream", "true"],
        ["generate", isWarmUp ? "false" : null],
      ]);
      return { body: spliceFields(source, changes), previousId: typeof previousId === "string" ? previousId : null };
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      return error;
    }
  }

  /** Resolves to false when the turn failed. */
  async #answer(response: IncomingMessage): Promise<boolean> {
    const status = response.statusCode ?? SERVER_ERROR;
    if (status !== 200) {
      const pieces: Buffer[] = [];
      for await (const piece of response) pieces.push(piece as Buffer);
      const told = ERROR_HEADERS.filter((name) => response.headers[name] !== undefined);
      const headers = Object.fromEntries(told.map((name) => [name, String(response.headers[name])]));
      await this.#sendError(status, { ...parseObject(Buffer.concat(pieces)), headers });
      // Without a valid key there is nothing more to say.
      if (status === UNAUTHENTICATED) this.leave(CLOSE.goingAway, "the key is not valid");
      return false;
    }
    const events = new EventRelay();
    const reader = createSseReader();
    for await (const chunk of response) await this.#sendAll(events.texts(reader.push(chunk as Buffer)));
    await this.#sendAll(events.texts(reader.end()));
    if (events.isOver) return !events.isFailed;
    if (events.error === null) return this.#broken();
    await this.#sendError(SERVER_ERROR, events.error);
    return false;
  }

  async #sendAll(texts: readonly string[]): Promise<void> {
    for (const text of texts) await this.#terms.connection.send(text);
  }

  #refuse(error: GatewayError): Promise<void> {
    return this.#sendError(error.status, this.#terms.writeError(error));
  }

  async #sendError(status: number, body: JsonObject): Promise<void> {
    const error = isObject(body.error) ? body.error : { code: "server_error", message: TEXT.turnInterrupted };
    const { headers } = body;
    await this.#terms.connection.send(JSON.stringify({ type: "error", status, error, headers }));
  }

  #watchIdle(): NodeJS.Timeout {
    return setTimeout(() => this.leave(CLOSE.normal, "idle for too long"), this.#terms.idleMs).unref();
  }

  #tooOld(): void {
    this.#isOld = true;
    if (!this.#isBusy) this.#endOfAge();
  }

  #endOfAge(): void {
    const message = TEXT.connectionTooOld(Math.round(this.#terms.ageMs / 60_000));
    void this.#refuse(new GatewayError("badRequest", message, { code: "websocket_connection_limit_reached" }));
    this.leave(CLOSE.normal, "open for too long");
  }
}

/** Events as messages. An error is followed by the failed response, which says the same: a turn has one end. */
class EventRelay {
  /** An error that nothing has followed yet. */
  error: JsonObject | null = null;
  isOver = false;
  isFailed = false;

  texts(events: readonly SseEvent[]): readonly string[] {
    return events.flatMap(({ event, data }) => this.#textsOf(event, data));
  }

  #textsOf(event: string | null, data: string): readonly string[] {
    const type = event ?? toType(data);
    if (type === "error") {
      this.error = parseObject(data);
      return [];
    }
    if (ENDS.has(type)) {
      this.isOver = true;
      this.isFailed = type === "response.failed";
    }
    return data === "[DONE]" ? [] : [data];
  }
}

const ENDS: ReadonlySet<string> = new Set(["response.completed", "response.incomplete", "response.failed"]);

function toType(data: string): string {
  return String(parseObject(data)?.type);
}

function fieldOf(source: JsonSource, name: string): unknown {
  const raw = rawValue(source, name);
  if (raw === null) return undefined;
  try {
    return JSON.parse(raw.toString("utf8"));
  } catch {
    // The request is refused for it.
    return undefined;
  }
}

function unknownEvent(type: unknown): GatewayError {
  return new GatewayError("badRequest", TEXT.unknownEvent(String(type)), { code: "unknown_event", param: "type" });
}

function notHere(param: string, message: string): GatewayError {
  return new GatewayError("badRequest", message, { code: "not_over_websocket", param });
}

/** Headers of the handshake that say something about each turn, and not about the connection. */
export function turnHeaders(headers: IncomingMessage["headers"]): OutgoingHttpHeaders {
  const kept = Object.entries(headers).filter(([name]) => !CONNECTION_HEADERS.has(name) && !name.startsWith("sec-"));
  return Object.fromEntries(kept);
}

/** Also those that would make all turns one: a request's id, and its repetition. */
const CONNECTION_HEADERS: ReadonlySet<string> = new Set([
  ...["connection", "upgrade", "keep-alive", "te", "trailer", "transfer-encoding", "proxy-connection", "expect"],
  ...["content-length", "content-type", "content-encoding", "accept-encoding", "accept"],
  ...["x-request-id", "idempotency-key"],
]);
