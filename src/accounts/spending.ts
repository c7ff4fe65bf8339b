// Key spending in the current period of a spend limit, and its reset before the period ends.

import type { KeyRecord, KeySpendStore } from "../core/keys.ts";
import { nextPeriodMs, periodStartMs } from "../core/keys.ts";
import type { KeySpend } from "../core/ledger.ts";
import type { NanoUsd } from "../core/money.ts";

export interface Spent {
  readonly spent: NanoUsd;
  /** The start of the period; null when it counts since the key has a limit. */
  readonly sinceMs: number | null;
  readonly resetsAtMs: number | null;
}

export interface Spending {
  /** By key id, for keys with a limit. */
  of(keys: readonly KeyRecord[]): Promise<ReadonlyMap<string, Spent>>;
  /** Starts the count again from zero. Open holds stay, and count when they are charged. */
  reset(key: KeyRecord): Promise<Spent | null>;
}

export interface SpendingOptions {
  readonly store: KeySpendStore;
  readonly now?: () => number;
}

export function createSpending({ store, now = Date.now }: SpendingOptions): Spending {
  const of = async (keys: readonly KeyRecord[]): Promise<ReadonlyMap<string, Spent>> => {
    const limited = keys.filter(({ spendLimitNano }) => spendLimitNano !== null);
    const spends = await store.of(limited.map(({ spendKeyId }) => spendKeyId));
    const atMs = now();
    return new Map(limited.map((key) => [key.id, spentOf(key, spends.get(key.spendKeyId), atMs)]));
  };
  return {
    of,
    reset: async (key) => {
      await store.reset(key.spendKeyId, now());
      return (await of([key])).get(key.id) ?? null;
    },
  };
}

/** The spending that the next request of the key will see: nothing is spent in a period without requests. */
function spentOf({ spendReset }: KeyRecord, spend: KeySpend | undefined, atMs: number): Spent {
  const startMs = periodStartMs(spendReset, atMs);
  const resetsAtMs = nextPeriodMs(spendReset, atMs);
  if (spend === undefined || spend.periodStartMs < startMs) return { spent: 0n, sinceMs: startMs || null, resetsAtMs };
  return { spent: spend.spent - spend.spentBefore, sinceMs: spend.periodStartMs || null, resetsAtMs };
}
