// Wrong usage and failures of commands: which flags are theirs, what to say, and the exit code.

import { nearest } from "../../catalog/nearest.ts";
import { optionRows } from "../../config/options/table.ts";
import { GatewayError } from "../../core/errors.ts";
import type { Arguments } from "./arguments.ts";
import type { Terminal } from "./terminal.ts";

export const FAILED = 1;
export const WRONG_USAGE = 2;

type Flags = Arguments["flags"];

/** The caller wrote something that no command understands; exit 2. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "UsageError";
  }
}

/** Splits a command's own flags from those of the configuration. A flag that neither knows is wrong usage. */
export function splitFlags(flags: Flags, ownNames: readonly string[]): { readonly own: Flags; readonly config: Flags } {
  const configNames = optionRows().flatMap(({ flag }) => (flag === null ? [] : [flag]));
  const own: Record<string, string | undefined> = {};
  const config: Record<string, string | undefined> = {};
  for (const [name, value] of Object.entries(flags)) {
    if (ownNames.includes(name)) own[name] = value;
    else if (configNames.includes(name)) config[name] = value;
    else
      throw unknown({
        what: "flag",
        word: `--${name}`,
        known: [...ownNames, ...configNames].map((known) => `--${known}`),
      });
  }
  return { own, config };
}

interface Unknown {
  readonly what: string;
  readonly word: string;
  readonly known: readonly string[];
  /** What to say where none of those known is near. */
  readonly advice?: string;
}

/** For a word that is none of those known. */
export function unknown({ what, word, known, advice = "" }: Unknown): UsageError {
  const meant = nearest(word, known);
  const hint = meant === null ? advice : `Did you mean '${meant}'?`;
  return new UsageError(`There is no ${what} '${word}' here. ${hint}`.trimEnd());
}

/** The text after a flag; null when the flag is absent. A flag alone arrives as "true", which is nobody's value. */
export function textOf(flags: Flags, name: string): string | null {
  const value = flags[name];
  if (value === undefined) return null;
  if (value === "true" || value.trim() === "") throw new UsageError(`--${name} needs a value.`);
  return value;
}

/** Switches take no value: `--json=yes` is more likely a mistake than a wish. */
export function isOn(flags: Flags, name: string): boolean {
  const value = flags[name];
  if (value === undefined || value === "false") return false;
  if (value === "true") return true;
  throw new UsageError(`--${name} takes no value.`);
}

/** Says what went wrong in one line; the exit code to end with. */
export function explainFailure(error: unknown, command: string, terminal: Terminal): number {
  if (error instanceof UsageError || isMiswritten(error)) {
    terminal.say(`${error.message} See: switchyard help ${command}\n`);
    return WRONG_USAGE;
  }
  terminal.say(`switchyard ${command}: ${reasonOf(error)}\n`);
  return FAILED;
}

/** A value that was refused for how it is written, not for what there is. */
function isMiswritten(error: unknown): error is GatewayError {
  return error instanceof GatewayError && MISWRITTEN.has(error.details.code ?? "");
}

const MISWRITTEN: ReadonlySet<string> = new Set(["invalid_amount", "invalid_value"]);

/** The message with its cause: a command runs for the operator, from whom nothing is kept. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code } = error as NodeJS.ErrnoException;
  // Connecting to several addresses of one name fails with an error that has a code and no message.
  const message = error.message || code || error.name;
  return error.cause instanceof Error ? `${message} (${reasonOf(error.cause)})` : message;
}
