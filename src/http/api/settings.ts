// /api/settings: what the process runs with and where each value came from. Secrets are only said to be set. For operators.

import type { FastifyInstance } from "fastify";
import type { Settings } from "../../config/settings.ts";
import type { Edge } from "../context.ts";
import { operatorOnly } from "../exchange/session-guard.ts";
import { isoTime } from "./requests/one.ts";

export function registerSettings(api: FastifyInstance, { settings, version, now, isSandbox }: Edge): void {
  const startedAtMs = now();
  api.get("/api/settings", { onRequest: operatorOnly }, async () => ({
    version,
    node: process.versions.node,
    store: settings.database.startsWith("sqlite:") ? "sqlite" : "postgres",
    startedAt: isoTime(startedAtMs),
    sandbox: isSandbox,
    baselineModel: settings.catalog.baseline.id,
    markup: settings.catalog.markupPpm / 1_000_000,
    options: settings.options.map(({ origin, ...option }) => ({ ...option, origin, isSet: origin !== "default" })),
    providers: writeProviders(settings),
  }));
}

function writeProviders({ catalog }: Settings): readonly object[] {
  return [...catalog.providers.values()].map(({ id, kind, baseUrl, apiKey }) => ({
    id,
    kind,
    baseUrl,
    hasKey: apiKey !== null,
  }));
}
