// /api/session, and the calls that somebody makes before they have one: set-up, accepting an invitation, and choosing a new
// password with a link.

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { GatewayError } from "../../core/errors.ts";
import type { User } from "../../core/people.ts";
import type { Edge } from "../context.ts";
import {
  clearSessionCookie,
  identify,
  refuseCrossSite,
  sessionTokenOf,
  setSessionCookie,
  signedInOf,
} from "../exchange/session-guard.ts";
import { bodyReader } from "./requests/one.ts";

const Text = Type.String({ maxLength: 4096 });
const strict = { additionalProperties: false } as const;
const Credentials = Type.Object({ email: Text, password: Text }, strict);
const SetUp = Type.Object({ token: Text, email: Text, password: Text }, strict);
const Acceptance = Type.Object({ token: Text, password: Text }, strict);
const PasswordChange = Type.Object({ current: Text, next: Text }, strict);

const OPEN_BODY_BYTES = 64 * 1024;

/** Open to everybody, but not to pages of other sites: signing somebody in as somebody else is an attack too. */
export function registerSession(open: FastifyInstance, edge: Edge): void {
  const { sessions, users, invitations } = edge;
  const readCredentials = bodyReader(Credentials);
  const readSetUp = bodyReader(SetUp);
  const readAcceptance = bodyReader(Acceptance);
  const welcome = async (user: User, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    setSessionCookie(request, reply, await sessions.open(user));
    return reply.code(201).send({ user: writeSelf(user) });
  };
  // Nobody has shown yet who they are, so they may not send much.
  open.addHook("onRoute", (route) => {
    route.bodyLimit = OPEN_BODY_BYTES;
  });
  open.addHook("onRequest", async (request) => refuseCrossSite(request));
  open.get("/api/session", async (request) => {
    const signedIn = await signedInOf(request, edge);
    return {
      user: signedIn === null ? null : writeSelf(signedIn.user),
      setupNeeded: !(await users.hasOperator()),
      sandbox: edge.isSandbox,
      version: edge.version,
    };
  });
  open.post("/api/session", async (request, reply) => {
    const user = await users.signIn({ ...readCredentials(request), address: request.ip });
    setSessionCookie(request, reply, await sessions.open(user));
    return reply.code(204).send();
  });
  open.delete("/api/session", async (request, reply) => {
    const token = sessionTokenOf(request);
    if (token !== undefined) await sessions.end(token);
    clearSessionCookie(request, reply);
    return reply.code(204).send();
  });
  open.post("/api/setup", async (request, reply) =>
    welcome(await invitations.setUp(readSetUp(request)), request, reply),
  );
  open.post("/api/invitations/accept", async (request, reply) =>
    welcome(await invitations.accept(readAcceptance(request)), request, reply),
  );
  open.post("/api/password-reset", async (request, reply) =>
    welcome(await edge.resets.redeem(readAcceptance(request)), request, reply),
  );
  registerPassword(open, edge);
}

function registerPassword(open: FastifyInstance, edge: Edge): void {
  const readChange = bodyReader(PasswordChange);
  open.post("/api/session/password", { onRequest: (request) => identify(request, edge) }, async (request, reply) => {
    const { identity } = request;
    if (identity?.kind !== "user") {
      throw new GatewayError("forbidden", "The admin token has no password. Sign in.", { code: "no_session" });
    }
    await edge.users.changePassword(identity, { ...readChange(request), address: request.ip });
    return reply.code(204).send();
  });
}

function writeSelf({ id, email, role, accountId }: User): object {
  return { id, email, role, accountId };
}
