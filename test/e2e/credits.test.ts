// Credits and the audit as commands, beside a running server and without one.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readArguments } from "../../src/cli/command/arguments.ts";
import { credits } from "../../src/cli/credits.ts";
import { ledger } from "../../src/cli/ledger.ts";
import { openDb } from "../../src/store/db.ts";
import { type RecordedTerminal, recordTerminal } from "../support/gateway/terminal.ts";

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly said: string;
}

async function run(terminal: RecordedTerminal, ...words: readonly string[]): Promise<Ran> {
  const command = words[0] === "credits" ? credits : ledger;
  const code = await command(readArguments(words), terminal);
  return { code, out: terminal.takeOut(), said: terminal.takeSaid() };
}

async function json(terminal: RecordedTerminal, ...words: readonly string[]): Promise<unknown> {
  const { code, out } = await run(terminal, ...words, "--json");
  expect(code).toBe(0);
  return JSON.parse(out);
}

test("added, adjusted and shown before any server has run", async () => {
  const terminal = recordTerminal();
  expect(await run(terminal, "credits", "ledger")).toMatchObject({
    code: 0,
    out: "",
    said: expect.stringMatching(/No entries/),
  });
  const added = await run(terminal, "credits", "add", "25", "--note", "January");
  expect(added).toEqual({ code: 0, out: "", said: expect.stringContaining("is 25 USD.") });
  expect(await run(terminal, "credits", "adjust", "-2.50")).toMatchObject({
    code: 0,
    said: expect.stringMatching(/22\.5 USD/),
  });
  expect(await json(terminal, "credits", "balance")).toEqual({
    postedUsd: "22.5",
    heldUsd: "0",
    availableUsd: "22.5",
    billingMode: "prepaid",
  });
  expect((await run(terminal, "credits", "balance")).out).toMatch(
    /^posted +22\.5 USD\nheld +0 USD\navailable +22\.5 USD\nbilling mode +prepaid\n$/,
  );
  expect(await json(terminal, "credits", "ledger")).toMatchObject({
    data: [
      { kind: "adjustment", amountUsd: "-2.5", balanceAfterUsd: "22.5", note: null, actor: "command line" },
      { kind: "topup", amountUsd: "25", balanceAfterUsd: "25", note: "January", actor: "command line" },
    ],
  });
  const table = (await run(terminal, "credits", "ledger")).out.split("\n");
  expect(table[0]).toMatch(/^TIME +KIND +AMOUNT USD +BALANCE USD +BY +FOR/);
  expect(table[2]).toMatch(/topup +25 +25 +command line +January/);
});

test("the billing mode of an account is shown, set and given back to the gateway's", async () => {
  const terminal = recordTerminal();
  expect((await run(terminal, "credits", "mode")).said).toBe("Account 'default' is prepaid (from billing.mode).\n");
  expect((await run(terminal, "credits", "mode", "metered")).said).toBe("Account 'default' is metered.\n");
  expect(await json(terminal, "credits", "balance")).toMatchObject({ billingMode: "metered" });
  expect(await json(terminal, "credits", "mode", "default")).toEqual({ billingMode: "prepaid", isOwn: false });
  expect(await run(terminal, "credits", "mode", "free")).toMatchObject({
    code: 2,
    said: expect.stringMatching(/one of prepaid, metered, default, not 'free'/),
  });
});

test("with one idempotency key once", async () => {
  const terminal = recordTerminal();
  const add = ["credits", "add", "5", "--idempotency-key", "invoice-1"];
  const first = await json(terminal, ...add);
  expect(first).toMatchObject({ kind: "topup", amountUsd: "5", balanceAfterUsd: "5" });
  expect(await json(terminal, ...add)).toEqual(first);
  expect(await json(terminal, "credits", "balance")).toMatchObject({ postedUsd: "5" });
  const other = await run(terminal, "credits", "add", "6", "--idempotency-key", "invoice-1");
  expect(other).toMatchObject({ code: 1, out: "", said: expect.stringMatching(/another amount/) });
});

