// /api/settings: the options the process runs with, and where each value came from. Of secrets it says only that they are
// set. For operators.

import { Type } from "typebox";
import { listed, named, nullable, Time } from "../openapi/schema.ts";
import { isoTime } from "./exchange.ts";
import { type ApiRoute, apiRoute } from "./route.ts";

const OptionSchema = named("Option", {
  name: Type.String(),
  path: nullable(Type.String()),
  env: nullable(Type.String()),
  flag: nullable(Type.String()),
  value: Type.Union([Type.String(), Type.Null()], { description: "Null for a secret." }),
  isSecret: Type.Boolean(),
  isSet: Type.Boolean(),
  origin: listed(["default", "file", "environment", "flag"]),
  place: nullable(Type.String()),
  help: Type.String(),
});

export const SettingsSchema = named("Settings", {
  version: Type.String(),
  node: Type.String(),
  store: listed(["sqlite", "postgres"]),
  startedAt: Time,
  sandbox: Type.Boolean(),
  baselineModel: Type.String(),
  markup: Type.Number(),
  options: Type.Array(OptionSchema),
  providers: Type.Array(
    Type.Object({ id: Type.String(), kind: Type.String(), baseUrl: Type.String(), hasKey: Type.Boolean() }),
  ),
});

export const SETTINGS_ROUTES: readonly ApiRoute[] = [
  apiRoute({
    id: "getSettings",
    method: "get",
    path: "/api/settings",
    summary: "What the process runs with and where each value came from, without secrets",
    access: "operator",
    response: SettingsSchema,
    serve({ now, settings, version, isSandbox }) {
      const startedAtMs = now();
      const { database, catalog, options } = settings;
      return () => ({
        version,
        node: process.versions.node,
        store: database.startsWith("sqlite:") ? "sqlite" : "postgres",
        startedAt: isoTime(startedAtMs),
        sandbox: isSandbox,
        baselineModel: catalog.baseline.id,
        markup: catalog.markupPpm / 1_000_000,
        options: options.map(({ origin, ...option }) => ({ ...option, origin, isSet: origin !== "default" })),
        providers: [...catalog.providers.values()].map(({ id, kind, baseUrl, apiKey }) => ({
          id,
          kind,
          baseUrl,
          hasKey: apiKey !== null,
        })),
      });
    },
  }),
];
