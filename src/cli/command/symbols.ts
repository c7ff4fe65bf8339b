// Symbols of results, ✓ ! ✗, and their colours on a screen.

import type { Check } from "../../config/doctor.ts";
import type { Flags } from "./arguments.ts";
import { isOn } from "./flags.ts";
import type { Terminal } from "./terminal.ts";

/** Colours are ANSI codes: green, yellow, red. */
const SYMBOLS: Readonly<Record<Check["state"], { readonly symbol: string; readonly colour: number }>> = {
  ok: { symbol: "✓", colour: 32 },
  warn: { symbol: "!", colour: 33 },
  fail: { symbol: "✗", colour: 31 },
};

/** Follows no-color.org: NO_COLOR counts when set and not empty. */
export function hasColour(flags: Flags, { isScreen, env }: Terminal): boolean {
  return !isOn(flags, "no-color") && isScreen && (env.NO_COLOR ?? "") === "" && env.TERM !== "dumb";
}

export function symbolOf(state: Check["state"], isColoured: boolean): string {
  const { symbol, colour } = SYMBOLS[state];
  return isColoured ? `\u001B[${colour}m${symbol}\u001B[0m` : symbol;
}

/** A check that passed needs no advice on a screen, though `--json` has it. */
export function formatCheck({ state, what, fix }: Check, isColoured: boolean): string {
  const advice = fix === null || state === "ok" ? "" : `    ${fix}\n`;
  return `${symbolOf(state, isColoured)} ${what}\n${advice}`;
}

/** Counts the checks that failed and those that warn. */
export function countStates(checks: readonly Pick<Check, "state">[]): { failed: number; warned: number } {
  const count = (wanted: Check["state"]): number => checks.filter(({ state }) => state === wanted).length;
  return { failed: count("fail"), warned: count("warn") };
}
