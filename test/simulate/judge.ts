// The judge of a simulation. It holds three sides against each other: what each client got, what the provider did, and what
// the ledger booked. Every problem comes with the facts of all three.

import { type Reading, read, type Seen, type ShownUsage } from "./client.ts";
import type { RequestLine } from "./ledger.ts";
import type { CallPlan } from "./plan.ts";
import { decimal, owed } from "./price.ts";
import type { ProviderCall } from "./provider.ts";

/** One call as it was sent: with an Idempotency-Key perhaps several times. */
export interface SentCall {
  readonly plan: CallPlan;
  readonly tries: readonly SentTry[];
}

export interface SentTry {
  readonly seen: Seen;
  readonly keyId: string | null;
  /** Something happened to its gateway or connection meanwhile. */
  readonly isDisturbed: boolean;
  /** Its key may have been revoked, or was, when it was sent. */
  readonly revocation: "none" | "possible" | "certain";
}

/** The other two sides. */
export interface Evidence {
  /** Of this call, in the order they came. */
  readonly providerCalls: readonly ProviderCall[];
  /** Nano-USD by request id; nothing where nothing was booked. */
  readonly charges: ReadonlyMap<string, bigint>;
}

const STATUSES: ReadonlySet<number> = new Set([400, 401, 402, 409, 422, 429, 503]);
/** Nothing is sent to a provider before these are decided. */
const REFUSED_EARLY: ReadonlySet<number> = new Set([401, 402, 409, 422, 429]);

interface ReadTry extends SentTry {
  readonly reading: Reading;
  readonly charge: bigint;
}

/** Everything that is wrong with a call, in words. */
export function judgeCall(call: SentCall, evidence: Evidence): readonly string[] {
  const tries = call.tries.map((sent) => ({
    ...sent,
    reading: read(sent.seen, call.plan),
    charge: evidence.charges.get(sent.seen.requestId) ?? 0n,
  }));
  const problems = [
    ...tries.flatMap((each) => judgeTry(each, call.plan, evidence)),
    ...judgeAnswers(tries, call.plan, evidence),
  ];
  const isRefused = ({ reading }: ReadTry): boolean => reading.kind === "error" && REFUSED_EARLY.has(reading.status);
  if (tries.every(isRefused) && evidence.providerCalls.length > 0) problems.push("a refused call reached the provider");
  return problems.map((problem) => `${call.plan.name}: ${problem}\n${factsOf(call, tries, evidence)}`);
}

/** What must hold of each try by itself. */
function judgeTry({ reading, charge, ...sent }: ReadTry, plan: CallPlan, { providerCalls }: Evidence): string[] {
  const id = sent.seen.requestId;
  switch (reading.kind) {
    case "malformed":
      return [`${id} got ${reading.why}`];
    case "error":
      return [
        ...(charge === 0n ? [] : [`${id} got ${reading.status} and was charged ${charge}`]),
        ...judgeStatus(reading.status, sent, plan, providerCalls),
      ];
    case "broken":
      return charge === 0n ? [] : [`${id} got a broken stream and was charged ${charge}`];
    case "lost":
      return [
        ...(sent.isDisturbed ? [] : [`${id} lost its connection, and nothing had happened to it`]),
        ...judgeBounds(id, charge, 0n, providerCalls),
      ];
    case "left":
      return judgeBounds(id, charge, leastFor(reading.content, sent, providerCalls), providerCalls);
    case "answer":
      return sent.revocation === "certain" ? [`${id} was answered with a revoked key`] : [];
  }
}

function judgeStatus(
  status: number,
  { seen, revocation }: SentTry,
  { caller, idempotencyKey }: CallPlan,
  providerCalls: readonly ProviderCall[],
): string[] {
  const id = seen.requestId;
  if (!STATUSES.has(status)) return [`${id} got ${status}`];
  if (status === 401 && revocation === "none") return [`${id} got 401 with a key that is good`];
  if (status === 402 && caller === "rich") return [`${id} got 402 with credit for everything`];
  if ((status === 409 || status === 422) && idempotencyKey === null)
    return [`${id} got ${status} without a key to repeat`];
  if (status === 400 && !providerCalls.some(({ kind }) => kind === "400"))
    return [`${id} got 400, and no provider said so`];
  return [];
}

/** A client that disconnects pays for what it got, unless its gateway ended or the provider broke off as well. */
function leastFor(content: string, { isDisturbed }: SentTry, providerCalls: readonly ProviderCall[]): bigint {
  const call = answeredBy(content, providerCalls);
  return call !== undefined && !isDisturbed && isSound(call) ? 1n : 0n;
}

function isSound({ kind }: ProviderCall): boolean {
  return ["answers", "slow", "no usage", "impossible usage", "huge"].includes(kind);
}

function judgeBounds(id: string, charge: bigint, least: bigint, providerCalls: readonly ProviderCall[]): string[] {
  const most = mostFor(providerCalls);
  if (charge < least) return [`${id} disconnected from an answer that it had begun to read, and was charged nothing`];
  return charge > most ? [`${id} has no whole answer and was charged ${charge}, more than the most of ${most}`] : [];
}

/** Input is at most the bytes of the prompt, output the characters of the answer, if it is not what the provider counts. */
const REQUEST_BYTES_MAX = 100_000;

