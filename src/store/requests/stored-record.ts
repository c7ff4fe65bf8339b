// A record of the request log as it is stored: a row of the table `requests`, and the rest as JSON. Missing text is stored as
// the empty text, so that filters need no IS NULL.

import type { SqlRow, SqlValue } from "../../core/db.ts";
import type { Candidate, Controls, Decision, HostChoice } from "../../core/decision.ts";
import type { TokenBuckets } from "../../core/money.ts";
import type { CascadeStep } from "../../core/requests/cascade.ts";
import { REQUEST_CONTROLS, unsetValues } from "../../core/requests/controls.ts";
import type { Efforts } from "../../core/requests/effort.ts";
import { FIELDS, type FieldKind, type FieldValue, type RequestSummary } from "../../core/requests/fields.ts";
import type { RequestDetail } from "../../core/requests/log.ts";
import {
  type AttemptRecord,
  type CostRecord,
  NO_TAGS,
  type RequestRecord,
  type Tags,
  type ToolCallCheck,
  tokensOf,
} from "../../core/requests/records.ts";
import type { WaitingRecord } from "../../core/requests/waiting.ts";
import type { DecidedSession } from "../../core/session.ts";
import { flag, freeText, type InsertColumn, type InsertShape, integer, text, withoutNul } from "../dialect.ts";

type Insert<Value> = (of: (record: WaitingRecord) => Value) => InsertColumn<WaitingRecord>;

interface Storage<Value> {
  readonly columns: (column: string, of: (record: WaitingRecord) => Value) => InsertShape<WaitingRecord>["columns"];
  readonly read: (row: SqlRow, column: string) => Value;
}

function oneColumn<Value>(insert: Insert<Value>, read: (stored: SqlValue) => Value): Storage<Value> {
  return {
    columns: (column, of) => ({ [column]: insert(of) }),
    read: (row, column) => read(row[column] ?? null),
  };
}

const BUCKETS = [
  ["input", "input_tokens"],
  ["cacheRead", "cache_read_tokens"],
  ["cacheWrite", "cache_write_tokens"],
  ["output", "output_tokens"],
] as const;

const STORAGE: { readonly [Kind in FieldKind]: Storage<FieldValue<Kind>> } = {
  text: oneColumn<string>(text, String),
  optionalText: oneColumn((of) => text((record) => of(record) ?? ""), textOrNull),
  freeText: oneColumn((of) => freeText((record) => withoutNul(of(record) ?? "")), textOrNull),
  integer: oneColumn<number>(integer, Number),
  optionalInteger: oneColumn(integer, (stored) => (stored === null ? null : Number(stored))),
  flag: oneColumn<boolean>(flag, (stored) => Number(stored) === 1),
  time: oneColumn<number>(integer, Number),
  amount: oneColumn(integer, (stored) => (stored === null ? null : BigInt(stored))),
  texts: oneColumn((of) => text((record) => writeTexts(of(record))), readTexts),
  tags: oneColumn((of) => text((record) => writeTags(of(record))), readTags),
  tokens: {
    columns: (_column, of) =>
      Object.fromEntries(BUCKETS.map(([bucket, name]) => [name, integer((record) => of(record)?.[bucket] ?? null)])),
    read: readBuckets,
  },
};

/** The rows of the log. */
export const REQUESTS: InsertShape<WaitingRecord> = {
  table: "requests",
  columns: Object.assign(
    { account_id: text(({ accountId }: WaitingRecord) => accountId) },
    ...FIELDS.map(({ name, kind, column }) =>
      (STORAGE[kind] as Storage<unknown>).columns(column, ({ summary }) => summary[name]),
    ),
    // To sort, filter and sum up by.
    { tokens: integer(({ summary }: WaitingRecord) => tokensOf(summary.buckets)) },
  ),
};

/** Reads a row of the log. */
export function toSummary(row: SqlRow): RequestSummary {
  const line: Record<string, unknown> = {};
  for (const { name, kind, column } of FIELDS) line[name] = STORAGE[kind].read(row, column);
  return line as RequestSummary;
}

