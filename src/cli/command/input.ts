// Text and JSON that is too long for a command line: from a file, from standard input, or written out after the flag.

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Terminal } from "./terminal.ts";
import { reasonOf, UsageError } from "./usage.ts";

const STANDARD_INPUT = "-";

/** `-` is standard input; anything else is the text itself. */
export async function readText(word: string, terminal: Terminal): Promise<string> {
  return word === STANDARD_INPUT ? terminal.readInput() : word;
}

/** The array in a file, on standard input (`-`), or in the word itself, which then starts with a bracket. */
export async function readJsonArray(word: string, flag: string, terminal: Terminal): Promise<readonly unknown[]> {
  const isInline = word.trimStart().startsWith("[");
  const text = isInline ? word : await readSource(word, flag, terminal);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new UsageError(`--${flag} is not JSON: ${reasonOf(error)}.`);
  }
  if (Array.isArray(value)) return value;
  throw new UsageError(`--${flag} must hold a JSON array.`);
}

async function readSource(word: string, flag: string, terminal: Terminal): Promise<string> {
  if (word === STANDARD_INPUT) return terminal.readInput();
  try {
    return readFileSync(resolve(terminal.cwd, word), "utf8");
  } catch (error) {
    throw new UsageError(`--${flag} names a file that cannot be read: ${reasonOf(error)}.`);
  }
}