test.each(["0", "-5", "1e3", "1,5", "0.0000000001", "1000000.1", "five", "1.", "99999999999999"])(
  "credits add %s is rejected",
  async (amount) => {
    const terminal = recordTerminal();
    expect(await run(terminal, "credits", "add", amount)).toMatchObject({
      code: 2,
      out: "",
      said: expect.stringMatching(/decimal text in USD/),
    });
    expect(await json(terminal, "credits", "balance")).toMatchObject({ postedUsd: "0" });
  },
);

test("more than there is cannot be taken away", async () => {
  const terminal = recordTerminal();
  await run(terminal, "credits", "add", "1");
  expect(await run(terminal, "credits", "adjust", "-1.000000001")).toMatchObject({
    code: 1,
    said: expect.stringMatching(/is available/),
  });
  expect(await run(terminal, "credits", "adjust", "-1")).toMatchObject({ code: 0 });
});

test.each<readonly [string, readonly string[], RegExp]>([
  ["no subcommand", ["credits"], /Use: /],
  ["an unknown subcommand", ["credits", "balanc"], /Did you mean 'balance'/],
  ["no amount", ["credits", "add"], /needs an amount/],
  ["one word too many", ["credits", "add", "5", "6"], /Unexpected argument/],
  ["an amount where there is none", ["credits", "balance", "5"], /Unexpected argument/],
  ["an unknown flag", ["credits", "add", "5", "--acount", "x"], /Did you mean '--account'/],
  ["a flag without its value", ["credits", "add", "5", "--note"], /--note needs a value/],
  ["an empty idempotency key", ["credits", "add", "5", "--idempotency-key="], /--idempotency-key needs a value/],
  ["ledger alone", ["ledger"], /ledger verify/],
  ["ledger with another word", ["ledger", "show"], /ledger verify/],
])("%s is wrong usage", async (_, words, said) => {
  const ran = await run(recordTerminal(), ...words);
  expect(ran).toMatchObject({ code: 2, out: "", said: expect.stringMatching(said) });
  expect(ran.said).toContain(`See: npm start -- help ${words[0]}`);
});

test("an unknown account", async () => {
  const terminal = recordTerminal();
  expect(await run(terminal, "credits", "add", "5", "--account", "acc_none")).toMatchObject({
    code: 1,
    said: expect.stringMatching(/No account 'acc_none'/),
  });
});

describe("ledger verify", () => {
  let terminal: RecordedTerminal;
  let file: string;
  const folder = mkdtempSync(join(tmpdir(), "switchyard-verify-"));
  beforeAll(async () => {
    file = join(folder, "money.db");
    terminal = recordTerminal({ cwd: folder, env: { DATABASE_URL: `sqlite:${file}` } });
    await run(terminal, "credits", "add", "5");
    await run(terminal, "credits", "add", "7");
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test("exits with 0 when everything fits", async () => {
    const ran = await run(terminal, "ledger", "verify");
    expect(ran).toMatchObject({
      code: 0,
      said: /✓ The ledger is consistent: \d+ wallets?, 2 transactions, 0 open holds\./,
    });
    expect(await json(terminal, "ledger", "verify")).toMatchObject({ ok: true, transactions: 2, problems: [] });
  });

  test("exits with 1 and names the row when one was changed", async () => {
    const db = await openDb(`sqlite:${file}`);
    const triggers = await db.query("SELECT name FROM sqlite_master WHERE type = 'trigger'");
    for (const { name } of triggers) await db.query(`DROP TRIGGER "${String(name)}"`);
    const [row] = await db.query("SELECT id FROM ledger_transactions WHERE sequence = 1");
    await db.query("UPDATE ledger_entries SET amount = amount + 1 WHERE sequence = 1 AND book = 'wallet'");
    await db.close();
    const ran = await run(terminal, "ledger", "verify");
    expect(ran.code).toBe(1);
    expect(ran.out).toContain(String(row?.id));
    expect(ran.said).toContain("✗ The ledger is inconsistent");
    const { code, out } = await run(terminal, "ledger", "verify", "--json");
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({ ok: false, problems: [expect.stringContaining(String(row?.id))] });
  });
});
