// /api/settings: the options the process runs with, where each value came from, and changes of those that can change at
// run time. Of secrets it says only that they are set. For operators.

import { Type } from "typebox";
import { baselineNamed, isSimulated } from "../../catalog/catalog.ts";
import type { ShownOption } from "../../config/settings.ts";
import { sqlitePathOf } from "../../core/db.ts";
import { hasKey } from "../../core/model.ts";
import type { JsonMap } from "../../core/overlay.ts";
import { invalid } from "../../formats/json/fields.ts";
import { drafted } from "../../versions/document.ts";
import { AnyObject, AnyText, baselineFields, Flag, listed, named, nullable, strict, Time } from "../openapi/schema.ts";
import * as TEXT from "../text.ts";
import {
  documentOf,
  ifMatch,
  LockSchema,
  lockOn,
  PublishedSchema,
  publicationFields,
  publisherOf,
  writePublished,
} from "./configuration/exchange.ts";
import { isoTime } from "./exchange.ts";
import { type ApiRoute, get, patch } from "./route.ts";

/** One configuration option: its three names, its value and where that came from. */
const OptionSchema = named("Option", {
  name: AnyText,
  path: nullable(AnyText),
  env: nullable(AnyText),
  flag: nullable(AnyText),
  value: Type.Union([AnyText, Type.Null()], { description: "Null for a secret." }),
  isSecret: Flag,
  isSet: Flag,
  // A version of the run-time configuration can set it, unless it is locked.
  isLive: Flag,
  locked: nullable(LockSchema),
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
  ...baselineFields,
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
    serve({ now, settings, services, shownOptions, version, versions }) {
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
          ...baselineNamed(catalog),
          markup: catalog.markupPpm / 1_000_000,
          options: shownOptions().map((option) => ({
            ...option,
            isSet: option.origin !== "default",
            locked: option.isLive && option.path !== null ? lockOn(versions, option.path) : null,
          })),
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
  patch("changeSettings", "/api/settings", {
    summary: "Change options at run time: a new version of the configuration; null takes an option out",
    access: "operator",
    parameters: [ifMatch],
    errors: [409, 422],
    body: strict("ChangedSettings", { options: AnyObject, ...publicationFields }),
    example: { options: { "logging.content": true }, note: "To look into the tool calls" },
    response: PublishedSchema,
    async handle({ request, body }, { versions, shownOptions }) {
      const given = body();
      const draft = draftOf(documentOf(given.options), shownOptions());
      const change = (document: JsonMap): JsonMap => drafted(document, draft);
      return writePublished(await versions.publish({ ...publisherOf(request, given), change }));
    },
  }),
];

/** The options as a document has them. */
function draftOf(given: JsonMap, options: readonly ShownOption[]): JsonMap {
  const draft: Record<string, JsonMap> = {};
  for (const [path, value] of Object.entries(given)) {
    const option = options.find((each) => each.path === path);
    if (option === undefined) throw invalid(`options.${path}`, TEXT.unknownOption(path));
    if (!option.isLive) throw invalid(`options.${path}`, TEXT.optionNeedsRestart(path, option.env));
    const [section = "", name = ""] = path.split(".");
    draft[section] = { ...draft[section], [name]: value };
  }
  return draft;
}
