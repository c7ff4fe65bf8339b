// What commands have in common: an order is read before anything is opened, the settings it runs with are loaded, and
// whatever goes wrong is explained in one place.

import type { Settings } from "../../config/settings.ts";
import type { Arguments } from "./arguments.ts";
import { loadSettings, printProblems } from "./settings.ts";
import type { Terminal } from "./terminal.ts";
import { explainFailure, FAILED, UsageError, unknown } from "./usage.ts";

/** What the ledger keeps as who did it. */
export const COMMAND_LINE = "command line";

export interface ReadOrder<Order> {
  readonly order: Order;
  /** The flags that are the configuration's. */
  readonly config: Arguments["flags"];
}

export interface Performance<Order> {
  readonly name: string;
  readonly terminal: Terminal;
  /** Throws UsageError. */
  read(): ReadOrder<Order> | Promise<ReadOrder<Order>>;
  carryOut(order: Order, settings: Settings): Promise<number>;
}

/** The exit code. */
export async function perform<Order>(performance: Performance<Order>): Promise<number> {
  const { name, terminal } = performance;
  try {
    const { order, config } = await performance.read();
    const loaded = loadSettings(config, terminal);
    if (!loaded.ok) return printProblems(loaded, terminal);
    // What is wrong with this very call; the rest is for the doctor to tell.
    const warnings = loaded.warnings.filter(({ place }) => place.startsWith("flag "));
    for (const { place, message } of warnings) terminal.say(`! ${place}: ${message}.\n`);
    return await performance.carryOut(order, loaded.settings);
  } catch (error) {
    return explainFailure(error, name, terminal);
  }
}

/** The first of the words as one of those known, and the words after it, of which there are at most so many. */
export function readSubcommand<Kind extends string>(
  words: readonly string[],
  command: string,
  known: Readonly<Record<Kind, number>>,
): readonly [kind: Kind, ...rest: string[]] {
  const [word, ...rest] = words;
  const names = Object.keys(known) as Kind[];
  const listed = `${names.slice(0, -1).join(", ")}${names.length > 1 ? " or " : ""}${names.at(-1)}`;
  const advice = `Say what to do: ${command} ${listed}.`;
  if (word === undefined) throw new UsageError(advice);
  const kind = names.find((name) => name === word);
  if (kind === undefined) throw unknown({ what: "subcommand", word, known: names, advice });
  const stray = rest[known[kind]];
  if (stray !== undefined) throw new UsageError(`'${stray}' is one word too many.`);
  return [kind, ...rest];
}

export function printJson(value: object, terminal: Terminal): void {
  terminal.out(`${JSON.stringify(value, null, 2)}\n`);
}

export interface Deed {
  readonly question: string;
  /** The command, for where nobody can be asked. */
  readonly what: string;
  /** Whether --yes was given. */
  readonly isConfirmed: boolean;
}

/** Null when it may be done; the exit code when it may not. */
export async function refusal({ question, what, isConfirmed }: Deed, terminal: Terminal): Promise<number | null> {
  if (isConfirmed) return null;
  if (terminal.ask === null) throw new UsageError(`${what} cannot be undone; add --yes where nobody can be asked.`);
  if (/^y(es)?$/i.test((await terminal.ask(`${question} [y/N] `)).trim())) return null;
  terminal.say("Nothing was changed.\n");
  return FAILED;
}
