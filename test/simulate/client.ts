// A client of a simulation: one call over HTTP, what came back, and what that means in either wire format.

import { Agent, request as httpRequest } from "node:http";
import type { CallPlan } from "./plan.ts";
import type { ModelId, Tokens } from "./price.ts";

/** What a client saw, to the end of its connection. */
export interface Seen {
  readonly requestId: string;
  /** Null when not even a status came. */
  readonly status: number | null;
  readonly text: string;
  /** The response ended as HTTP says it should. */
  readonly isWhole: boolean;
  /** The client disconnected by itself. */
  readonly hasLeft: boolean;
  /** Milliseconds on the monotonic clock. */
  readonly beganMs: number;
  readonly endedMs: number;
}

/** What it means. `malformed` is always the gateway's fault. */
export type Reading =
  | { readonly kind: "answer"; readonly content: string; readonly shown: ShownUsage | null }
  | { readonly kind: "error"; readonly status: number; readonly code: string }
  | { readonly kind: "broken"; readonly content: string }
  | { readonly kind: "lost"; readonly content: string }
  | { readonly kind: "left"; readonly content: string }
  | { readonly kind: "malformed"; readonly why: string };

/** The usage that a response shows, and the model it names. */
export interface ShownUsage {
  readonly model: ModelId;
  readonly tokens: Tokens;
}

export interface Target {
  readonly url: string;
  readonly key: string;
  readonly requestId: string;
}

const PROMPT = "Tell me in a few words what the capital of a country is, and why. This is the call named";
/** A gateway that answers nobody for so long has a fault of its own. */
const CALL_MS_MAX = 60_000;

function bodyOf(plan: CallPlan): string {
  const { name, isStream, wantsUsage, model, maxTokens, padding, format } = plan;
  const content = `${PROMPT} ${name} ${"pad ".repeat(padding / 4)}`;
  return JSON.stringify({
    ...(model === "auto" ? { model } : { model, service_profile: "direct" }),
    messages: [{ role: "user", content }],
    stream: isStream,
    ...(format === "messages" ? { max_tokens: maxTokens ?? 200 } : maxTokens === null ? {} : { max_tokens: maxTokens }),
    ...(format === "chat" && isStream && wantsUsage ? { stream_options: { include_usage: true } } : {}),
  });
}

/** Never rejects: whatever happens to a connection is something that was seen. */
export function send(plan: CallPlan, { url, key, requestId }: Target): Promise<Seen> {
  return new Promise((resolve) => {
    const beganMs = performance.now();
    let text = "";
    let status: number | null = null;
    let isWhole = false;
    let hasLeft = false;
    const agent = new Agent();
    const request = httpRequest(new URL(plan.format === "chat" ? "/v1/chat/completions" : "/v1/messages", url), {
      method: "POST",
      agent,
      headers: {
        authorization: `Bearer ${key}`,
        "content-type": "application/json",
        "x-request-id": requestId,
        ...(plan.idempotencyKey === null ? {} : { "idempotency-key": plan.idempotencyKey }),
      },
    });
    const leave = (): void => {
      hasLeft = true;
      request.destroy();
    };
    const { departure } = plan;
    const timers = [
      setTimeout(() => request.destroy(), CALL_MS_MAX),
      ...(departure !== null && "afterMs" in departure ? [setTimeout(leave, departure.afterMs)] : []),
    ];
    const end = (): void => {
      for (const timer of timers) clearTimeout(timer);
      agent.destroy();
      resolve({ requestId, status, text, isWhole, hasLeft, beganMs, endedMs: performance.now() });
    };
    request.once("error", end);
    request.once("close", end);
    request.once("response", (response) => {
      status = response.statusCode ?? null;
      response.setEncoding("utf8").on("data", (piece: string) => {
        text += piece;
        if (departure !== null && "afterBytes" in departure && text.length >= departure.afterBytes) leave();
      });
      response.on("error", () => undefined);
      response.once("end", () => {
        isWhole = response.complete;
      });
    });
    request.end(bodyOf(plan));
  });
}

export function read(seen: Seen, plan: CallPlan): Reading {
  const { status, text, isWhole, hasLeft } = seen;
  try {
    if (status === 200 && plan.isStream) return readStream(seen, plan.format);
    if (status !== null && isWhole)
      return status === 200 ? readWhole(text) : readError(status, text, seen, plan.format);
    return hasLeft ? { kind: "left", content: "" } : { kind: "lost", content: "" };
  } catch (error) {
    return { kind: "malformed", why: `${error instanceof Error ? error.message : error}: ${text.slice(0, 500)}` };
  }
}

