// The /api routes: for automation with the admin token (and, later, the dashboard). CONTRACT 8.

import type { FastifyInstance } from "fastify";
import { GatewayError } from "../../core/errors.ts";
import type { Edge } from "../edge.ts";
import { registerAccounts } from "./accounts.ts";
import { isAdmin } from "./admin.ts";
import { registerCatalog } from "./catalog.ts";
import { registerCredits } from "./credits.ts";
import { registerKeys } from "./keys.ts";
import { registerProfiles } from "./profiles.ts";

export function registerApi(server: FastifyInstance, edge: Edge): void {
  server.register(async (api) => {
    api.addHook("onRequest", async (request) => {
      if (isAdmin(request, edge.settings.adminToken)) return;
      const hint = edge.settings.adminToken === null ? " The server has none: set SWITCHYARD_ADMIN_TOKEN." : "";
      throw new GatewayError("unauthenticated", `This needs 'Authorization: Bearer' with the admin token.${hint}`);
    });
    registerAccounts(api, edge);
    registerKeys(api, edge);
    registerProfiles(api, edge);
    registerCredits(api, edge);
    registerCatalog(api, edge);
  });
}
