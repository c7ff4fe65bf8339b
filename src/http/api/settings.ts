// /api/settings: the options the process runs with, and where each value came from. Of secrets it says only that they are
// set. For operators.

import { Type } from "typebox";
import { isSimulated } from "../../catalog/catalog.ts";
import { sqlitePathOf } from "../../core/db.ts";
import { hasKey } from "../../core/model.ts";
import { AnyText, Flag, listed, named, nullable, Time } from "../openapi/schema.ts";
import { isoTime } from "./exchange.ts";
import { type ApiRoute, get } from "./route.ts";

/** One configuration option: its three names, its value and where that came from. */
const OptionSchema = named("Option", {
  name: AnyText,
  path: nullable(AnyText),
  env: nullable(AnyText),
  flag: nullable(AnyText),
  value: Type.Union([AnyText, Type.Null()], { description: "Null for a secret." }),
  isSecret: Flag,
  isSet: Flag,
  origin: listed(["default", "version", "file", "environment", "flag"]),
  // File, line and column, the variable, or the flag.
  place: nullable(AnyText),
  help: AnyText,
});

/** Settings that the process runs with, for the page that answers "which setting is active?". */
export const SettingsSchema = named("Settings", {
  version: AnyText,
  node: AnyText,
  store: listed(["sqlite", "postgres"]),
  startedAt: Time,
  sandbox: Flag,
  baselineModel: AnyText,
  // A factor: 0.05 adds 5% to the price of the provider.
  markup: Type.Number(),
  options: Type.Array(OptionSchema),
  providers: Type.Array(Type.Object({ id: AnyText, kind: AnyText, baseUrl: AnyText, hasKey: Flag })),
});

export const SETTINGS_ROUTES: readonly ApiRoute[] = [
  get("getSettings", "/api/settings", {
    summary: "What the process runs with and where each value came from, without secrets",
    access: "operator",
    response: SettingsSchema,
    // The start of the server counts, not that of the first call.
    serve({ now, settings, services, shownOptions, version }) {
      const startedAtMs = now();
      const { database } = settings;
      return () => {
        const { catalog } = services();
        return {
          version,
          node: process.versions.node,
          store: sqlitePathOf(database) === null ? "postgres" : "sqlite",
          startedAt: isoTime(startedAtMs),
          sandbox: isSimulated(catalog),
          baselineModel: catalog.baseline.id,
          markup: catalog.markupPpm / 1_000_000,
          options: shownOptions().map(({ origin, ...option }) => ({ ...option, origin, isSet: origin !== "default" })),
          providers: [...catalog.providers.values()].map((provider) => ({
            id: provider.id,
            kind: provider.kind,
            baseUrl: provider.baseUrl,
            hasKey: hasKey(provider),
          })),
        };
      };
    },
  }),
];
