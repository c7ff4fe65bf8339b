// A realtime session: messages pass between client and provider as they are. Each response is reserved before the provider
// may begin it and charged before the client sees its end. The session ends when the next response is not covered.

import { Cancellation } from "../../core/cancellation.ts";
import type { Usage } from "../../core/chat.ts";
import { GatewayError } from "../../core/errors.ts";
import type { HostedModel } from "../../core/model.ts";
import { asksForResponse, readServerEvent, type ServerEvent } from "../../formats/realtime/events.ts";
import type { OpenCalls } from "../../gateway/open-calls.ts";
import type { ResponseTurn } from "../../gateway/realtime/turn.ts";
import type { BodyCharge } from "../exchange/body.ts";
import { toGatewayError } from "../exchange/errors.ts";
import type { SocketConnection } from "../sockets/connection.ts";
import { CLOSE } from "../sockets/frames.ts";
import * as TEXT from "../text.ts";
import type { ResponseEnd, SessionBooks } from "./books.ts";
import { Pump } from "./pump.ts";

export interface RealtimeTerms {
  readonly model: HostedModel;
  readonly keyId: string | undefined;
  /** Reserved before the session was opened. */
  readonly first: ResponseTurn;
  readonly books: SessionBooks;
  /** Sent to the provider before anything of the client; null for nothing. */
  readonly opening: string | null;
  readonly openCalls: Pick<OpenCalls, "begin">;
  /** Throws where the key does not open anything any more. */
  readonly requireKey: () => void;
  readonly writeError: (error: GatewayError) => object;
  readonly ageMs: number;
  readonly idleMs: number;
  /** Told once, when nothing of the session is left. */
  readonly onEnd: (end: SessionEnd) => void;
}

interface SessionEnd {
  readonly code: number;
  readonly reason: string;
  readonly responses: number;
  readonly durationMs: number;
}

interface Ends {
  readonly client: SocketConnection;
  readonly provider: SocketConnection;
}

/** A response that the provider has begun. */
interface Running {
  readonly turn: ResponseTurn;
  readonly startedAtMs: number;
  readonly beganAt: number;
  firstContentMs: number | null;
  messages: number;
  /** Says that the response is over; a stopping process waits for it. */
  readonly over: () => void;
}

/** A provider that was told to stop says within this time what it has used. */
const LINGER_MS = 2_000;

export class RealtimeSession {
  readonly #terms: RealtimeTerms;
  readonly #fromClient: Pump;
  readonly #fromProvider: Pump;
  /** Holds of responses that may begin. */
  readonly #free: ResponseTurn[];
  readonly #running = new Map<string, Running>();
  readonly #beganAt = performance.now();
  #ends: Ends | null = null;
  /** Responses that were asked for and have not begun. */
  #asked = 0;
  #responses = 0;
  #lastMessageAt = performance.now();
  #opening: string | null;
  #model: string | null = null;
  #transcriber: string | null = null;
  #end: { readonly code: number; readonly reason: string } | null = null;
  #isLeaving = false;
  #isCut = false;
  /** Resolves the wait for what still runs. */
  #quiet: (() => void) | null = null;

  constructor(terms: RealtimeTerms) {
    this.#terms = terms;
    this.#free = [terms.first];
    this.#opening = terms.opening;
    const failed = (error: unknown): void => this.#fail(toGatewayError(error), CLOSE.failed);
    const source = (): SocketConnection => this.#both.client;
    this.#fromClient = new Pump({ source, handle: (message) => this.#relayUp(message), failed });
    const handle = (message: Buffer): Promise<void> | null => this.#relayDown(message);
    this.#fromProvider = new Pump({ source: () => this.#both.provider, handle, failed });
  }

  begin(ends: Ends): void {
    this.#ends = ends;
  }

  takeFromClient(message: Buffer, charge: BodyCharge | null): void {
    this.#fromClient.take(message, charge);
  }

  takeFromProvider(message: Buffer, charge: BodyCharge | null): void {
    this.#fromProvider.take(message, charge);
  }

  clientGone(): void {
    void this.#finish(CLOSE.normal, TEXT.clientLeft);
  }

