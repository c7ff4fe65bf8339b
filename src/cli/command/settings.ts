// The settings a command runs with, or every problem printed at once.

import { load } from "../../config/load.ts";
import { formatProblems } from "../../config/report.ts";
import type { Loaded } from "../../config/settings.ts";
import type { Arguments } from "./arguments.ts";
import { type Terminal, thisTerminal } from "./terminal.ts";

export const BAD_CONFIGURATION = 78;

/** With the configuration's flags only: any other is a problem. */
export function loadSettings(
  flags: Arguments["flags"],
  { env, cwd }: Pick<Terminal, "env" | "cwd"> = thisTerminal(),
): Loaded {
  return load({ flags, env, cwd });
}

/** Prints what is wrong; the exit code to end with. */
export function printProblems(loaded: Extract<Loaded, { ok: false }>, terminal: Terminal = thisTerminal()): number {
  terminal.say(`${formatProblems(loaded.problems)}\n`);
  return BAD_CONFIGURATION;
}
