// /api/settings: the options the process runs with, where each value came from, and changes of those that can change at
// run time. Of secrets it says only that they are set. For operators.

import { Type } from "typebox";
import { baselineNamed, isSimulated } from "../../catalog/catalog.ts";
import { sqlitePathOf } from "../../core/db.ts";
import { hasKey } from "../../core/model.ts";
import { changeOfSettings, rollBackSettings, settingsHistory } from "../../versions/settings.ts";
import {
  AnyObject,
  AnyText,
  baselineFields,
  Flag,
  listed,
  named,
  nullable,
  page,
  strict,
  Time,
} from "../openapi/schema.ts";
import {
  documentOf,
  ifMatch,
  LockSchema,
  lockOn,
  PublishedSchema,
  publicationFields,
  publisherOf,
  VersionSchema,
  writeChanged,
  writePublished,
} from "./configuration/exchange.ts";
import { beforeOf, numberOf, RollBackSchema } from "./configuration/versions.ts";
import { hasNoBody, isoTime, pageOf, paging } from "./exchange.ts";
import { type ApiRoute, get, patch, post } from "./route.ts";

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
  default: AnyText,
  kind: listed(["switch", "number", "list", "choice", "text"]),
  words: Type.Array(AnyText),
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
      const change = changeOfSettings(documentOf(given.options), shownOptions());
      return writePublished(await versions.publish({ ...publisherOf(request, given), change }));
    },
  }),
  get("listSettingsHistory", "/api/settings/history", {
    summary: "Changes of options at run time, newest first, with author and what each changed",
    access: "operator",
    parameters: paging,
    response: page(VersionSchema),
    async handle({ request }, { versions }) {
      const { limit, after } = pageOf(request);
      const { data, next } = await settingsHistory(versions, { limit, before: beforeOf(after) });
      return {
        data: data.map(({ version, changes }) => writeChanged(version, changes)),
        next: next === null ? null : String(next),
      };
    },
  }),
  post("rollBackSettings", "/api/settings/history/:number/rollback", {
    summary: "Set all options as they were in a version; providers, models and chains stay. 0 is before any change",
    access: "operator",
    parameters: [ifMatch],
    errors: [409, 422],
    body: RollBackSchema,
    isBodyOptional: true,
    example: { note: "Too many requests were refused" },
    response: PublishedSchema,
    async handle({ request, body }, { versions }) {
      const given = hasNoBody(request) ? {} : body();
      return writePublished(await rollBackSettings(versions, numberOf(request), publisherOf(request, given)));
    },
  }),
];
