// What happens in a simulation, drawn from its seed alone: the calls of each step, what the provider does with each attempt,
// and the operations in between. Timing differs from run to run, decisions do not.

import { createRandom, type Random } from "../support/random.ts";
import { MODEL_IDS, type ModelId, type Tokens } from "./price.ts";

export type StoreKind = "sqlite" | "postgres";

/** What the provider does with one attempt. */
const ATTEMPT_KINDS = [
  ...["answers", "slow", "no usage", "impossible usage", "huge"],
  ...["400", "401", "403", "404", "429", "429 with Retry-After", "500", "502", "503", "529"],
  ...["reset before headers", "reset after headers", "no answer", "no HTTP", "broken JSON", "HTML", "empty body"],
  ...["no choices", "empty answer", "cut stream", "ended stream", "stalled stream", "broken event", "error event"],
] as const;

export type AttemptKind = (typeof ATTEMPT_KINDS)[number];

/** Kinds that end in a whole answer. */
const ANSWERING: ReadonlySet<AttemptKind> = new Set<AttemptKind>([
  ...(["answers", "slow", "no usage", "impossible usage", "huge"] as const),
]);
const FAULTS = ATTEMPT_KINDS.filter((kind) => !ANSWERING.has(kind));

export interface AttemptPlan {
  readonly kind: AttemptKind;
  readonly usage: Tokens;
  readonly words: number;
  readonly paceMs: number;
  /** How many events of a stream come before its fault. */
  readonly eventsBefore: number;
}

/** Whose key a call carries. `revoked` is a key that was good once. */
export type Caller = "rich" | "limited" | "poor" | "revoked";

/** When a client disconnects. */
type Departure = { readonly afterMs: number } | { readonly afterBytes: number };

export interface CallPlan {
  /** In the prompt, so that the provider knows the plan. */
  readonly name: string;
  readonly format: "chat" | "messages";
  readonly isStream: boolean;
  readonly wantsUsage: boolean;
  readonly model: ModelId | "auto";
  readonly maxTokens: number | null;
  readonly padding: number;
  readonly caller: Caller;
  readonly process: number;
  /** By way of the TCP proxy that loses replies. */
  readonly isProxied: boolean;
  readonly startMs: number;
  readonly departure: Departure | null;
  readonly idempotencyKey: string | null;
  /** How often the same call is sent; with an Idempotency-Key only. */
  readonly tries: number;
  /** The repeated request does not wait for the end of the first. */
  readonly isTwin: boolean;
  readonly attempts: readonly AttemptPlan[];
}

const COMMON_OPERATIONS = [
  ...[
    "kill",
    "kill all",
    "kill and restart",
    "terminate",
    "cut clients",
    "lose replies to clients",
    "slow network to clients",
  ],
  ...[
    "clock jump",
    "disk full",
    "log full",
    "top-up",
    "two top-ups at once",
    "revoke key",
    "rotate key",
    "new limited key",
  ],
] as const;
/** Lost commits are drawn most often, as only some of them hit a settlement. */
const POSTGRES_OPERATIONS = [
  ...["database cut", "database away", "database stalls", "lost commit", "lost commit", "lost commit"],
] as const;

export type OperationKind = (typeof COMMON_OPERATIONS)[number] | (typeof POSTGRES_OPERATIONS)[number];

export interface OperationPlan {
  readonly kind: OperationKind;
  readonly process: number;
  readonly atMs: number;
  readonly durationMs: number;
  /** A number for whatever the operation needs one for. */
  readonly value: number;
}

export interface StepPlan {
  readonly step: number;
  /** How many gateway processes there are from this step on. */
  readonly processes: number;
  readonly calls: readonly CallPlan[];
  readonly operations: readonly OperationPlan[];
}

const PROCESSES_MAX = 3;
const CALLS_MAX = 24;
/** Calls and operations begin within so long. */
const BURST_MS = 900;

/** Each step has random numbers of its own, so that one step can change without the others. */
export function planStep(seed: number, step: number, store: StoreKind): StepPlan {
  const random = createRandom(seed + step * 7919);
  // Starting takes long, so their number stays for a few steps.
  const processes = store === "sqlite" ? 1 : 1 + createRandom(seed + Math.floor(step / 5)).below(PROCESSES_MAX);
  const calls = Array.from({ length: 4 + random.below(CALLS_MAX - 3) }, (_, index) => planCall(random, step, index));
  const count = random.pick([0, 1, 1, 2, 3]);
  const operations = Array.from({ length: count }, () => planOperation(random, store));
  return { step, processes, calls, operations: compatible(operations) };
}

