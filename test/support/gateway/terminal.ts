// A terminal that keeps what a command writes, with a folder of its own and no variables but those given.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { Terminal } from "../../../src/cli/command/terminal.ts";

export interface RecordedTerminal extends Terminal {
  /** What was written so far; reading it empties it. */
  takeOut(): string;
  takeSaid(): string;
}

export function recordTerminal(overrides: Partial<Terminal> = {}): RecordedTerminal {
  let out = "";
  let said = "";
  return {
    env: {},
    cwd: overrides.cwd ?? makeFolder(),
    isScreen: false,
    ask: null,
    readInput: async () => "",
    now: Date.now,
    out(text) {
      out += text;
    },
    say(text) {
      said += text;
    },
    takeOut() {
      const taken = out;
      out = "";
      return taken;
    },
    takeSaid() {
      const taken = said;
      said = "";
      return taken;
    },
    ...overrides,
  };
}

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "switchyard-cli-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