function mostFor(providerCalls: readonly ProviderCall[]): bigint {
  const amounts = providerCalls
    .filter(({ isAccepted }) => isAccepted)
    .map((call) => {
      const { input = 0, cacheRead = 0, cacheWrite = 0, output = 0 } = call.usage ?? {};
      const most = { input: Math.max(input, REQUEST_BYTES_MAX), output: Math.max(output, call.text.length) };
      return owed({ cacheRead, cacheWrite, ...most }, call.model);
    });
  return amounts.reduce((most, amount) => (amount > most ? amount : most), 0n);
}

/** One answer, one charge, exactly: also where it was repeated under an Idempotency-Key, and where replies were lost. */
function judgeAnswers(tries: readonly ReadTry[], plan: CallPlan, { providerCalls }: Evidence): string[] {
  const answered = tries.flatMap((each) => (each.reading.kind === "answer" ? [{ ...each, answer: each.reading }] : []));
  const [first, ...others] = answered;
  if (first === undefined) return [];
  if (others.some(({ seen }) => withoutComments(seen.text) !== withoutComments(first.seen.text))) {
    return ["one Idempotency-Key got two different answers"];
  }
  const call = answeredBy(first.answer.content, providerCalls);
  if (call === undefined) return ["an answer that the provider never gave"];
  if (first.answer.content !== call.text) return [`the answer of call ${call.number} arrived changed`];
  const charged = answered.filter(({ charge }) => charge > 0n);
  if (charged.length > 1) return ["one answer was charged twice"];
  const paidBy = charged[0] ?? tries.find(({ charge }) => isPrice(charge, call, null, plan));
  if (paidBy === undefined) return [`the answer of call ${call.number} was not charged`];
  const shown = answered.map(({ answer }) => answer.shown).find((usage) => usage !== null) ?? null;
  return isPrice(paidBy.charge, call, shown, plan)
    ? []
    : [`the answer of call ${call.number} costs ${priceOf(call, shown)} and was charged ${paidBy.charge}`];
}

/** What happened to records of a step before they were written. */
export interface RecordLoss {
  /** A gateway was killed. */
  readonly wasKilled: boolean;
  /** A gateway that was asked to stop said that it lost some. */
  readonly wasReported: boolean;
}

/** Every charge is in the request log, with the same amount, unless its gateway could not write the record. */
export function judgeRecords(
  charges: ReadonlyMap<string, bigint>,
  lines: ReadonlyMap<string, RequestLine>,
  { wasKilled, wasReported }: RecordLoss,
): readonly string[] {
  if (wasKilled) return [];
  return [...charges].flatMap(([id, charge]) => {
    const line = lines.get(id);
    if (line === undefined) return wasReported ? [] : [`${id} is charged and not in the request log`];
    const logged = line.chargeUsd === null ? 0n : decimal(line.chargeUsd, 9);
    return logged === charge ? [] : [`${id} costs ${logged} in the log, ${charge} in the ledger`];
  });
}

/** Keep-alive comments come by time. */
function withoutComments(text: string): string {
  return text.replaceAll(/^:.*\n\n/gm, "");
}

/**
 * The number at the beginning of an answer names the call. One without text was planned so. Where it has no output tokens
 * either, the gateway has tried another model, so the last one counts.
 */
function answeredBy(content: string, providerCalls: readonly ProviderCall[]): ProviderCall | undefined {
  if (content === "") return providerCalls.findLast(({ kind }) => kind === "empty answer");
  const number = Number(/^<c(\d+)>/.exec(content)?.[1] ?? -1);
  return providerCalls.find((call) => call.number === number);
}

function priceOf({ usage, model }: ProviderCall, shown: ShownUsage | null): bigint | null {
  if (usage !== null) return owed(usage, model);
  return shown === null ? null : owed(shown.tokens, shown.model);
}

/** Exactly what the provider counted. Where it counted nothing, what the response shows, within bounds. */
function isPrice(charge: bigint, call: ProviderCall, shown: ShownUsage | null, { caller }: CallPlan): boolean {
  const price = priceOf(call, shown);
  if (call.usage === null && (charge <= 0n || charge > mostFor([call]))) return false;
  if (price === null || charge === price) return true;
  // A settlement that comes after its gateway was killed takes what is left; the operator bears the remainder.
  return caller === "poor" && charge < price;
}

function factsOf({ plan }: SentCall, tries: readonly ReadTry[], { providerCalls }: Evidence): string {
  const lines = [
    ...tries.map(({ seen, reading, charge, isDisturbed, revocation }) => {
      const { requestId, status, isWhole, hasLeft, beganMs, endedMs } = seen;
      const spanMs = `${Math.round(beganMs)}-${Math.round(endedMs)} ms`;
      return `client ${requestId}: ${JSON.stringify({ status, isWhole, hasLeft, spanMs, reading: shorten(reading), isDisturbed, revocation })} charged ${charge}`;
    }),
    ...providerCalls.map(({ text, ...rest }) => `provider ${JSON.stringify({ ...rest, characters: text.length })}`),
    `plan ${JSON.stringify({ ...plan, attempts: plan.attempts.map(({ kind }) => kind) })}`,
  ];
  return lines.map((line) => `    ${line}`).join("\n");
}

function shorten(reading: Reading): object {
  return "content" in reading ? { ...reading, content: reading.content.slice(0, 40) } : reading;
}
