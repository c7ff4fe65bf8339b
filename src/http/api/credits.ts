// /api/credits: balance, money in, and corrections.

import type { FastifyInstance, FastifyRequest } from "fastify";
import { Type } from "typebox";
import type { Movement } from "../../billing/credits.ts";
import { GatewayError } from "../../core/errors.ts";
import type { LedgerLine, Transaction, Wallet } from "../../core/ledger.ts";
import { formatUsd } from "../../core/money.ts";
import type { Edge } from "../context.ts";
import { actorOf, operatorOnly } from "../exchange/session-guard.ts";
import { accountOf, bodyReader, isoTime, plainText, Usd } from "./requests/one.ts";

const Amount = Type.Object(
  {
    amountUsd: Usd,
    note: Type.Optional(Type.Union([plainText(500), Type.Null()])),
  },
  { additionalProperties: false },
);

export function registerCredits(api: FastifyInstance, edge: Edge): void {
  const { credits } = edge;
  const readAmount = bodyReader(Amount);
  const movementOf = async (request: FastifyRequest): Promise<Movement> => {
    const { amountUsd, note = null } = readAmount(request);
    const accountId = await accountOf(request, edge);
    const who = { actor: actorOf(request), idempotencyKey: idempotencyKeyOf(request) };
    return { accountId, amountUsd: String(amountUsd), note, ...who };
  };
  api.get("/api/credits", async (request) => {
    return writeBalance(await credits.balance(await accountOf(request, edge)));
  });
  api.post("/api/credits/topups", { onRequest: operatorOnly }, async (request, reply) =>
    reply.code(201).send(writeTransaction(await credits.topUp(await movementOf(request)))),
  );
  api.post("/api/credits/adjustments", { onRequest: operatorOnly }, async (request, reply) =>
    reply.code(201).send(writeTransaction(await credits.adjust(await movementOf(request)))),
  );
}

const KEY = /^[\x21-\x7e]{1,255}$/;

function idempotencyKeyOf(request: FastifyRequest): string | null {
  const key = request.headers["idempotency-key"];
  if (key === undefined) return null;
  if (typeof key === "string" && KEY.test(key)) return key;
  throw new GatewayError("badRequest", "'Idempotency-Key' must be 1 to 255 printable ASCII characters.", {
    code: "invalid_idempotency_key",
  });
}

export function writeBalance({ posted, held }: Wallet): Readonly<Record<string, string>> {
  return { postedUsd: formatUsd(posted), heldUsd: formatUsd(held), availableUsd: formatUsd(posted - held) };
}

export function writeTransaction({ id, kind, entries, balanceAfter, note, actor }: Transaction): object {
  const amount = entries.find(({ book }) => book === "wallet")?.amount ?? 0n;
  return { id, kind, amountUsd: formatUsd(amount), balanceAfterUsd: formatUsd(balanceAfter), note, actor };
}

export function writeLine({ transaction, createdAtMs, requestId, model }: LedgerLine): object {
  const entries = transaction.entries.map(({ book, amount }) => ({ book, amountUsd: formatUsd(amount) }));
  return { ...writeTransaction(transaction), entries, requestId, model, createdAt: isoTime(createdAtMs) };
}