  providerGone(): void {
    this.#quiet?.();
    if (this.#end !== null) return;
    const code = this.#both.provider.closedWith;
    const error = new GatewayError("providersFailed", TEXT.providerLeft(code), { code: "provider_disconnected" });
    this.#fail(error, CLOSE.failed);
  }

  /** Looks at what changes while nothing is sent. */
  check(): void {
    if (this.#end !== null) return;
    const now = performance.now();
    const { ageMs, idleMs } = this.#terms;
    const isTooOld = now - this.#beganAt > ageMs;
    if (isTooOld || now - this.#lastMessageAt > idleMs) {
      this.#fail(isTooOld ? tooOld(ageMs) : idleTooLong(), CLOSE.normal);
      return;
    }
    try {
      this.#terms.requireKey();
    } catch (error) {
      this.#fail(toGatewayError(error), CLOSE.policy);
    }
  }

  /** Ends the session after the responses that run. */
  leave(code: number, reason: string): void {
    this.#isLeaving = true;
    if (this.#running.size > 0 || this.#end !== null) return;
    this.#fail(new GatewayError("unavailable", reason, { code: "shutting_down" }), code);
  }

  get #both(): Ends {
    if (this.#ends === null) throw new Error("the session has not begun");
    return this.#ends;
  }

  #relayUp(message: Buffer): Promise<void> | null {
    this.#lastMessageAt = performance.now();
    const asked = asksForResponse(message);
    if (asked !== null && !this.#isCovered()) return this.#askForMore(message, asked.eventId);
    if (asked !== null) this.#asked += 1;
    return this.#both.provider.send(message);
  }

  #isCovered(): boolean {
    return this.#free.length > this.#asked;
  }

  /** Several responses may run at once, each with a hold of its own. One that is not covered is not asked for. */
  async #askForMore(message: Buffer, eventId: string | null): Promise<void> {
    try {
      this.#free.push(await this.#terms.books.reserve());
      this.#asked += 1;
      await this.#both.provider.send(message);
    } catch (error) {
      await this.#sendError(toGatewayError(error), eventId);
    }
  }

  #relayDown(message: Buffer): Promise<void> | null {
    this.#lastMessageAt = performance.now();
    for (const running of this.#running.values()) {
      running.messages += 1;
      running.firstContentMs ??= Math.round(performance.now() - running.beganAt);
    }
    const opening = this.#opening;
    this.#opening = null;
    if (opening !== null) void this.#both.provider.send(opening);
    const event = readServerEvent(message);
    const noted = event === null ? null : this.#note(event);
    if (noted === null) return this.#both.client.send(message);
    return noted.then(async (after) => {
      await this.#both.client.send(message);
      await after?.();
    });
  }

  /** Does what has to happen before the client is told. The result happens afterwards. */
  #note(event: ServerEvent): Promise<(() => Promise<void>) | null> | null {
    if (event.kind === "created") return this.#created(event.responseId);
    if (event.kind === "done") return this.#done(event);
    if (event.kind === "heard") return event.usage === null ? null : this.#heard(event.usage);
    if (event.kind === "session") return this.#described(event);
    this.#asked = Math.max(0, this.#asked - 1);
    if (this.#end !== null) this.#quiet?.();
    return null;
  }

