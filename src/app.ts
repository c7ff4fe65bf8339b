// The only place that constructs things: settings to store to services to server. start() and stop(), nothing at import.

import { randomBytes } from "node:crypto";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { FastifyInstance } from "fastify";
import { createAccounts, DEFAULT_ACCOUNT } from "./accounts/accounts.ts";
import { ensureFirstAccount } from "./accounts/bootstrap.ts";
import { createDirectory } from "./accounts/directory.ts";
import { createKeys, type Keys } from "./accounts/keys.ts";
import { createLimiter } from "./accounts/limits.ts";
import { createProfiles, type Profiles } from "./accounts/profiles.ts";
import { type Credits, createCredits } from "./billing/credits.ts";
import { createLedger, type Ledger } from "./billing/ledger.ts";
import { createOutbox } from "./billing/outbox.ts";
import { createUpkeep } from "./billing/upkeep.ts";
import { verifyLedger } from "./billing/verify.ts";
import type { Settings } from "./config/settings.ts";
import type { LedgerVerdict } from "./core/audit.ts";
import type { IdempotencyStore } from "./core/idempotency.ts";
import type { AccountStore, Db, Log } from "./core/ports.ts";
import type { Services } from "./gateway/services.ts";
import { createToolLoops } from "./gateway/tool-loops.ts";
import type { Edge } from "./http/edge.ts";
import { createServer } from "./http/server.ts";
import { createHealth } from "./providers/health.ts";
import { createRegistry } from "./providers/registry.ts";
import { createAccountStore } from "./store/accounts.ts";
import { createLedgerAudit } from "./store/audit.ts";
import { openDb } from "./store/db.ts";
import { createIdempotencyStore } from "./store/idempotency.ts";
import { createKeyStore } from "./store/keys.ts";
import { createLedgerStore } from "./store/ledger.ts";
import { createLedgerList } from "./store/ledger-list.ts";
import { createProfileStore } from "./store/profiles.ts";
import { createMetrics, type Metrics } from "./telemetry/metrics.ts";

const IDLE_SWEEP_MS = 50;

export interface App {
  /** `http://host:port`, with the port really in use. */
  readonly url: string;
  /** The first key's text, when this start made it. */
  readonly firstKey: string | null;
  /** Takes no new work, lets what runs finish within the drain time, then closes everything. */
  stop(): Promise<void>;
}

export async function start(settings: Settings, log: Log): Promise<App> {
  const now = Date.now;
  const db = await openDb(settings.database, {
    exclusive: true,
    onConnectionLost: (err) => log.warn({ err }, "connection lost"),
  });
  try {
    await db.migrate();
    const people = await openPeople(db, log);
    const firstKey = await ensureFirstAccount({ accounts: people.accountStore, keys: people.keys });
    const metrics = createMetrics();
    const money = await openMoney(db, { settings, log, metrics });
    if (firstKey !== null && isSandboxed(settings)) await giveDemoCredits(money.credits);
    const registry = createRegistry(settings.catalog.providers);
    const drain = createDrain(db);
    const { ledger, idempotency, credits, verify } = money;
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
      accounts: createAccounts({ store: people.accountStore }),
      keys: people.keys,
      profiles: people.profiles,
      limiter: createLimiter(),
      credits,
      verifyLedger: verify,
      metrics,
      log,
      now,
      isDraining: drain.isDraining,
      notReadyBecause: drain.notReadyBecause,
    };
    const server = await createServer(edge);
    await server.listen({ host: settings.server.host, port: settings.server.port });
    return {
      url: addressOf(server, settings.server.host),
      firstKey,
      async stop() {
        drain.begin();
        await closeServer(server, settings.server.drainSeconds, drain.cut);
        await registry.close();
        await money.close();
        await people.close();
        metrics.close();
        await db.close();
      },
    };
  } catch (error) {
    await db.close();
    throw error;
  }
}

/** Only one process serves from a SQLite file, so there every other owner is dead. */
const OWNER_SILENT_MS = 60_000;

interface Money {
  readonly ledger: Ledger;
  readonly idempotency: IdempotencyStore;
  readonly credits: Credits;
  readonly verify: () => Promise<LedgerVerdict>;
  close(): Promise<void>;
}

interface MoneyContext {
  readonly settings: Settings;
  readonly log: Log;
  readonly metrics: Metrics;
}

async function openMoney(db: Db, { settings, log, metrics }: MoneyContext): Promise<Money> {
  const owner = `process_${randomBytes(8).toString("hex")}`;
  const ownerSilentMs = db.kind === "sqlite" ? 0 : OWNER_SILENT_MS;
  const outbox = createOutbox(join(settings.dataDir, "outbox.ndjson"), log);
  const ledger = createLedger({ store: createLedgerStore(db, owner), outbox, log, ownerSilentMs });
  const idempotency = createIdempotencyStore(db, owner);
  const verify = (): Promise<LedgerVerdict> => verifyLedger(createLedgerAudit(db));
  const upkeep = createUpkeep({ verify, idempotency, ownerSilentMs, onAudit: metrics.ledgerProblems, log });
  await ledger.start();
  await upkeep.start();
  return {
    ledger,
    idempotency,
    credits: createCredits(ledger, createLedgerList(db)),
    verify,
    async close() {
      upkeep.stop();
      await ledger.stop();
    },
  };
}

function isSandboxed({ catalog }: Settings): boolean {
  return [...catalog.providers.values()].every(({ kind }) => kind === "sandbox");
}

/** Play money for the first steps; with a real provider, credits are the operator's to add. */
async function giveDemoCredits(credits: Credits): Promise<void> {
  const accountId = DEFAULT_ACCOUNT;
  await credits.topUp({ accountId, amountUsd: "5", note: "demo credits", idempotencyKey: "demo credits" });
}

interface People {
  readonly accountStore: AccountStore;
  readonly keys: Keys;
  readonly profiles: Profiles;
  close(): Promise<void>;
}

async function openPeople(db: Db, log: Log): Promise<People> {
  const keyStore = createKeyStore(db);
  const profileStore = createProfileStore(db);
  const directory = createDirectory({ keys: keyStore, profiles: profileStore, log });
  await directory.start();
  const keys = createKeys({ store: keyStore, directory, log });
  keys.start();
  return {
    accountStore: createAccountStore(db),
    keys,
    profiles: createProfiles({ store: profileStore, directory }),
    async close() {
      directory.stop();
      await keys.stop();
    },
  };
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