function readBuckets(row: SqlRow): TokenBuckets | null {
  if (row.input_tokens == null) return null;
  const counts = BUCKETS.map(([bucket, name]) => [bucket, Number(row[name])]);
  return Object.fromEntries(counts) as TokenBuckets;
}

function writeTexts(texts: readonly string[]): string {
  return texts.length === 0 ? "" : JSON.stringify(texts);
}

function readTexts(stored: SqlValue): readonly string[] {
  return stored ? (JSON.parse(String(stored)) as string[]) : [];
}

/** JSON would write half of a surrogate pair as an escape, which SQLite turns into bytes that are no text. */
function writeTags(tags: Tags): string {
  if (tags === NO_TAGS) return "";
  const whole = Object.entries(tags).map(([name, value]) => [name.toWellFormed(), value.toWellFormed()]);
  return JSON.stringify(Object.fromEntries(whole));
}

function readTags(stored: SqlValue): Tags {
  return stored ? (JSON.parse(String(stored)) as Tags) : NO_TAGS;
}

export function textOrNull(stored: SqlValue | undefined): string | null {
  return stored == null || stored === "" ? null : String(stored);
}

// The rest as JSON, for the page of the request. The JSON is short, because every request stores it.

/** Makes the stored detail. Names fields one by one, because a spread would cost more than writing the JSON. */
export function toDetail(record: RequestRecord): StoredDetail {
  const { decision, attempts, hold, cost, cascade, features, toolCalls, errorMessage, operatorMessage } = record;
  const detail: { -readonly [Name in keyof StoredDetail]: StoredDetail[Name] } = {
    decision: decision === null ? null : toDecision(decision),
    attempts,
    hold: hold === null ? null : hold.toString(),
    cost: cost === null ? null : toCost(cost),
    features: features === null ? null : withoutZeros(features),
    toolCalls,
  };
  if (cascade !== undefined) detail.cascade = cascade.map((step) => ({ ...step, charge: step.charge.toString() }));
  if (errorMessage === null && operatorMessage === undefined) return detail;
  return {
    ...detail,
    ...(errorMessage === null ? {} : { errorMessage }),
    ...(operatorMessage === undefined ? {} : { operatorMessage }),
  };
}

/** Reads the JSON together with the row of the log, whose values it does not repeat. */
export function readDetail(text: string, summary: RequestSummary): RequestDetail {
  const stored = JSON.parse(text) as StoredDetail;
  const { decision, attempts, hold, cost, cascade, features, toolCalls, errorMessage, operatorMessage } = stored;
  return {
    decision: decision === null ? null : readDecision(decision, summary),
    attempts,
    hold: hold === null ? null : BigInt(hold),
    cost,
    cascade: cascade?.map((step) => ({ ...step, charge: BigInt(step.charge) })) ?? null,
    features: features === null ? null : flatten(features),
    toolCalls,
    errorMessage: errorMessage ?? null,
    operatorMessage: operatorMessage ?? null,
  };
}

/** Stored JSON. Fields may be added but never renamed, so that old rows stay readable. */
interface StoredDetail {
  readonly decision: StoredDecision | null;
  readonly attempts: readonly AttemptRecord[];
  readonly hold: string | null;
  readonly cost: RequestDetail["cost"];
  /** Absent without a cascade. */
  readonly cascade?: readonly (Omit<CascadeStep, "charge"> & { readonly charge: string })[];
  readonly features: object | null;
  readonly toolCalls: ToolCallCheck | null;
  /** Absent for a response. */
  readonly errorMessage?: string;
  readonly operatorMessage?: string;
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
  /** Efforts that the chain asked of its models; absent where it asked none. */
  readonly efforts?: Efforts;
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
  if (decision.efforts !== undefined) stored.efforts = decision.efforts;
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
  const { cascade } = asked;
  // Its checks are the client's own text.
  return { ...asked, ...NOT_LOGGED, cascade: typeof cascade === "object" && cascade !== null ? true : cascade };
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
function toCost(cost: CostRecord): NonNullable<RequestDetail["cost"]> {
  const { price, markupPpm, baselineModel, baselinePrice, holdId } = cost;
  return { price, markupPpm, baselineModel, ...(baselinePrice === undefined ? {} : { baselinePrice }), holdId };
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
