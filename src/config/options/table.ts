// The one table of settings: where each can be given, what it means and how it is checked.
// Loading, `switchyard doctor`, docs/configuration.md and .env.example all come from it.

import { TIERS, type Tier } from "../../core/tiers.ts";
import { listOf, number, oneOf, text, truth } from "../readers.ts";
import { corsOrigin, databaseUrl, markupPpm, redisUrl } from "../urls.ts";
import { HEALTH_OPTIONS } from "./health.ts";
import { LIMIT_OPTIONS } from "./limits.ts";
import { type Option, option } from "./option.ts";
import { TRACE_OPTIONS } from "./traces.ts";

/** Where several processes share a database. */
export const LAME_DUCK_SECONDS = 5;

export const LOG_LEVELS = ["debug", "info", "warn", "error", "silent"] as const;

export const OPTIONS = {
  config: option<string | null>({
    env: "SWITCHYARD_CONFIG",
    flag: "config",
    default: null,
    shownDefault: "switchyard.yaml where it exists",
    read: text(),
    help: "The configuration file.",
  }),
  host: option<string>({
    path: "server.host",
    env: "HOST",
    flag: "host",
    default: "127.0.0.1",
    read: text({ test: (value) => !/[\s/]/.test(value), expected: "a host name or address" }),
    help: "The address to listen on; 0.0.0.0 opens the gateway to the network.",
  }),
  port: option<number>({
    path: "server.port",
    env: "PORT",
    flag: "port",
    default: 8787,
    read: number({ min: 0, max: 65_535, isWhole: true }),
    help: "The port to listen on; 0 takes any free one.",
  }),
  adminToken: option<string | null>({
    path: "server.adminToken",
    env: "SWITCHYARD_ADMIN_TOKEN",
    default: null,
    shownDefault: "none: the admin API takes dashboard sessions only",
    isSecret: true,
    read: text({ test: (value) => !/\s/.test(value), expected: "text without spaces" }),
    help: "The bearer token for /api and /metrics.",
  }),
  corsOrigins: option<readonly string[]>({
    path: "server.corsOrigins",
    env: "SWITCHYARD_CORS_ORIGINS",
    default: [],
    shownDefault: "none: browsers of other origins are refused",
    read: listOf(corsOrigin),
    help: "Origins whose pages may call the gateway from a browser; with commas between them in the variable.",
  }),
  lameDuckSeconds: option<number | null>({
    path: "server.lameDuckSeconds",
    env: "SWITCHYARD_LAME_DUCK_SECONDS",
    default: null,
    shownDefault: `${LAME_DUCK_SECONDS}; 0 on SQLite, where no other process could take over`,
    read: number({ min: 0, max: 600, isWhole: true }),
    help: "How long requests are still taken after SIGTERM, while /readyz already says 503: the time a balancer needs to notice.",
  }),
  drainSeconds: option<number>({
    path: "server.drainSeconds",
    env: "SWITCHYARD_DRAIN_SECONDS",
    default: 600,
    read: number({ min: 0, max: 3600, isWhole: true }),
    help: "How long open streams may run on after that. What still runs then ends with an error and costs nothing.",
  }),
  data: option<string>({
    env: "SWITCHYARD_DATA",
    flag: "data",
    default: "./data",
    read: text(),
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
  baseline: option<string | null>({
    path: "routing.baseline",
    env: "SWITCHYARD_BASELINE",
    default: null,
    shownDefault: "claude-opus-4-8",
    read: text(),
    help: "The model that savings are counted against.",
  }),
  markup: option<number>({
    path: "routing.markup",
    env: "SWITCHYARD_MARKUP",
    default: 50_000,
    shownDefault: "0.05",
    read: markupPpm,
    help: "What is charged on top of provider cost, as a fraction of it.",
  }),
  unsureTier: option<Tier>({
    path: "routing.unsureTier",
    env: "SWITCHYARD_UNSURE_TIER",
    default: "LIGHT",
    read: oneOf(TIERS),
    help: "A request whose tier is a guess is not placed below this one.",
  }),
  isRoutingDebugged: option<boolean>({
    path: "routing.debug",
    env: "DEBUG_ROUTING",
    flag: "debug-routing",
    default: false,
    read: truth,
    help: "Whether answers carry the X-Service-* headers.",
  }),
  ...LIMIT_OPTIONS,
  ...HEALTH_OPTIONS,
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
    read: truth,
    help: "Whether prompts and answers are stored.",
  }),
  retentionDays: option<number>({
    path: "logging.retentionDays",
    env: "SWITCHYARD_RETENTION_DAYS",
    default: 30,
    read: number({ min: 1, max: 3650, isWhole: true }),
    help: "How long request records are kept.",
  }),
  ...TRACE_OPTIONS,
  catalog: option<"builtin" | "none">({
    path: "catalog",
    default: "builtin",
    read: oneOf(["builtin", "none"]),
    help: "Whether the models and chains that ship are there; none leaves only those of the file.",
  }),
};

type Options = typeof OPTIONS;

export type OptionName = keyof Options;

export type OptionValues = {
  readonly [Name in OptionName]: Options[Name] extends Option<infer Value> ? Value : never;
};

/** Every row of the table, for those who list them. */
export function optionRows(): readonly Option<unknown>[] {
  return Object.values(OPTIONS) as readonly Option<unknown>[];
}
