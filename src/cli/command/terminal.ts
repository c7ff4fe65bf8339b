// What a command sees of the world and writes to: data on standard output, words for people on standard error.

import { createInterface } from "node:readline/promises";
import { text as readAll } from "node:stream/consumers";

export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Whether standard output is a screen. */
  readonly isScreen: boolean;
  out(text: string): void;
  say(text: string): void;
  /** Everything that comes in on standard input. */
  readInput(): Promise<string>;
  /** Null when nobody is there to answer. */
  readonly ask: ((question: string) => Promise<string>) | null;
  now(): number;
}

export function thisTerminal(): Terminal {
  const { stdin, stdout, stderr } = process;
  for (const stream of [stdout, stderr]) stream.on("error", unlessGone);
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

/** A reader that has seen enough, such as `head`, is no failure; what the command does is still done. */
function unlessGone(error: NodeJS.ErrnoException): void {
  if (error.code !== "EPIPE") throw error;
}

/** On standard error, so that the answer of a command that is piped elsewhere stays clean. */
async function askPerson(question: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await lines.question(question);
  } finally {
    lines.close();
  }
}
