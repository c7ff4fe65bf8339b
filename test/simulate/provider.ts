// The provider of a simulation: it plays the plan of each call, attempt by attempt, in both wire formats, and keeps what it
// did. Each answer begins with a number of its own, so that what a client got can be told from every other answer.

import {
  eventsOf,
  type FakeEvent,
  failsNatively,
  saysBlocks,
  streamsEvents,
  text as textBlock,
} from "../support/providers/fake-anthropic.ts";
import {
  type Behaviour,
  type Chunk,
  chunk,
  completion,
  cuts,
  cutsBody,
  type Exchange,
  type FakeProvider,
  fails,
  hangs,
  sends,
  sendsRaw,
  startFakeProvider,
  streams,
  textChunks,
} from "../support/providers/fake-provider.ts";
import type { AttemptKind, AttemptPlan, CallPlan } from "./plan.ts";
import type { ModelId, Tokens } from "./price.ts";

/** One attempt as the provider knows it. */
export interface ProviderCall {
  readonly number: number;
  readonly name: string;
  readonly model: ModelId;
  readonly kind: AttemptKind;
  /** All the text of the answer, whether or not it was sent to its end. */
  readonly text: string;
  /** What it counts; null where it counts nothing or nonsense. */
  readonly usage: Tokens | null;
  /** Whether its 2xx headers were sent. */
  readonly isAccepted: boolean;
}

export interface SimulatedProvider {
  readonly url: string;
  /** Attempts by the name of their call, in the order they came. */
  readonly calls: ReadonlyMap<string, readonly ProviderCall[]>;
  /** By number. */
  call(number: number): ProviderCall | undefined;
  /** From now on these calls may come. */
  expect(plans: readonly CallPlan[]): void;
  /** Requests that no plan was made for. */
  readonly strangers: readonly string[];
  close(): Promise<void>;
}

const NAME = /sim-\d+-\d+/;
const WORD = "word ";

export async function startSimulatedProvider(): Promise<SimulatedProvider> {
  const plans = new Map<string, CallPlan>();
  const calls = new Map<string, ProviderCall[]>();
  const all: ProviderCall[] = [];
  const strangers: string[] = [];
  const provider: FakeProvider = await startFakeProvider((exchange) => {
    provider.requests.length = 0;
    const [name = ""] = NAME.exec(exchange.request.raw) ?? [];
    const plan = plans.get(name);
    if (plan === undefined) {
      strangers.push(exchange.request.raw.slice(0, 300));
      return fails(500)(exchange);
    }
    const earlier = calls.get(name) ?? [];
    const attempt = plan.attempts[Math.min(earlier.length, plan.attempts.length - 1)] as AttemptPlan;
    const { call, behaviour } = prepare({ attempt, name, number: all.length, exchange });
    calls.set(name, [...earlier, call]);
    all.push(call);
    return behaviour(exchange);
  });
  return {
    url: provider.url,
    calls,
    call: (number) => all[number],
    expect(more) {
      for (const plan of more) plans.set(plan.name, plan);
    },
    strangers,
    close: () => provider.close(),
  };
}

interface Attempt {
  readonly attempt: AttemptPlan;
  readonly name: string;
  readonly number: number;
  readonly exchange: Exchange;
}

function prepare(given: Attempt): { call: ProviderCall; behaviour: Behaviour } {
  const { attempt, name, number, exchange } = given;
  const { body, path } = exchange.request;
  const isNative = path.endsWith("/messages");
  const text = attempt.kind === "empty answer" ? "" : `<c${number}> ${WORD.repeat(attempt.words)}`.trimEnd();
  const counted = withinCap(attempt.usage, capOf(body));
  const call = { number, name, model: body.model as ModelId, kind: attempt.kind, text };
  const refusal = refusalOf(attempt, isNative);
  if (refusal !== null) {
    // Headers of a 2xx count as accepted, whatever follows.
    const isAccepted = ["reset after headers", "broken JSON", "HTML", "empty body", "no choices"].includes(
      attempt.kind,
    );
    return { call: { ...call, usage: null, isAccepted }, behaviour: refusal };
  }
  const usage = reported(attempt, counted, isNative && body.stream === true);
  return {
    call: { ...call, usage: usage === "nonsense" ? null : usage, isAccepted: true },
    behaviour: isNative ? answersNatively(attempt, text, usage) : answersChat(attempt, text, usage, exchange),
  };
}

/** A provider keeps to the cap it was sent. */
function capOf({ max_tokens: cap, max_completion_tokens: newerCap }: Exchange["request"]["body"]): number {
  const caps = [cap, newerCap].filter((value) => typeof value === "number");
  return caps.length === 0 ? Number.POSITIVE_INFINITY : Math.max(...caps);
}

function withinCap(usage: Tokens, cap: number): Tokens {
  return { ...usage, output: Math.min(usage.output, cap) };
}

type Reported = Tokens | "nonsense" | null;