interface WireUsage {
  readonly prompt_tokens?: number;
  readonly completion_tokens?: number;
  readonly prompt_tokens_details?: { readonly cached_tokens?: number; readonly cache_write_tokens?: number };
  readonly input_tokens?: number;
  readonly output_tokens?: number;
  readonly cache_read_input_tokens?: number;
  readonly cache_creation_input_tokens?: number;
}

interface WireAnswer {
  readonly model: ModelId;
  readonly usage?: WireUsage | null;
  readonly choices?: readonly { readonly message: { readonly content: string | null } }[];
  readonly content?: readonly { readonly text?: string }[];
}

function readWhole(text: string): Reading {
  const answer = JSON.parse(text) as WireAnswer;
  const content = answer.choices?.[0]?.message.content ?? answer.content?.map(({ text: piece = "" }) => piece).join("");
  return { kind: "answer", content: content ?? "", shown: shownOf(answer.model, answer.usage) };
}

/** Cached tokens are part of the prompt in one format and beside it in the other. */
function shownOf(model: ModelId, usage: WireUsage | null | undefined): ShownUsage | null {
  if (usage === null || usage === undefined) return null;
  const { prompt_tokens_details: details = {} } = usage;
  const cacheRead = details.cached_tokens ?? usage.cache_read_input_tokens ?? 0;
  const cacheWrite = details.cache_write_tokens ?? usage.cache_creation_input_tokens ?? 0;
  const input = usage.input_tokens ?? (usage.prompt_tokens ?? 0) - cacheRead - cacheWrite;
  return {
    model,
    tokens: { input, cacheRead, cacheWrite, output: usage.output_tokens ?? usage.completion_tokens ?? 0 },
  };
}

/** Both formats have an error of one fixed shape, which names the request. */
function readError(status: number, text: string, { requestId }: Seen, format: CallPlan["format"]): Reading {
  const body = JSON.parse(text) as {
    type?: string;
    request_id?: string;
    error: {
      message: string;
      type: string;
      code?: string | null;
      request_id?: string;
      details?: { error_code?: string };
    };
  };
  const { error } = body;
  const named = format === "chat" ? error.request_id : body.request_id;
  const isShaped = typeof error.message === "string" && typeof error.type === "string" && named === requestId;
  if (!isShaped || (format === "messages" && body.type !== "error")) {
    return { kind: "malformed", why: `an error of another shape: ${text.slice(0, 500)}` };
  }
  return { kind: "error", status, code: error.code ?? error.details?.error_code ?? error.type };
}

interface WireEvent {
  readonly type?: string;
  readonly error?: object;
  readonly model?: ModelId;
  readonly usage?: WireUsage | null;
  readonly message?: { readonly model: ModelId; readonly usage?: WireUsage };
  readonly delta?: { readonly text?: string };
  readonly choices?: readonly { readonly delta: { readonly content?: string | null } }[];
}

function readStream({ text, isWhole, hasLeft }: Seen, format: CallPlan["format"]): Reading {
  // What comes after the last blank line is an event that is not all there.
  const whole = text.slice(0, text.lastIndexOf("\n\n") + 2);
  const lines = whole.split("\n").filter((line) => line.startsWith("data: ") && line !== "data: [DONE]");
  const events = lines.map((line) => JSON.parse(line.slice("data: ".length)) as WireEvent);
  const content = events.map((event) => event.choices?.[0]?.delta.content ?? event.delta?.text ?? "").join("");
  if (events.some(({ error }) => error !== undefined)) return { kind: "broken", content };
  const hasEnd =
    format === "chat" ? whole.includes("data: [DONE]") : events.some(({ type }) => type === "message_stop");
  if (hasEnd) return { kind: "answer", content, shown: format === "chat" ? shownInChat(events) : null };
  if (hasLeft) return { kind: "left", content };
  return isWhole
    ? { kind: "malformed", why: `a stream without an end: ${text.slice(-300)}` }
    : { kind: "lost", content };
}

function shownInChat(events: readonly WireEvent[]): ShownUsage | null {
  const last = events.findLast(({ usage }) => usage !== null && usage !== undefined);
  return last?.model === undefined ? null : shownOf(last.model, last.usage);
}
