// The API calls behind the dashboard's pages, on a store full of generated traffic: how long each takes over HTTP, one at
// a time. On a SQLite file and on PostgreSQL (the server that SWITCHYARD_TEST_POSTGRES names, else one of its own), or on
// a store that was filled before.

import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import pg from "pg";
import { type App, start } from "../src/app/app.ts";
import { load } from "../src/config/load.ts";
import { fillWithDemo } from "../src/demo/fill.ts";
import { openDb, withLog } from "../src/store/db.ts";
import { SILENT_LOG } from "../src/telemetry/log.ts";
import { startPostgres } from "../test/support/stores/postgres-server.ts";
import { ADMIN_TOKEN } from "./harness/settings.ts";
import { percentile } from "./harness/statistics.ts";
import { show, type Table } from "./harness/table.ts";

/** Amount of data, and number of calls. */
export interface DashboardPlan {
  readonly rows: number;
  readonly rounds: number;
  /** A store that `switchyard demo` filled before; null to fill fresh ones. */
  readonly database?: string | null;
}

/** Above this, a page feels slow. */
const BUDGET_MS = 300;
const DAYS = 30;
const DAY_MS = 24 * 60 * 60 * 1000;
const PAGE_ROWS = 50;

export async function measureDashboard(plan: DashboardPlan): Promise<readonly Table[]> {
  const folder = mkdtempSync(join(tmpdir(), "switchyard-bench-"));
  try {
    const { database = null } = plan;
    if (database !== null) return [await measureStore({ name: database.replace(/:.*/, ""), database, folder }, plan)];
    const sqlite = { name: "SQLite file", database: `sqlite:${join(folder, "bench.db")}`, folder };
    const tables = [await measureFilled(sqlite, plan)];
    return [...tables, ...(await measureOnPostgres(folder, plan))];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Nothing where no server can be had. */
async function measureOnPostgres(folder: string, plan: DashboardPlan): Promise<readonly Table[]> {
  const named = process.env.SWITCHYARD_TEST_POSTGRES ?? "";
  const own = named === "" ? await startPostgres().catch(() => null) : null;
  const server = own?.url ?? named;
  if (server === "") {
    console.log("No PostgreSQL starts here: measured on SQLite alone.\n");
    return [];
  }
  try {
    const measure = (database: string) => measureFilled({ name: "PostgreSQL", database, folder }, plan);
    return [await onPostgres(server, measure)];
  } finally {
    await own?.stop();
  }
}

/** Works in a new database, which is dropped afterwards. */
async function onPostgres<T>(server: string, work: (url: string) => Promise<T>): Promise<T> {
  const name = `bench_${randomBytes(6).toString("hex")}`;
  await administer(server, `CREATE DATABASE ${name}`);
  try {
    const url = new URL(server);
    url.pathname = `/${name}`;
    return await work(url.href);
  } finally {
    await administer(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  }
}

/** One statement outside of the measured database. */
async function administer(server: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

/** A store under test. */
interface MeasuredStore {
  readonly name: string;
  readonly database: string;
  readonly folder: string;
}

/** Fills the store first; the time that took is a note. */
async function measureFilled(store: MeasuredStore, plan: DashboardPlan): Promise<Table> {
  const seconds = await fill(store.database, plan.rows, Date.now());
  const table = await measureStore(store, plan);
  return { ...table, notes: [...(table.notes ?? []), `Filled in ${show(seconds)} s.`] };
}

/** One row for each call. */
async function measureStore({ name, database, folder }: MeasuredStore, plan: DashboardPlan): Promise<Table> {
  const app = await startGateway(database, folder);
  try {
    const rows: string[][] = [];
    for (const [page, path] of await callsOf(app, Date.now())) {
      const before = process.cpuUsage();
      const timesMs = await timed(app, path, plan.rounds);
      const { user, system } = process.cpuUsage(before);
      const cpuMs = (user + system) / 1000 / plan.rounds;
      const p95 = percentile(timesMs, 0.95);
      rows.push([page, show(percentile(timesMs, 0.5)), show(p95), p95 <= BUDGET_MS ? "yes" : "NO", show(cpuMs)]);
    }
    return {
      title: `dashboard: ${plan.database == null ? `${plan.rows} requests of ${DAYS} days, ` : ""}${name}`,
      columns: ["call", "p50 ms", "p95 ms", `within ${BUDGET_MS}`, "CPU ms"],
      rows,
      notes: [
        "CPU: of this process, which is gateway, caller and SQLite in one; a PostgreSQL server's own is not in it.",
        `${plan.rounds} calls each, one at a time; load average ${show(loadavg()[0] ?? Number.NaN)}.`,
      ],
    };
  } finally {
    await app.stop();
  }
}

/** The seconds it took. */
async function fill(database: string, requests: number, nowMs: number): Promise<number> {
  const startedAt = performance.now();
  const db = await openDb(database);
  try {
    await db.migrate();
    const plan = { requests, days: DAYS, seed: 1, nowMs, hasContent: false, onProgress: () => {} };
    await withLog(database, db, (log) => fillWithDemo({ db, log }, plan));
    // On a server that runs for a while, autovacuum has done this.
    if (db.kind === "postgres") await db.query("VACUUM ANALYZE");
  } finally {
    await db.close();
  }
  return (performance.now() - startedAt) / 1000;
}

function startGateway(database: string, folder: string): Promise<App> {
  const flags = { database, data: folder, port: "0" };
  // Records are kept longer than they are old, so that nothing is deleted while it is measured.
  const env = { SWITCHYARD_ADMIN_TOKEN: ADMIN_TOKEN, SWITCHYARD_RETENTION_DAYS: "90", SWITCHYARD_WARM_UP: "false" };
  const loaded = load({ flags, env, cwd: folder });
  if (!loaded.ok) throw new Error(loaded.problems.map(({ place, message }) => `${place}: ${message}`).join("\n"));
  return start(loaded.settings, SILENT_LOG);
}

/** Every call that a page makes, and some that no page makes but the API allows. */
async function callsOf(app: App, nowMs: number): Promise<readonly (readonly [string, string])[]> {
  const time = (daysAgo: number): string => encodeURIComponent(new Date(nowMs - daysAgo * DAY_MS).toISOString());
  const month = `from=${time(DAYS)}&to=${time(0)}`;
  const requests = `/api/requests?limit=${PAGE_ROWS}`;
  const histogram = "/api/requests/histogram?";
  const id = (await firstOf(app, `${requests}&to=${time(DAYS / 2)}`)).id;
  const model = (await firstOf(app, `${requests}&tier=COMPLEX`)).model;
  return [
    ["overview: 24 hours by hour", `/api/usage?by=hour&from=${time(1)}&to=${time(0)}`],
    ["overview: 4 days by hour and tier", `/api/usage?by=hour&group=tier&latency=false&from=${time(4)}&to=${time(0)}`],
    ["overview: month by day and model", `/api/usage?by=day&group=model&latency=false&${month}`],
    ["overview: month by day, with latencies", `/api/usage?by=day&${month}`],
    ["overview: month by key, total", `/api/usage?by=total&group=key&latency=false&${month}`],
    ["overview: newest errors", `/api/requests?status=error&limit=5&${month}`],
    ["requests: first page", `${requests}&${month}`],
    ["requests: a tier", `${requests}&${month}&tier=COMPLEX`],
    ["requests: a model", `${requests}&${month}&model=${encodeURIComponent(model)}`],
    ["requests: not the first try", `${requests}&${month}&answered=second,later,none`],
    ["requests: a provider that failed", `${requests}&${month}&failed=sandbox`],
    ["requests: a key and fallbacks", `${requests}&${month}&key=key_demo_batch&fallback=true`],
    ["requests: status 402", `${requests}&${month}&status=402`],
    ["requests: a category of a tier", `${requests}&${month}&category=translation&tier=NANO`],
    [
      "requests: a category that is rare",
      `${requests}&${month}&category=math&tier=COMPLEX&adjusted=true&fallback=true`,
    ],
    ["requests: what there is none of", `${requests}&${month}&category=chitchat&tier=COMPLEX&profile=direct`],
    ["requests: adjusted, of a saved profile", `${requests}&${month}&adjusted=true&keyProfile=profile_demo_budget`],
    ["requests: a provider", `${requests}&${month}&provider=sandbox`],
    ["requests: dear ones", `${requests}&${month}&costFrom=0.1`],
    ["no page: a narrow range of cost", `${requests}&${month}&costFrom=0.0123&costTo=0.0124`],
    ["requests: beginning of an id", `${requests}&q=req_7`],
    ["requests: deep page", `${requests}&${month}&after=${id}`],
    ["requests: histogram, month by day", `${histogram}by=day&${month}`],
    ["requests: histogram, month, adjusted", `${histogram}by=day&${month}&adjusted=true`],
    ["requests: histogram, month, cost from 0.001", `${histogram}by=day&${month}&costFrom=0.001`],
    [
      "requests: histogram, month, one of all",
      `${histogram}by=day&${month}&category=math&tier=LIGHT&status=2xx&fallback=false`,
    ],
    ["requests: histogram, 4 days by hour", `${histogram}by=hour&from=${time(4)}&to=${time(0)}&adjusted=true`],
    ["requests: histogram, one id", `${histogram}by=day&${month}&q=req_7a1`],
    ["no page: histogram, cost from 0.0012", `${histogram}by=day&${month}&costFrom=0.0012`],
    ["no page: histogram, month by hour", `${histogram}by=hour&${month}&adjusted=true`],
    ["no page: month by hour and status", `/api/usage?by=hour&group=status&${month}`],
    ["request: one", `/api/requests/${id}`],
    ...(["cost", "latency", "tokens"].flatMap((sort) => [
      [`requests: by ${sort}`, `${requests}&${month}&sort=${sort}`],
      [`requests: by ${sort}, a tier`, `${requests}&${month}&sort=${sort}&tier=COMPLEX`],
    ]) as [string, string][]),
    ["requests: by cost, a model", `${requests}&${month}&sort=cost&model=${encodeURIComponent(model)}`],
    ["requests: slow ones", `${requests}&${month}&latencyFrom=10000`],
    ["requests: a user", `${requests}&${month}&user=customer-1003`],
    ["requests: a tag with any value", `${requests}&${month}&tag=app`],
    ["requests: a tag of a value", `${requests}&${month}&tag=job%3Dtranslations`],
    ["requests: a tag, by cost", `${requests}&${month}&tag=app&sort=cost`],
    ["requests: a word", `${requests}&${month}&q=glaciers`],
    ["requests: two words and a tier", `${requests}&${month}&q=glaciers+norway&tier=NANO`],
    ["requests: a word of a small account", `${requests}&${month}&q=glaciers&account=account_demo_support`],
    ["requests: a word that is rare", `${requests}&${month}&q=zugzwang`],
    ["requests: sums of a word", `/api/requests/totals?${month}&q=glaciers`],
    ["requests: sums of a tier", `/api/requests/totals?${month}&tier=COMPLEX`],
    ["requests: sums of a tag", `/api/requests/totals?${month}&tag=app`],
    ["requests: sums of a user", `/api/requests/totals?${month}&user=customer-1003`],
    ["sessions: month", `/api/sessions?limit=${PAGE_ROWS}&${month}`],
    ["sessions: all", `/api/sessions?limit=${PAGE_ROWS}`],
    ["sessions: of a user", `/api/sessions?limit=${PAGE_ROWS}&${month}&user=customer-1003`],
    ["sessions: that switched", `/api/sessions?limit=${PAGE_ROWS}&${month}&state=switched`],
    ["explore: cost by model and day", `/api/explore?metric=cost&by=day,model&${month}`],
    ["explore: cost by user", `/api/explore?metric=cost&by=user&${month}`],
    ["explore: requests by tag", `/api/explore?metric=requests&by=tag:app&${month}`],
    ["explore: requests by session", `/api/explore?metric=requests&by=session&${month}`],
    ["explore: tokens by host", `/api/explore?metric=inputTokens&by=provider&${month}`],
    ["explore: p95 by model", `/api/explore?metric=latencyP95&by=model&${month}`],
    ["explore: p95 by user and day", `/api/explore?metric=latencyP95&by=day,user&${month}`],
    ["profiles: list", "/api/profiles?limit=500"],
    ["models: list", "/api/models"],
    ["models: month by model, total", `/api/usage?by=total&group=model&${month}`],
    ["keys: list", "/api/keys?limit=500"],
    ["credits: balance", "/api/credits"],
    ["credits: ledger page", `/api/ledger?limit=${PAGE_ROWS}`],
  ];
}

/** A real id and model, for calls that need one. */
async function firstOf(app: App, path: string): Promise<{ readonly id: string; readonly model: string }> {
  const { data } = JSON.parse(await get(app, path)) as { data: { id: string; model: string | null }[] };
  const found = data.find(({ model }) => model !== null);
  if (found === undefined) throw new Error(`nothing was found at ${path}`);
  return { id: found.id, model: found.model ?? "" };
}

/** One call after the other. */
async function timed(app: App, path: string, rounds: number): Promise<readonly number[]> {
  const timesMs: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const startedAt = performance.now();
    await get(app, path);
    timesMs.push(performance.now() - startedAt);
  }
  return timesMs;
}

async function get(app: App, path: string): Promise<string> {
  const response = await fetch(`${app.url}${path}`, { headers: { authorization: `Bearer ${ADMIN_TOKEN}` } });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${path} answered ${response.status}: ${text.slice(0, 200)}`);
  return text;
}