/** One of these in a step: what a full disk left in memory only is lost by a kill, as documented. */
const STARTING_AND_STOPPING: ReadonlySet<OperationKind> = new Set<OperationKind>([
  ...(["kill", "kill all", "kill and restart", "terminate", "disk full", "log full"] as const),
]);

function compatible(operations: readonly OperationPlan[]): readonly OperationPlan[] {
  const first = operations.find(({ kind }) => STARTING_AND_STOPPING.has(kind));
  return operations.filter((operation) => operation === first || !STARTING_AND_STOPPING.has(operation.kind));
}

function planOperation(random: Random, store: StoreKind): OperationPlan {
  const kinds: readonly OperationKind[] =
    store === "postgres" ? [...COMMON_OPERATIONS, ...POSTGRES_OPERATIONS] : COMMON_OPERATIONS;
  return {
    kind: random.pick(kinds),
    process: random.below(PROCESSES_MAX),
    atMs: random.below(BURST_MS),
    durationMs: 100 + random.below(1200),
    value: random.below(1_000_000),
  };
}

function planCall(random: Random, step: number, index: number): CallPlan {
  const name = `sim-${step}-${index}`;
  const isKeyed = random.next() < 0.3;
  const caller = random.pick<Caller>([
    "rich",
    "rich",
    "rich",
    "rich",
    "rich",
    "limited",
    "limited",
    "poor",
    "poor",
    "revoked",
  ]);
  const isStream = random.next() < 0.6;
  const padding = random.next() < 0.1 ? 20_000 + random.below(60_000) : random.below(400);
  // Faults come in phases, so that most calls are answered and some meet nothing else.
  const faultShare = random.pick([0, 0.2, 0.2, 0.5, 1]);
  const draw = (): AttemptPlan => planAttempt(random, { faultShare, padding, canBeHuge: caller === "rich" });
  return {
    name,
    format: random.pick(["chat", "messages"]),
    isStream,
    wantsUsage: random.next() < 0.5,
    model: random.next() < 0.5 ? "auto" : random.pick(MODEL_IDS),
    maxTokens: random.next() < 0.5 ? null : 150 + random.below(300),
    padding,
    caller,
    process: random.below(PROCESSES_MAX),
    isProxied: random.next() < 0.5,
    startMs: random.below(BURST_MS),
    departure: planDeparture(random),
    idempotencyKey: isKeyed ? `idem-${name}` : null,
    tries: isKeyed ? 2 + random.below(2) : 1,
    isTwin: isKeyed && random.next() < 0.3,
    attempts: Array.from({ length: 6 }, draw),
  };
}

function planDeparture(random: Random): Departure | null {
  const kind = random.below(10);
  if (kind === 0) return { afterMs: random.below(300) };
  if (kind === 1) return { afterBytes: 1 + random.below(6000) };
  return null;
}

interface AttemptTaste {
  readonly faultShare: number;
  readonly padding: number;
  readonly canBeHuge: boolean;
}

/** Within the bounds of the hold, so that the charge is exactly the usage; only rich callers get more than that. */
function planAttempt(random: Random, { faultShare, padding, canBeHuge }: AttemptTaste): AttemptPlan {
  const isFault = random.next() < faultShare;
  const answering = [...ANSWERING].filter((kind) => canBeHuge || kind !== "huge");
  const kind = isFault
    ? random.pick(FAULTS)
    : random.pick<AttemptKind>([...Array<AttemptKind>(8).fill("answers"), ...answering]);
  const input = 1 + random.below(20 + Math.floor(padding / 4));
  const cacheRead = random.next() < 0.3 ? random.below(input) : 0;
  const cacheWrite = random.next() < 0.3 ? random.below(input - cacheRead) : 0;
  return {
    kind,
    usage: {
      input: input - cacheRead - cacheWrite,
      cacheRead,
      cacheWrite,
      output: kind === "huge" ? 2000 + random.below(3000) : 1 + random.below(120),
    },
    words: kind === "huge" ? 3000 : 1 + random.below(20),
    paceMs: kind === "slow" ? 20 + random.below(60) : random.pick([0, 0, 3]),
    eventsBefore: random.below(8),
  };
}
