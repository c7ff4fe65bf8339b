// Exit codes, and how a failed command explains itself in one line.

import { nearest } from "../../catalog/nearest.ts";
import { command } from "../../config/package.ts";
import { GatewayError } from "../../core/errors.ts";
import { StoreUnusable } from "../../core/store-errors.ts";
import type { Terminal } from "./terminal.ts";
import * as TEXT from "./text.ts";

export const FAILED = 1;
export const WRONG_USAGE = 2;

/** The caller wrote something that no command understands; exit 2. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "UsageError";
  }
}

interface UnknownWord {
  /** Kind of the word: command, subcommand or flag. */
  readonly what: string;
  readonly word: string;
  readonly known: readonly string[];
  /** The hint where none of the known words is near. */
  readonly advice?: string;
}

/** For a word that is not among the known ones, with the nearest of them as a hint. */
export function unknown({ what, word, known, advice = "" }: UnknownWord): UsageError {
  const meant = nearest(word, known);
  const hint = meant === null ? advice : TEXT.didYouMean(meant);
  return new UsageError(TEXT.unknownWord(what, word, hint).trimEnd());
}

/** Prints what went wrong in one line. The exit code to end with. */
export function explainFailure(error: unknown, name: string, terminal: Terminal): number {
  if (error instanceof UsageError || isMalformed(error)) {
    terminal.say(TEXT.seeHelp(error.message, command(`help ${name}`)));
    return WRONG_USAGE;
  }
  terminal.say(`switchyard ${name}: ${reasonOf(error)}\n`);
  return FAILED;
}

/** A service rejected how a value is written, not what it names: that is wrong usage, too. */
function isMalformed(error: unknown): error is GatewayError {
  return error instanceof GatewayError && MALFORMED.has(error.details.code ?? "");
}

const MALFORMED: ReadonlySet<string> = new Set(["invalid_amount", "invalid_value"]);

/** The message with its cause. A command runs for the operator, from whom nothing is kept back. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof StoreUnusable) return error.advice;
  const { code } = error as NodeJS.ErrnoException;
  // Connecting to several addresses of one name fails with an error that has a code and no message.
  const message = error.message || code || error.name;
  return error.cause instanceof Error ? `${message} (${reasonOf(error.cause)})` : message;
}
