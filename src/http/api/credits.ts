// /api/credits: the balance of an account, top-ups and corrections.

import type { FastifyRequest } from "fastify";
import { Type } from "typebox";
import { type Movement, TOP_UP_MAX } from "../../billing/credits.ts";
import { BILLING_MODES, type BillingMode } from "../../core/accounts.ts";
import { GatewayError } from "../../core/errors.ts";
import { TRANSACTION_KINDS, type Transaction, type Wallet } from "../../core/ledger.ts";
import { decimalText, formatUsd, USD_TEXT, usdNumber } from "../../core/money.ts";
import { IDEMPOTENCY_KEY } from "../../core/requests/idempotency.ts";
import type { OperatorContext } from "../context.ts";
import { actorOf } from "../exchange/identity.ts";
import { idempotencyKey } from "../openapi/operation.ts";
import {
  AnyText,
  DOCUMENTED,
  listed,
  named,
  nullable,
  optional,
  plainText,
  type Shape,
  strict,
} from "../openapi/schema.ts";
import * as TEXT from "../text.ts";
import { account, accountOf } from "./exchange.ts";
import { type ApiCall, type ApiRoute, get, post } from "./route.ts";

/** Posted money minus open reservations is what new requests may spend, unless the account is metered. */
export const CreditsSchema = named("Credits", {
  postedUsd: AnyText,
  heldUsd: AnyText,
  availableUsd: AnyText,
  billingMode: listed(BILLING_MODES),
});

/** Room for a reason and an invoice number. */
const NOTE_MAX = 500;
const MAX = usdNumber(TOP_UP_MAX);
const amount = (pattern: string, range: object) =>
  // JSON numbers lose digits above 2^53; text is exact, so it comes first.
  Type.Union([Type.String({ [DOCUMENTED]: { pattern } }), Type.Number({ [DOCUMENTED]: { ...range, maximum: MAX } })], {
    description: `Decimal text in USD, not zero, at most ${MAX}.`,
  });
const note = optional(plainText(NOTE_MAX));
const TopUpSchema = strict("TopUp", { amountUsd: amount(USD_TEXT.source, { exclusiveMinimum: 0 }), note });
const AdjustmentSchema = strict("Adjustment", {
  amountUsd: amount(USD_TEXT.source.replace("^", "^-?"), { minimum: -MAX }),
  note,
});

/** The fields of every ledger entry; /api/ledger adds what the entry was for. */
export const transactionFields = {
  id: AnyText,
  kind: listed(TRANSACTION_KINDS),
  // Signed: positive adds to the wallet.
  amountUsd: AnyText,
  // Posted money after this entry, so that a list can be checked line by line.
  balanceAfterUsd: AnyText,
  note: nullable(AnyText),
  actor: nullable(
    Type.String({
      description: "Who did it: an e-mail, `admin token` or `command line`; for owners `operator`. Null for charges.",
    }),
  ),
};
const TransactionSchema = named("Transaction", transactionFields);

export const CREDIT_ROUTES: readonly ApiRoute[] = [
  get("getCredits", "/api/credits", {
    summary: "The balance of an account: total, reserved and available",
    access: "readMoney",
    response: CreditsSchema,
    async handle({ request }, edge) {
      const accountId = await accountOf(request, edge);
      return writeBalance(await edge.credits.balance(accountId), edge.services().billingModeOf(accountId));
    },
  }),
  // Only operators move money. A payment provider would call this with its own idempotency key.
  post("topUp", "/api/credits/topups", {
    summary: "Add credits; the same Idempotency-Key twice adds them once",
    access: "operator",
    parameters: [account, idempotencyKey],
    body: TopUpSchema,
    example: { amountUsd: "25", note: "January" },
    status: 201,
    response: TransactionSchema,
    errors: [422],
    handle: async (call, edge) => writeTransaction(await edge.credits.topUp(await movementOf(call, edge))),
  }),
  // A new entry, never an edit: entries are immutable.
  post("adjust", "/api/credits/adjustments", {
    summary: "Adjust a balance by a new entry, up, or down to what is available",
    access: "operator",
    parameters: [account, idempotencyKey],
    body: AdjustmentSchema,
    example: { amountUsd: "-2.50", note: "booked twice" },
    status: 201,
    response: TransactionSchema,
    errors: [422],
    handle: async (call, edge) => writeTransaction(await edge.credits.adjust(await movementOf(call, edge))),
  }),
];

/** The body is checked before the account, so that its errors are reported first. */
async function movementOf({ request, body }: ApiCall<typeof TopUpSchema>, edge: OperatorContext): Promise<Movement> {
  const { amountUsd, note = null } = body();
  const accountId = await accountOf(request, edge);
  const who = { actor: actorOf(request), idempotencyKey: idempotencyKeyOf(request) };
  return { accountId, amountUsd: typeof amountUsd === "number" ? decimalText(amountUsd) : amountUsd, note, ...who };
}

/** Returns null when the header is absent; then the same call twice counts twice. */
function idempotencyKeyOf(request: FastifyRequest): string | null {
  const key = request.headers["idempotency-key"];
  if (key === undefined) return null;
  if (typeof key === "string" && IDEMPOTENCY_KEY.test(key)) return key;
  throw new GatewayError("badRequest", TEXT.invalidIdempotencyKey, {
    code: "invalid_idempotency_key",
  });
}

/** Also written by the command line, which prints the same JSON. */
export function writeBalance({ posted, held }: Wallet, billingMode: BillingMode): Shape<typeof CreditsSchema> {
  const availableUsd = formatUsd(posted - held);
  return { postedUsd: formatUsd(posted), heldUsd: formatUsd(held), availableUsd, billingMode };
}

/** The amount is that of the wallet; the other side of the entry is in `entries` of the ledger. */
export function writeTransaction(transaction: Transaction): Shape<typeof TransactionSchema> {
  const { id, kind, entries, balanceAfter, note, actor } = transaction;
  const amount = entries.find(({ book }) => book === "wallet")?.amount ?? 0n;
  return { id, kind, amountUsd: formatUsd(amount), balanceAfterUsd: formatUsd(balanceAfter), note, actor };
}
