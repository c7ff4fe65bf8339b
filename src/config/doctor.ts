// Checks of the configuration alone, for `switchyard doctor`. The command adds those that touch the world.

import { SANDBOX_ID } from "../catalog/build.ts";
import { readBuiltin } from "../catalog/builtin.ts";
import { baselineText, type Catalog, type TierChain, unreachableBecause } from "../catalog/catalog.ts";
import { chainRetirements, type Retirement } from "../catalog/retirement.ts";
import type { ProviderRow } from "../catalog/rows.ts";
import { sqlitePathOf } from "../core/db.ts";
import { writeEntry } from "../core/requests/effort.ts";
import { TIERS } from "../core/tiers.ts";
import { type Variables, variableValue } from "./environment.ts";
import type { Problem } from "./report.ts";
import type { Loaded, Settings } from "./settings.ts";

/** One check and its result. */
export interface Check {
  readonly state: "ok" | "warn" | "fail";
  readonly what: string;
  /** Advice; null when nothing needs doing. */
  readonly fix: string | null;
}

/** Vendors change prices about twice a year. */
export const PRICES_OLD_DAYS = 180;
const DAY_MS = 86_400_000;

/** One check for each fact worth knowing; only the problems when there are any. */
export function diagnose(loaded: Loaded, env: Variables, nowMs: number): readonly Check[] {
  if (!loaded.ok) return loaded.problems.map((problem) => checkOf("fail", problem));
  const { settings, sources, warnings } = loaded;
  return [
    { state: "ok", what: `Configuration from ${sources.join(", ")}`, fix: null },
    ...warnings.map((warning) => checkOf("warn", warning)),
    ...providerChecks(settings.catalog, env),
    ...tierChecks(settings.catalog),
    { state: "ok", what: `Savings are counted against ${baselineText(settings.catalog)}`, fix: null },
    ...priceChecks(settings.catalog, nowMs),
    ...chainRetirements(settings.catalog, nowMs).map(retirementCheck),
    ...addressChecks(settings.server),
    databaseCheck(settings),
  ];
}

function checkOf(state: "warn" | "fail", problem: Problem): Check {
  const fix = problem.suggestion === null ? "Correct it at the place named" : `Write ${problem.suggestion}`;
  return { state, what: `${problem.place}: ${problem.message}`, fix };
}

/** Built-in providers that are on, one line for those that are off, and the configured ones. */
function providerChecks(catalog: Catalog, env: Variables): readonly Check[] {
  const builtin = readBuiltin().providers;
  const builtinIds = new Set(builtin.map((row) => row.id));
  const others = [...catalog.providers.values()].filter(({ id }) => !builtinIds.has(id));
  const isOff = (row: ProviderRow): boolean => !catalog.providers.has(row.id) && !isKeySet(row, env);
  const off = builtin.filter(isOff).map(({ keyVariable }) => keyVariable);
  return [
    ...builtin.filter((row) => !isOff(row)).map((row) => builtinCheck(row, catalog)),
    ...(off.length === 0 ? [] : [offCheck(off)]),
    ...others.map((provider): Check => {
      const { id } = provider;
      const fix = unreachableBecause(catalog.models, provider);
      const state = fix === null ? "ok" : "warn";
      if (id !== SANDBOX_ID) return { state, what: `${id}: configured, ${modelCount(catalog, id)}`, fix };
      const what = `${id}: answers are simulated, ${modelCount(catalog, id)}`;
      return { state: "warn", what, fix: "Set the key of a provider, such as OPENAI_API_KEY" };
    }),
  ];
}

function isKeySet({ keyVariable }: ProviderRow, env: Variables): boolean {
  return [keyVariable, `${keyVariable}_FILE`].some((name) => variableValue(env, name) !== null);
}

function builtinCheck({ id, name, keyVariable }: ProviderRow, catalog: Catalog): Check {
  if (catalog.providers.has(id)) {
    return { state: "ok", what: `${name}: configured, ${modelCount(catalog, id)}`, fix: null };
  }
  return { state: "warn", what: `${name}: ${keyVariable} is set, but it cannot be called yet`, fix: null };
}

