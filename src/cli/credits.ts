// `switchyard credits`: top-ups, adjustments, balance and ledger, directly on the store. A running server sees the new
// balance with its next request.

import { DEFAULT_ACCOUNT } from "../accounts/accounts.ts";
import { type Credits, createCredits } from "../billing/credits.ts";
import { createLedger } from "../billing/ledger.ts";
import { NO_OUTBOX } from "../billing/outbox.ts";
import { command } from "../config/package.ts";
import { type AccountStore, BILLING_MODES, type BillingMode } from "../core/accounts.ts";
import type { Db } from "../core/db.ts";
import type { LedgerLine } from "../core/ledger.ts";
import { formatUsd } from "../core/money.ts";
import { writeBalance, writeTransaction } from "../http/api/credits.ts";
import { writeLine } from "../http/api/ledger.ts";
import { createAccountStore } from "../store/accounts/accounts.ts";
import { createLedgerStore } from "../store/ledger/ledger.ts";
import { createLedgerList } from "../store/ledger/list.ts";
import { SILENT_LOG } from "../telemetry/log.ts";
import type { Arguments } from "./command/arguments.ts";
import { COMMAND_LINE, type Parsed, parseSubcommand, printJson, runCommand } from "./command/command.ts";
import { isOn, splitFlags, textOf } from "./command/flags.ts";
import { withStore } from "./command/store.ts";
import { formatTable } from "./command/table.ts";
import { type Terminal, thisTerminal } from "./command/terminal.ts";
import * as TEXT from "./command/text.ts";
import { UsageError } from "./command/usage.ts";

/** Most words after each subcommand. */
const SUBCOMMANDS = { add: 1, adjust: 1, balance: 0, ledger: 0, mode: 1 };

/** Lines for a screen or two. */
const LEDGER_LINES = 50;

interface CreditOptions {
  readonly kind: keyof typeof SUBCOMMANDS;
  /** The amount to move, or the billing mode to set; null where none was given. */
  readonly word: string | null;
  readonly accountId: string;
  readonly note: string | null;
  /** Two movements with one key are made once. */
  readonly idempotencyKey: string | null;
  readonly isJson: boolean;
}

/** Runs one subcommand on the account. */
export function credits(args: Arguments, terminal: Terminal = thisTerminal()): Promise<number> {
  return runCommand({
    ...{ name: "credits", terminal, callsNobody: true, parse: () => parseCredits(args) },
    run: (options, { database, billing }) =>
      withStore(database, async (store) => {
        await store.requireAccount(options.accountId, terminal.now());
        const accounts = createAccountStore(store.db);
        if (options.kind === "mode") return changeMode(options, { accounts, usual: billing.billingMode, terminal });
        const own = (await accounts.get(options.accountId))?.billingMode ?? null;
        return run(options, { service: creditsOf(store.db), mode: own ?? billing.billingMode, terminal });
      }),
  });
}

function parseCredits({ words, flags }: Arguments): Parsed<CreditOptions> {
  const [kind, word] = parseSubcommand(words, "credits", SUBCOMMANDS);
  const { own, config } = splitFlags(flags, ["account", "note", "idempotency-key", "json", "no-color"]);
  if ((kind === "add" || kind === "adjust") && word === undefined) throw new UsageError(TEXT.needsAmount(kind));
  const options = {
    kind,
    word: word ?? null,
    accountId: textOf(own, "account") ?? DEFAULT_ACCOUNT,
    note: textOf(own, "note"),
    idempotencyKey: textOf(own, "idempotency-key"),
    isJson: isOn(own, "json"),
  };
  return { options, config };
}

/** No background work is started: a command moves money and ends. */
function creditsOf(db: Db): Credits {
  const owner = "command";
  const store = createLedgerStore(db, owner);
  const ledger = createLedger({ store, owner, outbox: NO_OUTBOX, log: SILENT_LOG, ownerSilentMs: 0 });
  return createCredits(ledger, createLedgerList(db));
}

interface CreditContext {
  readonly service: Credits;
  readonly mode: BillingMode;
  readonly terminal: Terminal;
}

async function run(options: CreditOptions, { service, mode, terminal }: CreditContext): Promise<number> {
  if (options.kind === "ledger") return showLedger(options, service, terminal);
  if (options.kind === "balance") return showBalance(options, { service, mode, terminal });
  // parseCredits has made sure of the amount.
  const movement = { ...options, amountUsd: options.word as string, actor: COMMAND_LINE };
  const transaction = await (options.kind === "add" ? service.topUp(movement) : service.adjust(movement));
  if (options.isJson) printJson(writeTransaction(transaction), terminal);
  else {
    const balance = formatUsd(transaction.balanceAfter);
    terminal.say(TEXT.balanceNow(options.accountId, balance, command("credits ledger")));
  }
  return 0;
}

interface ModeContext {
  readonly accounts: AccountStore;
  /** Mode of accounts without one of their own. */
  readonly usual: BillingMode;
  readonly terminal: Terminal;
}

/** Shows the billing mode of the account, or sets it. A running server follows within seconds. */
async function changeMode(options: CreditOptions, { accounts, usual, terminal }: ModeContext): Promise<number> {
  const { accountId, word, isJson } = options;
  const wanted = BILLING_MODES.find((mode) => mode === word) ?? null;
  if (word !== null && word !== DEFAULT_MODE && wanted === null) {
    throw new UsageError(TEXT.wrongBillingMode([...BILLING_MODES, DEFAULT_MODE].join(", "), word));
  }
  const account = word === null ? await accounts.get(accountId) : await accounts.setBillingMode(accountId, wanted);
  const own = account?.billingMode ?? null;
  if (isJson) printJson({ billingMode: own ?? usual, isOwn: own !== null }, terminal);
  else terminal.say(`Account '${accountId}' is ${own ?? usual}${own === null ? " (from billing.mode)" : ""}.\n`);
  return 0;
}

/** The account has no mode of its own. */
const DEFAULT_MODE = "default";

/** Posted, on hold and available. */
async function showBalance(
  { accountId, isJson }: CreditOptions,
  { service, mode, terminal }: CreditContext,
): Promise<number> {
  const balance = writeBalance(await service.balance(accountId), mode);
  if (isJson) printJson(balance, terminal);
  else
    terminal.out(
      formatTable([
        ["posted", `${balance.postedUsd} USD`],
        ["held", `${balance.heldUsd} USD`],
        ["available", `${balance.availableUsd} USD`],
        ["billing mode", balance.billingMode],
      ]),
    );
  return 0;
}

/** The newest lines, newest first. */
async function showLedger({ accountId, isJson }: CreditOptions, service: Credits, terminal: Terminal): Promise<number> {
  const lines = await service.list(accountId, { limit: LEDGER_LINES, after: null });
  if (isJson) printJson({ data: lines.map(writeLine) }, terminal);
  else if (lines.length === 0) terminal.say(TEXT.noEntries(command("credits add 25")));
  else terminal.out(formatTable([["TIME", "KIND", "AMOUNT USD", "BALANCE USD", "BY", "FOR"], ...lines.map(rowOf)]));
  return 0;
}

/** A charge names its model and request, any other movement its note. */
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