  async #created(responseId: string): Promise<null> {
    if (this.#running.has(responseId)) return null;
    this.#asked = Math.max(0, this.#asked - 1);
    const turn = this.#free.shift() ?? (await this.#reserved());
    if (turn === null) return null;
    const cancellation = new Cancellation();
    cancellation.addEventListener("abort", () => this.#cut());
    const over = this.#terms.openCalls.begin(cancellation);
    const began = { turn, startedAtMs: this.#terms.books.now(), beganAt: performance.now() };
    this.#running.set(responseId, { ...began, firstContentMs: null, messages: 0, over });
    this.#terms.books.begun();
    if (this.#end !== null) this.#cancel(responseId);
    return null;
  }

  async #done({ responseId, status, usage }: Extract<ServerEvent, { kind: "done" }>): Promise<() => Promise<void>> {
    if (!this.#running.has(responseId)) await this.#created(responseId);
    const isFailed = status === "failed";
    const isUsed = usage !== null || status === "completed" || status === "incomplete";
    const ending = isFailed ? "provider-broke" : "client-gone";
    await this.#close(responseId, isUsed ? { usage } : { ending });
    this.#responses += 1;
    return () => this.#goOn();
  }

  /** The next response is reserved while nothing runs, so that the provider may begin it by itself. */
  async #goOn(): Promise<void> {
    if (this.#end !== null) return this.#quiet?.();
    if (this.#isLeaving && this.#running.size === 0) return this.leave(CLOSE.goingAway, TEXT.sessionShutDown);
    const surplus = this.#free.length - Math.max(1, this.#asked);
    for (const turn of this.#free.splice(0, Math.max(0, surplus))) await turn.release();
    if (this.#free.length > 0) return;
    const turn = await this.#reserved();
    if (turn === null) return;
    if (this.#isOver()) await turn.release();
    else this.#free.push(turn);
  }

  #isOver(): boolean {
    return this.#end !== null;
  }

  /** Returns null where it is not covered: then the session ends. */
  async #reserved(): Promise<ResponseTurn | null> {
    try {
      return await this.#terms.books.reserve();
    } catch (error) {
      this.#fail(toGatewayError(error), CLOSE.policy);
      return null;
    }
  }

  async #heard(usage: Usage): Promise<null> {
    try {
      await this.#terms.books.chargeTranscription(this.#transcriber ?? "", usage);
    } catch (error) {
      this.#fail(toGatewayError(error), CLOSE.policy);
    }
    return null;
  }

  /** Only the model that was asked for is served, and no model without a price. */
  #described({ model, transcriber }: Extract<ServerEvent, { kind: "session" }>): null {
    try {
      const isOther = this.#model !== null && model !== null && model !== this.#model;
      if (isOther) throw new GatewayError("badRequest", TEXT.sessionModelChanged, { code: "model_changed" });
      if (transcriber !== null) this.#terms.books.requireTranscriber(transcriber);
    } catch (error) {
      this.#fail(toGatewayError(error), CLOSE.policy);
    }
    this.#model ??= model;
    this.#transcriber = transcriber;
    return null;
  }

  async #close(responseId: string, end: ResponseEnd): Promise<void> {
    const running = this.#running.get(responseId);
    if (running === undefined) return;
    this.#running.delete(responseId);
    const { model, keyId, books } = this.#terms;
    const { turn, startedAtMs, beganAt, firstContentMs, messages, over } = running;
    const times = { startedAtMs, beganAt, endedAt: performance.now(), firstContentMs };
    await books.close(turn, { ...times, model, keyId, messages }, end);
    over();
  }

  #cancel(responseId: string): void {
    void this.#both.provider.send(JSON.stringify({ type: "response.cancel", response_id: responseId }));
  }

  /** The time to stop is over: what still runs ends with an error and costs nothing. */
  #cut(): void {
    this.#isCut = true;
    this.#quiet?.();
    this.#fail(new GatewayError("unavailable", TEXT.sessionShutDown, { code: "shutting_down" }), CLOSE.goingAway);
  }

  #fail(error: GatewayError, closeCode: number): void {
    if (this.#end !== null) return;
    void this.#sendError(error, null);
    const { code = error.type } = error.details;
    this.#both.client.close(closeCode, code);
    void this.#finish(closeCode, code);
  }

  async #sendError(error: GatewayError, eventId: string | null): Promise<void> {
    const written = this.#terms.writeError(error) as { readonly error?: object };
    const told = { ...written.error, event_id: eventId };
    await this.#both.client.send(
      JSON.stringify({ type: "error", event_id: this.#terms.books.newEventId(), error: told }),
    );
  }

  /** Asks the provider what it has used so far, and charges it. The rest of the holds is released. */
  async #finish(code: number, reason: string): Promise<void> {
    if (this.#end !== null) return;
    this.#end = { code, reason };
    const { openCalls, onEnd } = this.#terms;
    const cancellation = new Cancellation();
    cancellation.addEventListener("abort", () => this.#cut());
    const over = openCalls.begin(cancellation);
    const { client, provider } = this.#both;
    for (const id of this.#running.keys()) this.#cancel(id);
    while ((this.#running.size > 0 || this.#asked > 0) && provider.isOpen && !this.#isCut) {
      if (!(await this.#untilQuiet())) break;
    }
    const ending = this.#isCut ? "gateway-broke" : code === CLOSE.failed ? "provider-broke" : "client-gone";
    for (const id of [...this.#running.keys()]) await this.#close(id, { ending });
    for (const turn of this.#free.splice(0)) await turn.release();
    provider.close(CLOSE.normal, "");
    client.close(code, reason);
    over();
    onEnd({ code, reason, responses: this.#responses, durationMs: Math.round(performance.now() - this.#beganAt) });
  }

  /** False when the provider had time enough. */
  #untilQuiet(): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), LINGER_MS);
      this.#quiet = () => {
        clearTimeout(timer);
        resolve(true);
      };
    });
  }
}

function tooOld(ageMs: number): GatewayError {
  const message = TEXT.connectionTooOld(Math.round(ageMs / 60_000));
  return new GatewayError("badRequest", message, { code: "session_expired" });
}

function idleTooLong(): GatewayError {
  return new GatewayError("badRequest", TEXT.sessionIdle, { code: "session_idle" });
}
