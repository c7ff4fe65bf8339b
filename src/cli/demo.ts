// `switchyard demo`: fills a fresh store with generated traffic, so that the dashboard has something to show.

import { command } from "../config/package.ts";
import { type DemoDbs, type DemoFilled, type DemoPlan, demoStateOf, fillWithDemo } from "../demo/fill.ts";
import { OLDER_NOTE } from "../demo/money.ts";
import { withLog } from "../store/db.ts";
import type { Arguments } from "./command/arguments.ts";
import { type Parsed, printJson, runCommand } from "./command/command.ts";
import { isOn, splitFlags, textOf } from "./command/flags.ts";
import { withStore } from "./command/store.ts";
import { type Terminal, thisTerminal } from "./command/terminal.ts";
import * as TEXT from "./command/text.ts";
import { FAILED, UsageError } from "./command/usage.ts";

/** Two months, so that the last 30 days have something to be compared with. Filled in a few seconds. */
export const DEMO_DEFAULTS = { requests: 4_000, days: 60, seed: 1 } as const;
/** Bounds against slips of the keyboard. */
const MAXIMA = { requests: 10_000_000, days: 3_650, seed: 2 ** 31 } as const;
/** Times at which charges are booked. */
const TIMES = TEXT.demoBatches;

interface DemoOptions {
  readonly plan: Pick<DemoPlan, "requests" | "days" | "seed">;
  /** Fills a store that has data already. */
  readonly isConfirmed: boolean;
  readonly isJson: boolean;
}

/** Fills the configured store. */
export function demo(args: Arguments, terminal: Terminal = thisTerminal()): Promise<number> {
  return runCommand({
    ...{ name: "demo", terminal, callsNobody: true, parse: () => parseDemo(args) },
    run: (options, { database, logging }) =>
      withStore(database, ({ db }) =>
        withLog(database, db, (log) =>
          fill({ ...options, retentionDays: logging.retentionDays }, { db, log }, terminal),
        ),
      ),
  });
}

interface FillOptions extends DemoOptions {
  /** Days for which a server with these settings keeps requests. */
  readonly retentionDays: number;
}

/** A store with data in it is left alone unless --yes was given. */
async function fill(options: FillOptions, dbs: DemoDbs, terminal: Terminal): Promise<number> {
  if ((await demoStateOf(dbs)) !== "fresh" && !options.isConfirmed) {
    terminal.say(
      "This database already has requests or credits, and generated ones could not be told apart. Nothing was changed. " +
        "Name another with --database, or add --yes.\n",
    );
    return FAILED;
  }
  const onProgress = progressOn(terminal, options.plan.requests);
  const filled = await fillWithDemo(dbs, { ...options.plan, nowMs: terminal.now(), onProgress });
  report(filled, options, terminal);
  return 0;
}

/** Whole numbers within bounds; everything has a default. */
function parseDemo({ words, flags }: Arguments): Parsed<DemoOptions> {
  if (words.length > 0) throw new UsageError(TEXT.demoTakesFlags(words[0]));
  const { own, config } = splitFlags(flags, ["requests", "days", "seed", "yes", "json", "no-color"]);
  const count = (name: keyof typeof DEMO_DEFAULTS): number => {
    const text = textOf(own, name);
    if (text === null) return DEMO_DEFAULTS[name];
    const value = /^\d{1,10}$/.test(text) ? Number(text) : 0;
    if (value >= 1 && value <= MAXIMA[name]) return value;
    throw new UsageError(TEXT.flagOutOfRange(name, MAXIMA[name], text));
  };
  const plan = { requests: count("requests"), days: count("days"), seed: count("seed") };
  return { options: { plan, isConfirmed: isOn(own, "yes"), isJson: isOn(own, "json") }, config };
}

/** A line that counts up on a screen; nothing where output goes to a file. */
export function progressOn(terminal: Terminal, total: number): (written: number) => void {
  if (!terminal.isScreen) return () => {};
  let shown = -1;
  return (written) => {
    const percent = Math.floor((written / total) * 100);
    if (percent === shown) return;
    shown = percent;
    terminal.say(`\rGenerating traffic: ${percent}%${percent === 100 ? "\n" : ""}`);
  };
}

/** Says what was written, and prints the new key on standard output. */
function report(filled: DemoFilled, { plan, isJson, retentionDays }: FillOptions, terminal: Terminal): void {
  if (isJson) {
    printJson({ ...plan, ...filled }, terminal);
    return;
  }
  const { requests, chargedUsd, booked, olderUsd, balanceUsd, key } = filled;
  terminal.say(TEXT.demoMade(requests.toLocaleString("en-US"), plan.days, chargedUsd));
  terminal.say(
    olderUsd === null ? TEXT.demoAllBooked(booked, TIMES) : TEXT.demoNewestBooked(booked, TIMES, olderUsd, OLDER_NOTE),
  );
  terminal.say(TEXT.demoBalance(balanceUsd, command("serve --demo")));
  if (plan.days > retentionDays) terminal.say(TEXT.demoRetention(retentionDays, plan.days));
  if (key === null) return;
  terminal.say(TEXT.demoKey);
  terminal.out(`${key}\n`);
}
