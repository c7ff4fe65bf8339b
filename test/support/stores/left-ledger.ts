// The ledger that a gateway process left in its folder, read with an operator's commands instead of a next process.

import { expect } from "vitest";
import { type Arguments, readArguments } from "../../../src/cli/command/arguments.ts";
import type { Terminal } from "../../../src/cli/command/terminal.ts";
import { credits } from "../../../src/cli/credits.ts";
import { ledger } from "../../../src/cli/ledger.ts";
import { recordTerminal } from "../gateway/terminal.ts";
import { decimal } from "./money.ts";

/** What the account owns, in nano-USD. Nothing is on hold, and the audit finds nothing. */
export async function postedIn(folder: string): Promise<bigint> {
  expect(await answerOf(ledger, "verify", folder)).toMatchObject({ ok: true, openHolds: 0, problems: [] });
  const { postedUsd, heldUsd } = await answerOf(credits, "balance", folder);
  expect(heldUsd).toBe("0");
  return decimal(String(postedUsd), 9);
}

type Command = (args: Arguments, terminal: Terminal) => Promise<number>;

async function answerOf(command: Command, word: string, cwd: string): Promise<Record<string, unknown>> {
  const terminal = recordTerminal({ cwd });
  expect(await command(readArguments(["x", word, "--json"]), terminal)).toBe(0);
  return JSON.parse(terminal.takeOut());
}
