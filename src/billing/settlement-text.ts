// Settlements sent from a worker to the primary process, as text. They are most of that traffic. Read as objects, one cost
// 12 µs instead of 2.2 (16 November 2026, in process).

import type { LedgerOp, LedgerOutcome, SettleOp } from "../core/ledger.ts";
import { createPriceWriter, type Price } from "../core/money.ts";

export type SentOp = LedgerOp | string;
export type SentOutcome = LedgerOutcome | string;

/** Values without their names. Amounts are text: JSON has no integers of 64 bits. */
type SettlementValues = readonly [
  holdId: string,
  accountId: string,
  charge: string,
  periodStartMs: number,
  requestId: string,
  model: string,
  provider: string,
  isEstimated: boolean,
  markupPpm: number,
  outcome: SettleOp["usage"]["outcome"],
  input: number,
  cacheRead: number,
  cacheWrite: number,
  output: number,
  owner: string,
  keyId: string,
  amount: string,
  isMetered: boolean,
  isFresh: boolean,
];

/** What was reserved in memory becomes text, its price before a tab. It has no line breaks. The rest stays as it is. */
export function createOpWriter(): (op: LedgerOp) => SentOp {
  const writePrice = createPriceWriter();
  return (op) => {
    if (op.kind !== "settle" || op.reserved === undefined || op.answer !== null) return op;
    const { holdId, accountId, charge, usage, periodStartMs, reserved } = op;
    const { requestId, model, provider, buckets, isEstimated, markupPpm, outcome, price } = usage;
    const { owner, keyId, amount, isMetered, isFresh } = reserved;
    const settlement: SettlementValues = [
      holdId,
      accountId,
      String(charge),
      periodStartMs,
      requestId,
      model,
      provider,
      isEstimated,
      markupPpm,
      outcome,
      buckets.input,
      buckets.cacheRead,
      buckets.cacheWrite,
      buckets.output,
      owner,
      keyId,
      String(amount),
      isMetered,
      isFresh,
    ];
    return `${writePrice(price)}\t${JSON.stringify(settlement)}`;
  };
}

/** The same few come again and again. */
const PRICES_MAX = 1_000;

export function createOpReader(): (sent: SentOp) => LedgerOp {
  const prices = new Map<string, Price>();
  const priceOf = (text: string): Price => {
    const known = prices.get(text);
    if (known !== undefined) return known;
    if (prices.size >= PRICES_MAX) prices.clear();
    const read = JSON.parse(text) as Price;
    prices.set(text, read);
    return read;
  };
  return (sent) => {
    if (typeof sent !== "string") return sent;
    const end = sent.indexOf("\t");
    return toSettleOp(JSON.parse(sent.slice(end + 1)) as SettlementValues, priceOf(sent.slice(0, end)));
  };
}

function toSettleOp(values: SettlementValues, price: Price): SettleOp {
  const [
    holdId,
    accountId,
    charge,
    periodStartMs,
    requestId,
    model,
    provider,
    isEstimated,
    markupPpm,
    outcome,
    input,
    cacheRead,
    cacheWrite,
    output,
    owner,
    keyId,
    amount,
    isMetered,
    isFresh,
  ] = values;
  const buckets = { input, cacheRead, cacheWrite, output };
  return {
    kind: "settle",
    holdId,
    accountId,
    charge: BigInt(charge),
    usage: { requestId, model, provider, buckets, isEstimated, price, markupPpm, outcome },
    periodStartMs,
    answer: null,
    reserved: { owner, keyId, amount: BigInt(amount), isMetered, isFresh },
  };
}

/** What a settlement came to, as five numbers. The rest stays as it is. */
export function writeOutcome(outcome: LedgerOutcome): SentOutcome {
  if (outcome.state !== "settled" || outcome.lease === undefined) return outcome;
  const { paid, absorbed, lease } = outcome;
  return `${paid} ${absorbed} ${lease.left} ${lease.available} ${lease.epoch}`;
}

export function readOutcome(sent: SentOutcome): LedgerOutcome {
  if (typeof sent !== "string") return sent;
  const [paid = "", absorbed = "", left = "", available = "", epoch = ""] = sent.split(" ");
  const lease = { left: BigInt(left), available: BigInt(available), epoch: Number(epoch) };
  return { state: "settled", paid: BigInt(paid), absorbed: BigInt(absorbed), lease };
}
