// The routing decision alone, in this process: parsing a body, deciding it, and deciding it in a session that is known.

import type { Catalog } from "../src/catalog/catalog.ts";
import { type Decision, NO_CONSTRAINTS, type RoutingQuestion } from "../src/core/decision.ts";
import type { HostedModel } from "../src/core/model.ts";
import type { SessionView } from "../src/core/session.ts";
import { parseBody } from "../src/formats/json/parse.ts";
import { openaiChat } from "../src/formats/openai-chat/codec.ts";
import type { Call } from "../src/gateway/call.ts";
import { createSessionMemory } from "../src/gateway/sessions/memory.ts";
import { createSessions } from "../src/gateway/sessions/sessions.ts";
import { decide } from "../src/routing/decide.ts";
import { hostedModelsOf } from "../src/routing/hosts.ts";
import { bodyOf, SIZES, type Size } from "./clients/bodies.ts";
import { nowUs } from "./clients/timestamps.ts";
import { median, percentile } from "./harness/statistics.ts";
import { show, type Table } from "./harness/table.ts";

export interface ClassifyPlan {
  /** Time that each of the two steps is measured for, at each size. */
  readonly forMs: number;
}

/** No model is cooling down. */
const NOBODY: ReadonlyMap<string, string> = new Map();

export function measureClassify(catalog: Catalog, plan: ClassifyPlan): Table {
  return {
    title: "classify: in process, times in µs",
    columns: ["body", "bytes", "read p50", "read p99", "decide p50", "decide p99", "session adds", "note p50"],
    rows: SIZES.map((size) => measureSize(size, catalog, plan)),
    notes: [
      "read: bytes to a checked request. decide: the request to a decision, with the catalogue that ships.",
      "session adds: median of what a decision takes more in a session, each time measured right after one without.",
      "note: what is remembered once a request of a session is answered.",
    ],
  };
}

function measureSize(size: Size, catalog: Catalog, { forMs }: ClassifyPlan): string[] {
  const bytes = Buffer.from(JSON.stringify(bodyOf(size)));
  const read = () => {
    const { source, body } = parseBody(bytes);
    return openaiChat.readRequest(source, body);
  };
  const alone = takeTurns(() => questionOf(callOf(read()).request, null));
  const inSession = takeTurns(read);
  const decideAlone = () => decide(alone(), catalog);
  const { find, note } = makeSession(decideAlone(), catalog);
  const decideInSession = (call: Call) => decide(questionOf(call.request, find(call)), catalog);
  const call = () => callOf(inSession());
  note(call());
  const columns = [read, decideAlone].flatMap((work) => {
    timeEach(work, forMs / 4);
    const timesUs = timeEach(work, forMs);
    return [show(percentile(timesUs, 0.5)), show(percentile(timesUs, 0.99))];
  });
  const addsUs = timeMore(decideAlone, decideInSession, { give: call, forMs: 2 * forMs });
  const noteUs = timeMore(nothing, note, { give: call, forMs });
  return [size, String(bytes.length), ...columns, show(median(addsUs)), show(median(noteUs))];
}

/** Two equal values by turns: the texts of two requests are never the same strings. */
function takeTurns<T>(make: () => T): () => T {
  const values = [make(), make()] as const;
  let turn = 0;
  return () => {
    turn = 1 - turn;
    return values[turn] as T;
  };
}

/** One shape for both, as in the gateway: code that sees two is slower for that alone. */
function questionOf({ chat, controls }: Call["request"], sessionView: SessionView | null): RoutingQuestion {
  return { chat, controls, constraints: NO_CONSTRAINTS, restingModels: NOBODY, sessionView };
}

/** Readings of a prompt are kept for its call, so each call has a prompt of its own. */
function callOf(request: Call["request"]): Call {
  const rest = { requestId: "req", headers: {}, caller: { key: { accountId: "a" } }, state: null };
  return { ...rest, request: { ...request, chat: { ...request.chat } } } as unknown as Call;
}

interface SessionUnderTest {
  readonly find: (call: Call) => SessionView | null;
  readonly note: (call: Call) => void;
}

/** The same request comes again and again, so that what is looked for is found. */
function makeSession(decision: Decision, catalog: Catalog): SessionUnderTest {
  const now = Date.now;
  const memory = createSessionMemory(() => HOUR_MS, now);
  const sessions = createSessions({ memory, isOn: () => true, now, share: () => undefined });
  const hosted = hostedModelsOf(decision, catalog);
  // One that caches, so that there is something to compare.
  const model = hosted.find(({ cache }) => cache !== undefined) ?? (hosted[0] as HostedModel);
  const answer = { decision, model, keyId: undefined, usage: null, toolCallIds: [] };
  return { find: (call) => sessions.view(call), note: (call) => sessions.note({ call, ...answer }) };
}

const HOUR_MS = 3_600_000;

/** Each call is timed by itself, so that percentiles show garbage collections. */
function timeEach(work: () => unknown, forMs: number): readonly number[] {
  const timesUs: number[] = [];
  const endsAtUs = nowUs() + forMs * 1000;
  while (timesUs.length === 0 || nowUs() < endsAtUs) {
    const startedAt = performance.now();
    work();
    timesUs.push((performance.now() - startedAt) * 1000);
  }
  return timesUs;
}

function nothing(): void {}

interface MorePlan<T> {
  /** Input of the second step, made before the times are taken. */
  readonly give: () => T;
  readonly forMs: number;
}

/** By how much the second takes longer than the first, pair by pair: what disturbs the machine disturbs both. */
function timeMore<T>(first: () => unknown, second: (given: T) => unknown, plan: MorePlan<T>): readonly number[] {
  const { give, forMs } = plan;
  let moreUs: number[] = [];
  const pair = (): void => {
    const given = give();
    const startedAt = performance.now();
    first();
    const between = performance.now();
    second(given);
    moreUs.push((performance.now() - between - (between - startedAt)) * 1000);
  };
  timeEach(pair, forMs / 4);
  moreUs = [];
  timeEach(pair, forMs);
  return moreUs;
}
