// Credits as a command, directly on the store: a running server sees the new balance with its next request.

import { DEFAULT_ACCOUNT } from "../accounts/accounts.ts";
import { type Credits, createCredits } from "../billing/credits.ts";
import { createLedger } from "../billing/ledger.ts";
import { NO_OUTBOX } from "../billing/outbox.ts";
import type { Db } from "../core/db.ts";
import type { LedgerLine } from "../core/ledger.ts";
import { formatUsd } from "../core/money.ts";
import { writeBalance, writeLine, writeTransaction } from "../http/api/credits.ts";
import { createLedgerStore } from "../store/ledger/ledger.ts";
import { createLedgerList } from "../store/ledger/list.ts";
import { SILENT_LOG } from "../telemetry/log.ts";
import type { Arguments } from "./command/arguments.ts";
import { COMMAND_LINE, perform, printJson, type ReadOrder, readSubcommand } from "./command/command.ts";
import { formatTable } from "./command/table.ts";
import { type Terminal, thisTerminal } from "./command/terminal.ts";
import { isOn, splitFlags, textOf, UsageError } from "./command/usage.ts";
import { withKeyRing } from "./keys/key-store.ts";

/** Each with how many words follow it. */
const SUBCOMMANDS = { add: 1, adjust: 1, balance: 0, ledger: 0 };
type Subcommand = keyof typeof SUBCOMMANDS;

const LEDGER_LINES = 50;

interface Order {
  readonly kind: Subcommand;
  readonly amountUsd: string | null;
  readonly accountId: string;
  readonly note: string | null;
  readonly idempotencyKey: string | null;
  readonly isJson: boolean;
}

export function credits(args: Arguments, terminal: Terminal = thisTerminal()): Promise<number> {
  return perform({
    ...{ name: "credits", terminal, read: () => readOrder(args) },
    carryOut: (order, { database }) =>
      withKeyRing(database, async (ring) => {
        await ring.requireAccount(order.accountId, terminal.now());
        return carryOut(order, creditsOf(ring.db), terminal);
      }),
  });
}

function readOrder({ words, flags }: Arguments): ReadOrder<Order> {
  const [kind, amount] = readSubcommand(words, "credits", SUBCOMMANDS);
  const { own, config } = splitFlags(flags, ["account", "note", "idempotency-key", "json", "no-color"]);
  if (SUBCOMMANDS[kind] === 1 && amount === undefined) throw new UsageError(`credits ${kind} needs an amount in USD.`);
  const order = {
    kind,
    amountUsd: amount ?? null,
    accountId: textOf(own, "account") ?? DEFAULT_ACCOUNT,
    note: textOf(own, "note"),
    idempotencyKey: textOf(own, "idempotency-key"),
    isJson: isOn(own, "json"),
  };
  return { order, config };
}

/** Nothing is started: a command moves money and is gone. */
function creditsOf(db: Db): Credits {
  const store = createLedgerStore(db, "command");
  const ledger = createLedger({ store, outbox: NO_OUTBOX, log: SILENT_LOG, ownerSilentMs: 0 });
  return createCredits(ledger, createLedgerList(db));
}

async function carryOut(order: Order, service: Credits, terminal: Terminal): Promise<number> {
  if (order.kind === "ledger") return showLedger(order, service, terminal);
  if (order.kind === "balance") return showBalance(order, service, terminal);
  const movement = { ...order, amountUsd: order.amountUsd as string, actor: COMMAND_LINE };
  const transaction = await (order.kind === "add" ? service.topUp(movement) : service.adjust(movement));
  if (order.isJson) printJson(writeTransaction(transaction), terminal);
  else {
    const balance = formatUsd(transaction.balanceAfter);
    terminal.say(`Done. The balance of '${order.accountId}' is ${balance} USD. All of it: switchyard credits ledger\n`);
  }
  return 0;
}

async function showBalance({ accountId, isJson }: Order, service: Credits, terminal: Terminal): Promise<number> {
  const balance = writeBalance(await service.balance(accountId));
  if (isJson) printJson(balance, terminal);
  else
    terminal.out(
      formatTable(Object.entries(balance).map(([name, amount]) => [name.replace("Usd", ""), `${amount} USD`])),
    );
  return 0;
}

async function showLedger({ accountId, isJson }: Order, service: Credits, terminal: Terminal): Promise<number> {
  const lines = await service.list(accountId, { limit: LEDGER_LINES, after: null });
  if (isJson) printJson({ data: lines.map(writeLine) }, terminal);
  else if (lines.length === 0) terminal.say("Nothing was booked yet. Add credits: switchyard credits add 25\n");
  else terminal.out(formatTable([["TIME", "KIND", "AMOUNT USD", "BALANCE USD", "BY", "FOR"], ...lines.map(rowOf)]));
  return 0;
}

function rowOf({ transaction, createdAtMs, model, requestId }: LedgerLine): readonly string[] {
  const amount = transaction.entries.find(({ book }) => book === "wallet")?.amount ?? 0n;
  const purpose = model === null ? (transaction.note ?? "") : `${model} ${requestId}`;
  const time = new Date(createdAtMs).toISOString().slice(0, 19).replace("T", " ");
  return [
    time,
    transaction.kind,
    formatUsd(amount),
    formatUsd(transaction.balanceAfter),
    transaction.actor ?? "-",
    purpose,
  ];
}
