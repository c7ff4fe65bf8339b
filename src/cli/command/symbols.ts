// The marks of results, ✓ ! ✗, and their colours on a screen.

import type { Check } from "../../config/doctor.ts";
import type { Arguments } from "./arguments.ts";
import type { Terminal } from "./terminal.ts";
import { isOn } from "./usage.ts";

const MARKS: Readonly<Record<Check["state"], { readonly mark: string; readonly colour: number }>> = {
  ok: { mark: "✓", colour: 32 },
  warn: { mark: "!", colour: 33 },
  fail: { mark: "✗", colour: 31 },
};

/** As no-color.org has it: set and not empty means none. */
export function hasColour(flags: Arguments["flags"], { isScreen, env }: Terminal): boolean {
  return !isOn(flags, "no-color") && isScreen && (env.NO_COLOR ?? "") === "" && env.TERM !== "dumb";
}

export function markOf(state: Check["state"], isColoured: boolean): string {
  const { mark, colour } = MARKS[state];
  return isColoured ? `\u001B[${colour}m${mark}\u001B[0m` : mark;
}

/** What is fine needs no advice, though programs get it. */
export function formatCheck({ state, what, fix }: Check, isColoured: boolean): string {
  const advice = fix === null || state === "ok" ? "" : `    ${fix}\n`;
  return `${markOf(state, isColoured)} ${what}\n${advice}`;
}

/** How many are to be mended, and to be looked at. */
export function countStates(checks: readonly Pick<Check, "state">[]): { failed: number; warned: number } {
  const count = (wanted: Check["state"]): number => checks.filter(({ state }) => state === wanted).length;
  return { failed: count("fail"), warned: count("warn") };
}
