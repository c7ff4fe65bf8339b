// /api/users and /api/invitations: who may sign in. For operators.

import type { FastifyInstance, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { DEFAULT_ACCOUNT } from "../../accounts/accounts.ts";
import { GatewayError } from "../../core/errors.ts";
import { type Invitation, USER_ROLES, type User } from "../../core/people.ts";
import type { Edge } from "../context.ts";
import { isHttps, operatorOnly } from "../exchange/session-guard.ts";
import { bodyReader, idOf, isoTime, listPage, missing, pageOf } from "./requests/one.ts";

const NewInvitation = Type.Object(
  {
    email: Type.String({ maxLength: 320 }),
    role: Type.Optional(Type.Enum([...USER_ROLES])),
    accountId: Type.Optional(Type.String({ maxLength: 200 })),
  },
  { additionalProperties: false },
);

export function registerUsers(api: FastifyInstance, { users, accounts, invitations, resets }: Edge): void {
  const forOperators = { onRequest: operatorOnly };
  const readNew = bodyReader(NewInvitation);
  api.get("/api/users", forOperators, (request) => listPage(pageOf(request), (page) => users.list(page), writeUser));
  api.delete("/api/users/:id", forOperators, async (request, reply) => {
    const id = idOf(request, "user");
    if (!(await users.delete(id))) throw missing("user", id);
    return reply.code(204).send();
  });
  api.post("/api/users/:id/reset", forOperators, async (request, reply) => {
    const id = idOf(request, "user");
    const made = await resets.makeFor({ id });
    if (made === null) throw missing("user", id);
    const link = `${originOf(request)}/#/reset?token=${made.token}`;
    return reply.code(201).send({ email: made.user.email, link, expiresAt: isoTime(made.expiresAtMs) });
  });
  api.post("/api/invitations", forOperators, async (request, reply) => {
    const { email, role = "owner", accountId = DEFAULT_ACCOUNT } = readNew(request);
    if ((await accounts.get(accountId)) === null) {
      throw new GatewayError("badRequest", `There is no account '${accountId}'.`, { param: "accountId" });
    }
    const { invitation, token } = await invitations.invite({ email, role, accountId });
    const link = `${originOf(request)}/#/invite?token=${token}`;
    return reply.code(201).send({ ...writeInvitation(invitation), link });
  });
  api.get("/api/invitations", forOperators, (request) =>
    listPage(pageOf(request), (page) => invitations.list(page), writeInvitation),
  );
  api.delete("/api/invitations/:id", forOperators, async (request, reply) => {
    const id = idOf(request, "invitation");
    if (!(await invitations.delete(id))) throw missing("invitation", id);
    return reply.code(204).send();
  });
}

/** As the operator sees the gateway, for whom the link is made. */
function originOf(request: FastifyRequest): string {
  return `${isHttps(request) ? "https" : "http"}://${request.host}`;
}

export function writeUser({ id, email, role, accountId, createdAtMs, lastSignInAtMs }: User): object {
  return { id, email, role, accountId, createdAt: isoTime(createdAtMs), lastSignInAt: isoTime(lastSignInAtMs) };
}

function writeInvitation({ id, email, role, accountId, createdAtMs, expiresAtMs }: Invitation): object {
  return { id, email, role, accountId, createdAt: isoTime(createdAtMs), expiresAt: isoTime(expiresAtMs) };
}
