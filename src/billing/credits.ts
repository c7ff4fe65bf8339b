// Credits: top-ups and corrections. Amounts are read from decimal text, and each is booked once under its idempotency key.

import { createHash, randomBytes } from "node:crypto";
import { GatewayError } from "../core/errors.ts";
import type { LedgerList, MoveOutcome, Transaction, Wallet } from "../core/ledger.ts";
import { formatUsd, type NanoUsd, parseUsd } from "../core/money.ts";
import type { Ledger } from "./ledger.ts";

export interface Credits {
  topUp(movement: Movement): Promise<Transaction>;
  /** May be negative. Removing more than is available is refused. */
  adjust(movement: Movement): Promise<Transaction>;
  balance(accountId: string): Promise<Wallet>;
  readonly list: LedgerList["list"];
  readonly months: LedgerList["months"];
  readonly days: LedgerList["days"];
}

/** A requested top-up or correction. */
export interface Movement {
  readonly accountId: string;
  readonly amountUsd: string;
  readonly note: string | null;
  /** Name of the person who moves the money; null for the gateway itself. */
  readonly actor: string | null;
  /** The same key twice moves money once. */
  readonly idempotencyKey: string | null;
}

/** Note of the starter credit. */
export const STARTER_NOTE = "starter credit";

/**
 * Lets the first requests through and caps their cost. Only a wallet without any entry gets this credit, so a start that
 * was killed earlier is completed by the next one.
 */
export async function giveStarterCredit(credits: Credits, accountId: string, usd: number): Promise<void> {
  if (usd === 0 || (await credits.balance(accountId)).sequence > 0) return;
  const amountUsd = usd.toFixed(LEDGER_DIGITS);
  await credits.topUp({ accountId, amountUsd, note: STARTER_NOTE, actor: null, idempotencyKey: STARTER_NOTE });
}

/** The decimals of a dollar that the ledger counts. */
const LEDGER_DIGITS = 9;

/** A million dollars: more than anybody means, so a typo is caught. */
export const TOP_UP_MAX = 1_000_000n * 1_000_000_000n;

export function createCredits(ledger: Pick<Ledger, "move" | "balance">, { list, months, days }: LedgerList): Credits {
  async function move(
    movement: Movement,
    transactionKind: "topup" | "adjustment",
    amount: NanoUsd,
  ): Promise<Transaction> {
    const { accountId, note, actor } = movement;
    const id = movementId(transactionKind, movement);
    const outcome = await ledger.move({ id, transactionKind, accountId, amount, note, actor });
    if (outcome.state === "refused") throw refusal(outcome, movement);
    return outcome.transaction;
  }
  return {
    topUp: async (movement) => move(movement, "topup", readAmount(movement.amountUsd, { isSigned: false })),
    adjust: async (movement) => move(movement, "adjustment", readAmount(movement.amountUsd, { isSigned: true })),
    balance: (accountId) => ledger.balance(accountId),
    list,
    months,
    days,
  };
}

/** Hashes the key with the account, so that accounts may use the same idempotency key. */
function movementId(kind: string, { accountId, idempotencyKey }: Movement): string {
  if (idempotencyKey === null) return `${kind}:${randomBytes(12).toString("hex")}`;
  return `${kind}:${createHash("sha256").update(`${accountId}\n${idempotencyKey}`).digest("hex").slice(0, 32)}`;
}

/** Only corrections may be negative. */
function readAmount(text: string, { isSigned }: { isSigned: boolean }): NanoUsd {
  const isNegative = isSigned && text.startsWith("-");
  const amount = parseUsd(isNegative ? text.slice(1) : text);
  if (amount === null || amount === 0n || amount > TOP_UP_MAX) {
    const message = `The amount must be decimal text in USD above zero, at most ${formatUsd(TOP_UP_MAX)}, such as "25" or "0.50".`;
    throw new GatewayError("badRequest", message, { code: "invalid_amount", param: "amountUsd" });
  }
  return isNegative ? -amount : amount;
}

function refusal({ reason }: Extract<MoveOutcome, { state: "refused" }>, { amountUsd }: Movement): GatewayError {
  if (reason === "other-amount") {
    const message = "This idempotency key was used with another amount.";
    return new GatewayError("unprocessable", message, { code: "idempotency_key_reused" });
  }
  if (reason === "no-account") return new GatewayError("notFound", "No such account.");
  const message =
    reason === "insufficient"
      ? `Less than ${amountUsd.replace("-", "")} USD is available.`
      : "The balance would be larger than a wallet may hold.";
  return new GatewayError("badRequest", message, { code: "amount_refused", param: "amountUsd" });
}
