// `switchyard demo`: a month of made-up traffic in a fresh store, to see the dashboard alive and to measure it by.

import type { Db } from "../core/db.ts";
import { type DemoFilled, type DemoPlan, fillWithDemo } from "../demo/fill.ts";
import { OLDER_NOTE } from "../demo/money.ts";
import { demoStateOf } from "../demo/state.ts";
import type { Arguments } from "./command/arguments.ts";
import { perform, printJson, type ReadOrder } from "./command/command.ts";
import { type Terminal, thisTerminal } from "./command/terminal.ts";
import { FAILED, isOn, splitFlags, textOf, UsageError } from "./command/usage.ts";
import { withKeyRing } from "./keys/key-store.ts";

export const DEMO_DEFAULTS = { requests: 5_000, days: 30, seed: 1 } as const;
const MOST = { requests: 10_000_000, days: 3_650, seed: 2 ** 31 } as const;

interface Order {
  readonly plan: Pick<DemoPlan, "requests" | "days" | "seed">;
  readonly isConfirmed: boolean;
  readonly isJson: boolean;
}

export function demo(args: Arguments, terminal: Terminal = thisTerminal()): Promise<number> {
  return perform({
    ...{ name: "demo", terminal, read: () => readOrder(args) },
    carryOut: (order, { database }) => withKeyRing(database, ({ db }) => carryOut(order, db, terminal)),
  });
}

async function carryOut(order: Order, db: Db, terminal: Terminal): Promise<number> {
  if ((await demoStateOf(db)) !== "fresh" && !order.isConfirmed) {
    terminal.say(
      "This database has requests or money already, and made-up ones could not be told from them. Nothing was changed. " +
        "Name another with --database, or add --yes.\n",
    );
    return FAILED;
  }
  const onProgress = progressOn(terminal, order.plan.requests);
  const filled = await fillWithDemo(db, { ...order.plan, nowMs: terminal.now(), onProgress });
  report(filled, order, terminal);
  return 0;
}

function readOrder({ words, flags }: Arguments): ReadOrder<Order> {
  if (words.length > 0) throw new UsageError(`demo takes flags only, not '${words[0]}'.`);
  const { own, config } = splitFlags(flags, ["requests", "days", "seed", "yes", "json", "no-color"]);
  const count = (name: keyof typeof DEMO_DEFAULTS): number => {
    const text = textOf(own, name);
    if (text === null) return DEMO_DEFAULTS[name];
    const value = /^\d{1,10}$/.test(text) ? Number(text) : 0;
    if (value >= 1 && value <= MOST[name]) return value;
    throw new UsageError(`--${name} is a whole number from 1 to ${MOST[name]}, not '${text}'.`);
  };
  const plan = { requests: count("requests"), days: count("days"), seed: count("seed") };
  return { order: { plan, isConfirmed: isOn(own, "yes"), isJson: isOn(own, "json") }, config };
}

export function progressOn(terminal: Terminal, total: number): (written: number) => void {
  if (!terminal.isScreen) return () => {};
  let shown = -1;
  return (written) => {
    const percent = Math.floor((written / total) * 100);
    if (percent === shown) return;
    shown = percent;
    terminal.say(`\rMaking up traffic: ${percent} %${percent === 100 ? "\n" : ""}`);
  };
}

function report(filled: DemoFilled, { plan, isJson }: Order, terminal: Terminal): void {
  if (isJson) {
    printJson({ ...plan, ...filled }, terminal);
    return;
  }
  const { requests, chargedUsd, booked, olderUsd, balanceUsd, key } = filled;
  terminal.say(`Made up ${requests} requests of the last ${plan.days} days for ${chargedUsd} USD in play money.\n`);
  terminal.say(
    olderUsd === null
      ? `All ${booked} charges are in the ledger, at the times of their requests.\n`
      : `The newest ${booked} charges are in the ledger, at the times of their requests; the others are corrections of ${olderUsd} USD, one a month, "${OLDER_NOTE}".\n`,
  );
  terminal.say(`The balance is ${balanceUsd} USD. Look at it: switchyard serve, on the same database.\n`);
  if (key === null) return;
  terminal.say('The key "production" is shown this once:\n');
  terminal.out(`${key}\n`);
}
