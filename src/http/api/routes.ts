// The /api routes: for the dashboard by session, and for automation with the admin token. CONTRACT 8.

import cookie from "@fastify/cookie";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Edge } from "../context.ts";
import { identify } from "../exchange/session-guard.ts";
import { registerAccounts } from "./accounts.ts";
import { registerCatalog } from "./catalog.ts";
import { registerCredits } from "./credits.ts";
import { registerKeys } from "./keys.ts";
import { registerLedger } from "./ledger.ts";
import { registerPlayground } from "./playground.ts";
import { registerProfiles } from "./profiles.ts";
import { registerProviderTest } from "./provider-test.ts";
import { registerReplay } from "./replay.ts";
import { registerEvents } from "./requests/events.ts";
import { registerRequests } from "./requests/list.ts";
import { registerSession } from "./session.ts";
import { registerSettings } from "./settings.ts";
import { registerUsage } from "./usage.ts";
import { registerUsers } from "./users.ts";

/** What is written here is short; the playground, which takes requests, says so itself. */
const BODY_BYTES = 1024 * 1024;

export function registerApi(server: FastifyInstance, edge: Edge): void {
  server.decorateRequest("identity", null);
  server.register(async (all) => {
    // Here and not for the whole server: /v1 has no use for cookies.
    await all.register(cookie);
    all.addHook("onRequest", keepNothing);
    all.addHook("onRoute", (route) => {
      route.bodyLimit ??= BODY_BYTES;
    });
    all.register(async (open) => registerSession(open, edge));
    all.register(async (api) => {
      api.addHook("onRequest", (request) => identify(request, edge));
      registerAccounts(api, edge);
      registerKeys(api, edge);
      registerProfiles(api, edge);
      registerReplay(api, edge);
      registerPlayground(api, edge);
      registerCredits(api, edge);
      registerLedger(api, edge);
      registerCatalog(api, edge);
      registerProviderTest(api, edge);
      registerRequests(api, edge);
      registerUsage(api, edge);
      registerEvents(api, edge);
      registerUsers(api, edge);
      registerSettings(api, edge);
    });
  });
}

async function keepNothing(_request: FastifyRequest, reply: FastifyReply): Promise<void> {
  reply.header("cache-control", "no-store");
}