function offCheck(variables: readonly string[]): Check {
  const what = `Not configured: ${variables.join(", ")}`;
  return { state: "ok", what, fix: "Set one to use it" };
}

/** In words, with the right number of the noun. */
function modelCount(catalog: Catalog, provider: string): string {
  const count = [...catalog.models.values()].filter(({ hosts }) =>
    hosts.some((host) => host.provider === provider),
  ).length;
  return count === 1 ? "1 model" : `${count} models`;
}

/** A tier without models is legal: its requests go to the next tier. */
function tierChecks(catalog: Catalog): readonly Check[] {
  return TIERS.map((tier): Check => {
    const entries = entriesOf({ models: catalog.chains[tier], efforts: catalog.efforts[tier] });
    const tools = catalog.withTools[tier];
    const withTools = tools === undefined ? "" : `; with tools ${entriesOf(tools)}`;
    if (entries !== "") return { state: "ok", what: `${tier}: ${entries}${withTools}`, fix: null };
    const what = `${tier}: no model; its requests go to the next tier that has one`;
    return { state: "warn", what, fix: `List models under tiers.${tier}, or configure another provider` };
  });
}

function entriesOf({ models, efforts }: TierChain): string {
  return models.map(({ id }) => writeEntry({ id, effort: efforts[id] ?? null })).join(", ");
}

/** Only prices that requests are routed by count. */
function priceChecks(catalog: Catalog, nowMs: number): readonly Check[] {
  const dates = TIERS.flatMap((tier) => catalog.chains[tier]).map((model) => model.priceAsOf);
  const oldest = dates.filter((date) => date !== "").sort()[0];
  if (oldest === undefined) return [];
  const ageDays = ageInDays(oldest, nowMs);
  const what = `Prices in use date from ${oldest} or later`;
  if (ageDays <= PRICES_OLD_DAYS) return [{ state: "ok", what, fix: null }];
  const fix = "Compare them with the vendors' pages and correct them under models";
  return [{ state: "warn", what: `${what}: the oldest are ${ageDays} days old`, fix }];
}

function retirementCheck({ model, day, state }: Retirement): Check {
  const what =
    state === "retired" ? `${model} retired on ${day} and has left its chains` : `${model} retires on ${day}`;
  return { state: "warn", what, fix: `Replace ${model} in tiers, or configure another provider that has it` };
}

/** Whole days since a date such as 2026-08-08. */
export function ageInDays(date: string, nowMs: number): number {
  return Math.floor((nowMs - Date.parse(date)) / DAY_MS);
}

/** Nothing needs saying of a gateway that only this machine can reach. It speaks no TLS itself, so https means a proxy. */
function addressChecks({ host, publicUrl, trustedProxies }: Settings["server"]): readonly Check[] {
  if (publicUrl !== null) {
    const links: Check = { state: "ok", what: `Links begin with ${publicUrl}`, fix: null };
    if (trustedProxies.length > 0 || !publicUrl.startsWith("https:")) return [links];
    const what = "No proxy is trusted, although https needs one: all its clients share one address and its limits";
    return [links, { state: "warn", what, fix: "Set SWITCHYARD_TRUSTED_PROXIES to the address of the proxy" }];
  }
  if (host === "localhost" || host.startsWith("127.") || host === "::1") return [];
  const what = "The dashboard is served as localhost and under IP addresses";
  return [{ state: "ok", what, fix: "Set SWITCHYARD_PUBLIC_URL to the address that people open" }];
}

/** Names the kind only: an address may hold a password. */
function databaseCheck({ database }: Settings): Check {
  const path = sqlitePathOf(database);
  const what = path === null ? "Database: PostgreSQL" : `Database: SQLite at ${path}, one process`;
  return { state: "ok", what, fix: null };
}
