// A ledger in a process of its own, beside others on the same PostgreSQL and the same account. It takes holds at a fixed
// rate, whether or not earlier ones are done, and settles each a little later.

import { performance } from "node:perf_hooks";
import { setTimeout as pause } from "node:timers/promises";
import { answerParent, SERVER_WORK, type ServerWork } from "../harness/child.ts";
import { holdOne, openLedger, settleOne } from "../ledger.ts";

interface Argument {
  readonly folder: string;
  readonly database: string;
  readonly name: string;
}

/** So many pairs of hold and settlement a second. */
export interface Rate {
  readonly perSecond: number;
  readonly forMs: number;
}

export interface Measured {
  /** From the moment a hold was due until it was on disk, in milliseconds. */
  readonly holdsMs: readonly number[];
  readonly settlementsMs: readonly number[];
}

export type LedgerWork = ServerWork & { run(rate: Rate): Promise<Measured> };

const TICK_MS = 1;
/** Stands for the time a provider takes to answer. */
const ANSWER_MS = 100;

const { database, folder, name } = JSON.parse(process.argv[2] as string) as Argument;
const { ledger } = await openLedger(database, folder, name);
let count = 0;

/** Each pair is timed from when it was due. */
async function run({ perSecond, forMs }: Rate): Promise<Measured> {
  const holdsMs: number[] = [];
  const settlementsMs: number[] = [];
  const open: Promise<void>[] = [];
  const startedAt = performance.now();
  const pair = async (dueAt: number): Promise<void> => {
    count += 1;
    const holdId = `${Date.now().toString(36)}-${name}-${count}`;
    await holdOne(ledger, holdId);
    holdsMs.push(performance.now() - dueAt);
    await pause(ANSWER_MS);
    const answeredAt = performance.now();
    await settleOne(ledger, holdId);
    settlementsMs.push(performance.now() - answeredAt);
  };
  let begun = 0;
  while (performance.now() - startedAt < forMs) {
    for (const due = ((performance.now() - startedAt) * perSecond) / 1000; begun < due; begun += 1) {
      open.push(pair(startedAt + (begun * 1000) / perSecond));
    }
    await pause(TICK_MS);
  }
  await Promise.all(open);
  return { holdsMs, settlementsMs };
}

answerParent(null, { ...SERVER_WORK, run } satisfies LedgerWork);
