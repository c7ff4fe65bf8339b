// Details of a request as JSON, for the page of that request. The JSON is short, because every request stores it.
// Reading it needs the row of the log as well.

import type { Candidate, Controls, Decision, HostChoice } from "../../core/decision.ts";
import { REQUEST_CONTROLS, unsetValues } from "../../core/requests/controls.ts";
import type { RequestSummary } from "../../core/requests/fields.ts";
import type { RequestDetail } from "../../core/requests/log.ts";
import type { AttemptRecord, CostRecord, RequestRecord, ToolCallCheck } from "../../core/requests/records.ts";
import type { DecidedSession } from "../../core/session.ts";

/** Makes the stored detail. Names fields one by one, because a spread would cost more than writing the JSON. */
export function toDetail(record: RequestRecord): StoredDetail {
  const { decision, attempts, hold, cost, features, toolCalls, errorMessage } = record;
  const detail: StoredDetail = {
    decision: decision === null ? null : toDecision(decision),
    attempts,
    hold: hold === null ? null : hold.toString(),
    cost: cost === null ? null : toCost(cost),
    features: features === null ? null : withoutZeros(features),
    toolCalls,
  };
  return errorMessage === null ? detail : { ...detail, errorMessage };
}

/** Reads the JSON together with the row of the log, whose values it does not repeat. */
export function readDetail(text: string, summary: RequestSummary): RequestDetail {
  const { decision, attempts, hold, cost, features, toolCalls, errorMessage } = JSON.parse(text) as StoredDetail;
  return {
    decision: decision === null ? null : readDecision(decision, summary),
    attempts,
    hold: hold === null ? null : BigInt(hold),
    cost,
    features: features === null ? null : flatten(features),
    toolCalls,
    errorMessage: errorMessage ?? null,
  };
}

/** Stored JSON. Fields may be added but never renamed, so that old rows stay readable. */
interface StoredDetail {
  readonly decision: StoredDecision | null;
  readonly attempts: readonly AttemptRecord[];
  readonly hold: string | null;
  readonly cost: RequestDetail["cost"];
  readonly features: object | null;
  readonly toolCalls: ToolCallCheck | null;
  /** Absent for a response. */
  readonly errorMessage?: string;
}

/** Stored decision: without values of the log row, and only with candidates outside the chain. */
interface StoredDecision {
  readonly model: string;
  readonly confidence: number;
  readonly method: string;
  readonly reasoning: string;
  readonly cost: string;
  readonly baseline: string;
  readonly savings: number;
  readonly chain: readonly string[];
  readonly hosts?: HostChoice;
  readonly historyFloor: Decision["historyFloor"];
  readonly toolScore: number | null;
  readonly removed: readonly (readonly [string, string | null])[];
  /** Models that were cooling down, with the reason; absent without any. */
  readonly resting?: Readonly<Record<string, string>>;
  readonly tokens: Decision["estimatedTokens"];
  readonly score: number | null;
  readonly isSure: boolean | null;
  /** The controls of the request; null if it set none. */
  readonly controls: Controls | null;
  /** The session as a replay needs it beside the row; absent if it needs nothing. */
  readonly session?: StoredSession;
}

type StoredSession = Partial<Pick<DecidedSession, "thread" | "isLoop" | "cachedTokens" | "escalation">>;

function toDecision(decision: Decision): StoredDecision {
  const removed: [string, string | null][] = [];
  for (const { model, removedBecause } of decision.candidates) {
    if (!decision.chain.includes(model)) removed.push([model, removedBecause]);
  }
  const stored: { -readonly [Name in keyof StoredDecision]: StoredDecision[Name] } = {
    model: decision.model,
    confidence: decision.confidence,
    method: decision.method,
    reasoning: decision.reasoning,
    cost: decision.costEstimate.toString(),
    baseline: decision.baselineCost.toString(),
    savings: decision.savings,
    chain: decision.chain,
    historyFloor: decision.historyFloor,
    toolScore: decision.toolScore,
    removed,
    tokens: decision.estimatedTokens,
    score: decision.score ?? null,
    isSure: decision.isSure ?? null,
    controls: controlsOf(decision),
  };
  if (decision.hosts !== undefined) stored.hosts = decision.hosts;
  const session = decision.session === undefined ? null : toSession(decision.session);
  if (session !== null) stored.session = session;
  for (const { model, restingBecause } of decision.candidates) {
    if (restingBecause !== undefined) stored.resting = { ...stored.resting, [model]: restingBecause };
  }
  return stored;
}

