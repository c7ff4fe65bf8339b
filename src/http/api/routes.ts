// The /api routes: for the dashboard by session, and for automation with the admin token. Behaviour 8.

import cookie from "@fastify/cookie";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { OperatorContext } from "../context.ts";
import { compressJson } from "../exchange/compression.ts";
import type { Operation } from "../openapi/operation.ts";
import { ACCOUNT_ROUTES } from "./accounts.ts";
import { ALERT_EVENT_ROUTES } from "./alerts/events.ts";
import { ALERT_TARGET_ROUTES } from "./alerts/targets.ts";
import { AUDIT_ROUTES } from "./audit/routes.ts";
import { BUDGET_ROUTES } from "./budgets.ts";
import { ENTRY_ROUTES } from "./configuration/entries.ts";
import { PRICE_ROUTES } from "./configuration/prices.ts";
import { VENDOR_ROUTES } from "./configuration/vendors.ts";
import { VERSION_ROUTES } from "./configuration/versions.ts";
import { CREDIT_ROUTES } from "./credits.ts";
import { DISCOVERY_ROUTES } from "./discovery.ts";
import { EXPLORE_ROUTES } from "./explore.ts";
import { KEY_ROUTES } from "./keys.ts";
import { LEDGER_ROUTES } from "./ledger.ts";
import { MODEL_ROUTES } from "./models.ts";
import { OUTCOME_ROUTES } from "./outcomes.ts";
import { LOGIN_ROUTES } from "./people/login.ts";
import { PASSKEY_ROUTES } from "./people/passkeys.ts";
import { SCIM_TOKEN_ROUTES } from "./people/scim-tokens.ts";
import { SIGN_IN_ROUTES } from "./people/sign-in.ts";
import { TEAM_ROUTES } from "./people/teams.ts";
import { USER_ROUTES } from "./people/users.ts";
import { PLAYGROUND_ROUTES } from "./playground.ts";
import { PROFILE_ROUTES } from "./profiles.ts";
import { PROVIDER_ROUTES } from "./providers.ts";
import { REPLAY_ROUTES } from "./replay.ts";
import { eventsRoute } from "./requests/events.ts";
import { OVERVIEW_ROUTES } from "./requests/overview.ts";
import { REQUEST_ROUTES } from "./requests/routes.ts";
import { CONVERSATION_ROUTES } from "./requests/sessions.ts";
import { type ApiRoute, registerRoute, toOperation } from "./route.ts";
import { speakScim } from "./scim/exchange.ts";
import { SCIM_ROUTES } from "./scim/routes.ts";
import { SETTINGS_ROUTES } from "./settings.ts";
import { USAGE_ROUTES } from "./usage.ts";

/** Every route, in the order of the documentation. */
export const ROUTES: readonly ApiRoute[] = [
  ...ACCOUNT_ROUTES,
  ...KEY_ROUTES,
  ...PROFILE_ROUTES,
  ...TEAM_ROUTES,
  ...BUDGET_ROUTES,
  ...CREDIT_ROUTES,
  ...LEDGER_ROUTES,
  ...MODEL_ROUTES,
  ...PROVIDER_ROUTES,
  ...DISCOVERY_ROUTES,
  ...ENTRY_ROUTES,
  ...VENDOR_ROUTES,
  ...PRICE_ROUTES,
  ...VERSION_ROUTES,
  ...PLAYGROUND_ROUTES,
  ...REPLAY_ROUTES,
  ...REQUEST_ROUTES,
  eventsRoute(),
  ...OUTCOME_ROUTES,
  ...CONVERSATION_ROUTES,
  ...USAGE_ROUTES,
  ...EXPLORE_ROUTES,
  ...OVERVIEW_ROUTES,
  ...ALERT_EVENT_ROUTES,
  ...ALERT_TARGET_ROUTES,
  ...LOGIN_ROUTES,
  ...SIGN_IN_ROUTES,
  ...PASSKEY_ROUTES,
  ...USER_ROUTES,
  ...SCIM_TOKEN_ROUTES,
  ...SETTINGS_ROUTES,
  ...AUDIT_ROUTES,
];

export function registerApi(server: FastifyInstance, edge: OperatorContext): void {
  server.decorateRequest("identity", null);
  server.register(async (api) => {
    // Here and not for the whole server: /v1 has no use for cookies.
    await api.register(cookie);
    api.addHook("onRequest", keepNothing);
    compressJson(api);
    for (const route of ROUTES) registerRoute(api, edge, { route, routes: ROUTES });
  });
  server.register(async (scim) => {
    scim.addHook("onRequest", keepNothing);
    speakScim(scim);
    for (const route of SCIM_ROUTES) registerRoute(scim, edge, { route, routes: SCIM_ROUTES });
  });
}

/** For the table of roles, and the test that walks all of them. */
export function apiRoutes(): readonly ApiRoute[] {
  return ROUTES;
}

/** The routes as operations of the contract. */
export function apiOperations(): readonly Operation[] {
  return [...ROUTES, ...SCIM_ROUTES].map(toOperation);
}

/** Nothing of /api may be kept by a cache. */
async function keepNothing(_request: FastifyRequest, reply: FastifyReply): Promise<void> {
  reply.header("cache-control", "no-store");
}