/** The Messages stream always counts: its usage is part of events that cannot be left out. */
function reported({ kind }: AttemptPlan, counted: Tokens, isNativeStream: boolean): Reported {
  if (isNativeStream) return counted;
  if (kind === "empty answer") return { ...counted, output: 0 };
  if (kind === "no usage") return null;
  return kind === "impossible usage" ? "nonsense" : counted;
}

/** Null for attempts that get as far as an answer or a stream. */
function refusalOf({ kind }: AttemptPlan, isNative: boolean): Behaviour | null {
  const status = (code: number, headers = {}): Behaviour =>
    isNative ? failsNatively(code, `scripted ${code}`, headers) : fails(code, {}, headers);
  if (/^\d+$/.test(kind)) return status(Number(kind));
  const others: Partial<Record<AttemptKind, Behaviour>> = {
    "429 with Retry-After": status(429, { "retry-after": "1" }),
    "reset before headers": cuts,
    "reset after headers": cutsBody,
    "no answer": hangs,
    "no HTTP": sendsRaw("HTTP/1.1 oops\r\n\r\n"),
    "broken JSON": sends(200, '{"id": "x", "choices": ['),
    HTML: sends(200, "<html>busy</html>", { "content-type": "text/html" }),
    "empty body": sends(200, ""),
    "no choices": sends(200, { choices: [], content: [] }),
  };
  return others[kind] ?? null;
}

const STREAM_ENDINGS: Partial<Record<AttemptKind, "cut" | "end" | "hang">> = {
  "cut stream": "cut",
  "ended stream": "end",
  "stalled stream": "hang",
  "broken event": "end",
  "error event": "end",
};

/** Waits for real time: a slow provider is slow. */
function paced(ms: number): () => Promise<void> | undefined {
  return () => (ms === 0 ? undefined : new Promise((resolve) => setTimeout(resolve, ms)));
}

function answersChat(plan: AttemptPlan, text: string, usage: Reported, { request }: Exchange): Behaviour {
  const { model, stream } = request.body;
  const counted = chatUsage(usage);
  const ending = STREAM_ENDINGS[plan.kind];
  if (stream !== true) return ending === undefined ? sends(200, completion(text, model, { usage: counted })) : cutsBody;
  const before = paced(plan.paceMs);
  const chunks: Chunk[] =
    text === ""
      ? [chunk(model, { role: "assistant", content: "" }), chunk(model, {}, "stop")]
      : textChunks(text, model);
  if (ending === undefined) return streams(chunks, { usage: counted, before });
  return streams([...begun(chunks, plan), ...chatFault(plan.kind)], { ending, before });
}

/** A stream that fails is cut short before its finish. */
function begun<T>(events: readonly T[], { eventsBefore }: AttemptPlan): readonly T[] {
  return events.slice(0, Math.min(eventsBefore, events.length - 2));
}

function chatFault(kind: AttemptKind): readonly Chunk[] {
  if (kind === "broken event") return ["data: {oops\n\n"];
  return kind === "error event" ? [{ error: { message: "overloaded", type: "server_error" } }] : [];
}

function chatUsage(usage: Reported): object | null {
  if (usage === null) return null;
  if (usage === "nonsense") return { prompt_tokens: 5, completion_tokens: -7, total_tokens: -2 };
  const prompt = usage.input + usage.cacheRead + usage.cacheWrite;
  return {
    prompt_tokens: prompt,
    completion_tokens: usage.output,
    total_tokens: prompt + usage.output,
    prompt_tokens_details: { cached_tokens: usage.cacheRead, cache_write_tokens: usage.cacheWrite },
  };
}

function answersNatively(plan: AttemptPlan, text: string, usage: Reported): Behaviour {
  const script = { usage: nativeUsage(usage), before: paced(plan.paceMs) };
  const blocks = text === "" ? [] : [textBlock(text)];
  const ending = STREAM_ENDINGS[plan.kind];
  if (ending === undefined) return saysBlocks(blocks, script);
  return (exchange) => {
    const { model, stream } = exchange.request.body;
    if (stream !== true) return cutsBody(exchange);
    const events = eventsOf(blocks, model, script);
    return streamsEvents([...begun(events, plan), ...nativeFault(plan.kind)], { ending, before: script.before })(
      exchange,
    );
  };
}

function nativeFault(kind: AttemptKind): readonly (FakeEvent | string)[] {
  if (kind === "broken event") return ["event: content_block_delta\ndata: {oops\n\n"];
  return kind === "error event" ? [{ type: "error", error: { type: "overloaded_error", message: "Overloaded" } }] : [];
}

function nativeUsage(usage: Reported): object | null {
  if (usage === null) return null;
  if (usage === "nonsense") return { input_tokens: 5, output_tokens: -7 };
  return {
    input_tokens: usage.input,
    output_tokens: usage.output,
    cache_read_input_tokens: usage.cacheRead,
    cache_creation_input_tokens: usage.cacheWrite,
  };
}
