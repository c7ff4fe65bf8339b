// The one table of options: where each can be given, what it means and how it is checked.
// Loading, `switchyard doctor`, docs/reference/configuration.md and .env.example all come from it.

import { ERROR_READERS, type ErrorReader } from "../../core/errors.ts";
import { databaseUrl, number, oneOf, redisUrl, secretText, text, truth } from "../readers.ts";
import { ALERT_OPTIONS } from "./alerts.ts";
import { BILLING_OPTIONS } from "./billing.ts";
import { CASCADE_OPTIONS } from "./cascade.ts";
import { FILE_STORE_OPTIONS } from "./files.ts";
import { IDENTITY_OPTIONS } from "./identity.ts";
import { LIMIT_OPTIONS } from "./limits.ts";
import { type Option, option, type ValuesOf } from "./option.ts";
import { PRICE_OPTIONS } from "./prices.ts";
import { RESPONSES_OPTIONS } from "./responses.ts";
import { CATALOG_OPTIONS, HEALTH_OPTIONS, ROUTING_OPTIONS } from "./routing.ts";
import { SEARCH_OPTIONS } from "./search.ts";
import { SERVER_OPTIONS } from "./server.ts";
import { TELEMETRY_OPTIONS } from "./telemetry.ts";

const LOG_LEVELS = ["debug", "info", "warn", "error", "silent"] as const;

/** Read before all others, because it names the file they may stand in. */
const FILE_OPTIONS = {
  config: option<string | null>({
    env: "SWITCHYARD_CONFIG",
    flag: "config",
    default: null,
    shownDefault: "switchyard.yaml where it exists",
    read: text(),
    help: "The configuration file.",
  }),
};

/** Become `dataDir`, `database`, `redis` and `secret` of the settings. */
const STORE_OPTIONS = {
  data: option<string>({
    env: "SWITCHYARD_DATA",
    flag: "data",
    default: "./data",
    read: text({ test: (value) => !/^[a-z][a-z0-9+.-]*:\/\//i.test(value), expected: "a folder, not an address" }),
    help: "The folder for the gateway's own files.",
  }),
  database: option<string | null>({
    path: "database",
    env: "DATABASE_URL",
    flag: "database",
    default: null,
    shownDefault: "sqlite:switchyard.db in the data folder",
    isSecret: true,
    read: databaseUrl,
    help: "sqlite:PATH, or postgres://user:password@host/database.",
  }),
  redis: option<string | null>({
    path: "redis",
    env: "REDIS_URL",
    flag: "redis",
    default: null,
    shownDefault: "none",
    isSecret: true,
    read: redisUrl,
    help: "redis://host:port, where several processes count per-minute limits together; without it they use PostgreSQL.",
  }),
  secret: option<string | null>({
    env: "SWITCHYARD_SECRET",
    default: null,
    shownDefault: "made at the first start and kept in secret.key in the data folder",
    isSecret: true,
    read: secretText,
    help: "What stored responses, conversations and provider keys are encrypted with. The same for all processes on one database.",
  }),
};

/** Section `logging` of the settings. */
const LOGGING_OPTIONS = {
  logLevel: option<(typeof LOG_LEVELS)[number]>({
    path: "logging.level",
    env: "LOG_LEVEL",
    flag: "log-level",
    default: "info",
    read: oneOf(LOG_LEVELS),
    help: `How much is logged: ${LOG_LEVELS.join(", ")}.`,
  }),
  logContent: option<boolean>({
    path: "logging.content",
    env: "SWITCHYARD_LOG_CONTENT",
    default: false,
    isLive: true,
    read: truth,
    help: "Whether prompts and answers are stored.",
  }),
  retentionDays: option<number>({
    path: "logging.retentionDays",
    env: "SWITCHYARD_RETENTION_DAYS",
    default: 30,
    isLive: true,
    read: number({ min: 1, max: 3650, isWhole: true }),
    help: "How long request records are kept.",
  }),
  auditRetentionDays: option<number>({
    path: "logging.auditRetentionDays",
    env: "SWITCHYARD_AUDIT_RETENTION_DAYS",
    default: 365,
    isLive: true,
    read: number({ min: 1, max: 3650, isWhole: true }),
    help: "How long the audit log is kept.",
  }),
};

/** Section `errors` of the settings. */
const ERROR_OPTIONS = {
  errorDetail: option<ErrorReader>({
    path: "errors.detail",
    isLive: true,
    env: "SWITCHYARD_ERROR_DETAIL",
    default: "caller",
    read: oneOf(ERROR_READERS),
    help: "caller: errors of /v1 say what the caller can do. operator: they also name the provider that failed, and commands. The request log has both.",
  }),
};

/**
 * By section: a section's values become the section of the same name in `Settings`, so a new row needs no copying.
 * The name of a row is unique in the whole table, because `/api/settings` shows it.
 */
export const OPTIONS = {
  file: FILE_OPTIONS,
  server: SERVER_OPTIONS,
  store: STORE_OPTIONS,
  catalog: CATALOG_OPTIONS,
  routing: ROUTING_OPTIONS,
  billing: BILLING_OPTIONS,
  limits: LIMIT_OPTIONS,
  health: HEALTH_OPTIONS,
  logging: LOGGING_OPTIONS,
  errors: ERROR_OPTIONS,
  responses: RESPONSES_OPTIONS,
  files: FILE_STORE_OPTIONS,
  prices: PRICE_OPTIONS,
  identity: IDENTITY_OPTIONS,
  cascade: CASCADE_OPTIONS,
  search: SEARCH_OPTIONS,
  alerts: ALERT_OPTIONS,
  telemetry: TELEMETRY_OPTIONS,
};

/** The checked value of every option, by section and name. */
export type OptionValues = {
  readonly [Section in keyof typeof OPTIONS]: ValuesOf<(typeof OPTIONS)[Section]>;
};

/** Every row with its name, in the order of the table. */
export function namedOptions(): readonly (readonly [name: string, option: Option<unknown>])[] {
  return Object.values(OPTIONS).flatMap((section) =>
    Object.entries(section as Readonly<Record<string, Option<unknown>>>),
  );
}

/** Paths of the options that a version of the run-time configuration can set. */
export function livePaths(): readonly string[] {
  return optionRows().flatMap(({ path, isLive }) => (path !== null && isLive ? [path] : []));
}

/** Every row of the table, for readers that do not need the names. */
export function optionRows(): readonly Option<unknown>[] {
  return namedOptions().map(([, option]) => option);
}
