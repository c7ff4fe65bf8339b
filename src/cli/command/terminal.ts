// The terminal: all that a command sees of the world. Data goes to standard output, words for people to standard error,
// so that `KEY=$(switchyard keys create …)` holds the key and nothing else.

import { createInterface } from "node:readline/promises";
import { text as readAll } from "node:stream/consumers";

export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** True if standard output is a screen. */
  readonly isScreen: boolean;
  /** Data, to standard output. */
  out(text: string): void;
  /** Words for people, to standard error. */
  say(text: string): void;
  /** Everything that comes in on standard input. */
  readInput(): Promise<string>;
  /** Asks the user; null when nobody is there to answer. */
  readonly ask: ((question: string) => Promise<string>) | null;
  now(): number;
}

/** The terminal of this process. Tests pass one of their own. */
export function thisTerminal(): Terminal {
  const { stdin, stdout, stderr } = process;
  stdout.on("error", ignoreClosedPipe);
  // Nobody is left to read an error of standard error.
  stderr.on("error", () => undefined);
  return {
    env: process.env,
    cwd: process.cwd(),
    isScreen: stdout.isTTY === true,
    out: (text) => void stdout.write(text),
    say: (text) => void stderr.write(text),
    readInput: () => readAll(stdin),
    ask: stdin.isTTY && stderr.isTTY ? askPerson : null,
    now: Date.now,
  };
}

/** A reader that closes early, such as `head`, is no failure: the command still does its work. */
function ignoreClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== "EPIPE") throw error;
}

/** On standard error, so that output that is piped elsewhere stays clean. */
async function askPerson(question: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await lines.question(question);
  } finally {
    lines.close();
  }
}
