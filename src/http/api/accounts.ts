// /api/accounts.

import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import type { Account } from "../../core/accounts.ts";
import type { Edge } from "../context.ts";
import { operatorOnly } from "../exchange/session-guard.ts";
import { bodyReader, isoTime, listPage, Name, pageOf } from "./requests/one.ts";

const NewAccount = Type.Object({ name: Name }, { additionalProperties: false });

export function registerAccounts(api: FastifyInstance, { accounts }: Edge): void {
  const readNew = bodyReader(NewAccount);
  api.post("/api/accounts", { onRequest: operatorOnly }, async (request, reply) => {
    const account = await accounts.create(readNew(request).name);
    return reply.code(201).send(writeAccount(account));
  });
  api.get("/api/accounts", { onRequest: operatorOnly }, (request) =>
    listPage(pageOf(request), (page) => accounts.list(page), writeAccount),
  );
}

function writeAccount({ id, name, createdAtMs }: Account): object {
  return { id, name, createdAt: isoTime(createdAtMs) };
}