function toSession({ thread, isLoop, cachedTokens, escalation }: DecidedSession): StoredSession | null {
  const isPlain = thread === undefined && isLoop === undefined && cachedTokens === 0 && escalation === 0;
  if (isPlain) return null;
  const stored: { -readonly [Name in keyof StoredSession]: StoredSession[Name] } = {};
  if (thread !== undefined) stored.thread = thread;
  if (isLoop !== undefined) stored.isLoop = isLoop;
  if (cachedTokens !== 0) stored.cachedTokens = cachedTokens;
  if (escalation !== 0) stored.escalation = escalation;
  return stored;
}

function readSession(stored: StoredSession, { session: id, sessionState }: RequestSummary): DecidedSession | null {
  if (id === null) return null;
  const state = (sessionState ?? "started") as DecidedSession["state"];
  const rest = { state, keyId: null, task: 0, isPrefixSeen: false } as const;
  return { id, cachedTokens: 0, escalation: 0, ...rest, ...stored };
}

/** Returns the controls without the client's own text; null if the request set none. */
function controlsOf({ controls }: Decision): Controls | null {
  if (controls === undefined || !asksForSomething(controls)) return null;
  const { unknown: _, ...asked } = controls;
  return { ...asked, ...NOT_LOGGED };
}

/** True if the request set any routing control; most set none. */
function asksForSomething(controls: Controls): boolean {
  return LOGGED.some(({ name, takes }) => (controls[name] ?? null) !== takes.unset);
}

const LOGGED = REQUEST_CONTROLS.filter(({ isPrivate = false }) => !isPrivate);
const NOT_LOGGED = unsetValues(REQUEST_CONTROLS.filter(({ isPrivate = false }) => isPrivate));

function readDecision(stored: StoredDecision, summary: RequestSummary): Decision {
  const { cost, baseline, removed, resting = {}, tokens, score, isSure = null, ...others } = stored;
  const { controls = null, session: stay = {}, ...rest } = others;
  const session = readSession(stay, summary);
  const candidate = (model: string, removedBecause: string | null): Candidate => {
    const restingBecause = resting[model];
    return restingBecause === undefined ? { model, removedBecause } : { model, removedBecause, restingBecause };
  };
  const inChain = rest.chain.map((model) => candidate(model, null));
  return {
    ...rest,
    tier: summary.tier as Decision["tier"],
    category: summary.category as Decision["category"],
    profile: summary.profile as Decision["profile"],
    toolScenario: summary.toolScenario as Decision["toolScenario"],
    costEstimate: BigInt(cost),
    baselineCost: BigInt(baseline),
    candidates: [...inChain, ...removed.map(([model, reason]) => candidate(model, reason))],
    estimatedTokens: tokens,
    ...(summary.classifiedTier === null ? {} : { classifiedTier: summary.classifiedTier as Decision["tier"] }),
    ...(score === null ? {} : { score }),
    ...(isSure === null ? {} : { isSure }),
    ...(controls === null ? {} : { controls }),
    ...(session === null ? {} : { session }),
  };
}

/** Returns the cost without tokens and amounts, which the log row has. */
function toCost({ price, markupPpm, baselineModel, holdId }: CostRecord): NonNullable<RequestDetail["cost"]> {
  return { price, markupPpm, baselineModel, holdId };
}

/** Leaves out zeros. The names of unused cues would be a third of a stored request. */
function withoutZeros(features: object): object {
  const kept: Record<string, unknown> = {};
  const values = features as Readonly<Record<string, unknown>>;
  for (const name in values) {
    const value = values[name];
    if (value) kept[name] = typeof value === "object" ? withoutZeros(value) : value;
  }
  return kept;
}

/** Flattens numbers by name, and groups by `group.name`. */
function flatten(features: object, prefix = ""): Record<string, number> {
  const flat: Record<string, number> = {};
  for (const [name, value] of Object.entries(features)) {
    if (typeof value === "object" && value !== null) Object.assign(flat, flatten(value, `${name}.`));
    else if (Number(value) !== 0 && Number.isFinite(Number(value))) flat[`${prefix}${name}`] = Number(value);
  }
  return flat;
}
