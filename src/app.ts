// The only place that constructs things: settings to store to services to server. start() and stop(), nothing at import.

import type { AddressInfo } from "node:net";
import type { FastifyInstance } from "fastify";
import { DEFAULT_ACCOUNT } from "./accounts/accounts.ts";
import { ensureFirstAccount } from "./accounts/bootstrap.ts";
import { createLimiter } from "./accounts/limits.ts";
import type { PasswordCost } from "./accounts/passwords.ts";
import { openMoney } from "./app-money.ts";
import { openPeople } from "./app-people.ts";
import { openRecords } from "./app-records.ts";
import type { Credits } from "./billing/credits.ts";
import { readPackage } from "./config/package.ts";
import type { Settings } from "./config/settings.ts";
import type { Db, Log } from "./core/ports.ts";
import type { Services } from "./gateway/services.ts";
import { createToolLoops } from "./gateway/tool-loops.ts";
import type { Edge } from "./http/edge.ts";
import { createServer } from "./http/server.ts";
import { createHealth } from "./providers/health.ts";
import { createRegistry } from "./providers/registry.ts";
import { openDb } from "./store/db.ts";
import { createMetrics } from "./telemetry/metrics.ts";

const IDLE_SWEEP_MS = 50;

export interface App {
  /** `http://host:port`, with the port really in use. */
  readonly url: string;
  /** The first key's text, when this start made it. */
  readonly firstKey: string | null;
  /** Where the first operator chooses a password, as long as there is none. */
  readonly setupLink: string | null;
  /** Takes no new work, lets what runs finish within the drain time, then closes everything. */
  stop(): Promise<void>;
}

/** For tests, which make many users and have no time. */
export interface StartOptions {
  readonly passwordCost?: PasswordCost;
}

export async function start(settings: Settings, log: Log, options: StartOptions = {}): Promise<App> {
  const now = Date.now;
  const db = await openDb(settings.database, {
    exclusive: true,
    onConnectionLost: (err) => log.warn({ err }, "connection lost"),
  });
  try {
    await db.migrate();
    const reader = await openReader(db, settings.database);
    const people = await openPeople(db, log, options.passwordCost);
    const firstKey = await ensureFirstAccount({ accounts: people.accountStore, keys: people.keys });
    const metrics = createMetrics();
    const money = await openMoney(db, { settings, reader, log, metrics });
    if (firstKey !== null && isSandboxed(settings)) await giveDemoCredits(money.credits);
    const registry = createRegistry(settings.catalog.providers);
    const drain = createDrain(db);
    const { ledger, idempotency, credits, verify } = money;
    const records = openRecords(db, { settings, reader, log, metrics, now });
    const edge: Edge = {
      settings,
      services: {
        catalog: settings.catalog,
        registry,
        health: createHealth(now, log),
        ledger,
        idempotency,
        toolLoops: createToolLoops(),
        log,
        now,
        isCutting: drain.isCutting,
      },
      ...people,
      isSandbox: isSandboxed(settings),
      version: readPackage().version,
      limiter: createLimiter(),
      credits,
      verifyLedger: verify,
      metrics,
      records,
      log,
      now,
      isDraining: drain.isDraining,
      notReadyBecause: drain.notReadyBecause,
    };
    const setupToken = await people.invitations.prepareSetup();
    const server = await createServer(edge);
    await server.listen({ host: settings.server.host, port: settings.server.port });
    const url = addressOf(server, settings.server.host);
    return {
      url,
      firstKey,
      setupLink: setupToken === null ? null : `${url}/#/setup?token=${setupToken}`,
      async stop() {
        drain.begin();
        await closeServer(server, settings.server.drainSeconds, drain.cut);
        await registry.close();
        await records.close();
        await money.close();
        await people.close();
        metrics.close();
        if (reader !== db) await reader.close();
        await db.close();
      },
    };
  } catch (error) {
    await db.close();
    throw error;
  }
}

/**
 * Pages and audits over many rows read through a connection of their own: on SQLite the one that takes holds would
 * otherwise wait for them.
 */
function openReader(db: Db, database: string): Promise<Db> {
  const isFile = db.kind === "sqlite" && !database.endsWith(":memory:");
  return isFile ? openDb(database) : Promise.resolve(db);
}

function isSandboxed({ catalog }: Settings): boolean {
  return [...catalog.providers.values()].every(({ kind }) => kind === "sandbox");
}

/** Play money for the first steps; with a real provider, credits are the operator's to add. */
async function giveDemoCredits(credits: Credits): Promise<void> {
  const accountId = DEFAULT_ACCOUNT;
  await credits.topUp({ accountId, amountUsd: "5", note: "demo credits", idempotencyKey: "demo credits" });
}

interface Drain extends Pick<Edge, "isDraining" | "notReadyBecause">, Pick<Services, "isCutting"> {
  begin(): void;
  cut(): void;
}

function createDrain(db: Db): Drain {
  let isDraining = false;
  let isCutting = false;
  return {
    isDraining: () => isDraining,
    isCutting: () => isCutting,
    cut() {
      isCutting = true;
    },
    begin() {
      isDraining = true;
    },
    async notReadyBecause() {
      if (isDraining) return "shutting down";
      return db.query("SELECT 1 AS one").then(
        () => null,
        () => "the database does not answer",
      );
    },
  };
}

/** Streams that are still running at the deadline are cut; their clients see a broken connection, not a fake end. */
async function closeServer(server: FastifyInstance, drainSeconds: number, onCut: () => void): Promise<void> {
  const deadline = setTimeout(() => {
    onCut();
    server.server.closeAllConnections();
  }, drainSeconds * 1000);
  // Node closes the connections that are idle now; those of streams that end later would be kept alive.
  const sweep = setInterval(() => server.server.closeIdleConnections(), IDLE_SWEEP_MS);
  await server.close();
  clearInterval(sweep);
  clearTimeout(deadline);
}

function addressOf(server: FastifyInstance, host: string): string {
  const { port } = server.server.address() as AddressInfo;
  const shown = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  return `http://${shown.includes(":") ? `[${shown}]` : shown}:${port}`;
}
