// Start and stop of the process: settings, store, services, server. Only app/ constructs; importing has no effect.

import type { RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import type { FastifyInstance } from "fastify";
import { DEFAULT_ACCOUNT } from "../accounts/accounts.ts";
import { ensureFirstAccount, ensureFirstKey } from "../accounts/bootstrap.ts";
import type { PasswordCost } from "../accounts/passwords.ts";
import { giveStarterCredit } from "../billing/credits.ts";
import type { Ledger } from "../billing/ledger.ts";
import type { Catalog } from "../catalog/catalog.ts";
import { openableUrl } from "../config/network.ts";
import { webhookTerms } from "../config/options/cascade.ts";
import { webTerms } from "../config/options/search.ts";
import { readPackage } from "../config/package.ts";
import type { LiveSettings, Settings } from "../config/settings.ts";
import type { BillingMode } from "../core/accounts.ts";
import type { Db } from "../core/db.ts";
import type { Log, LogOutput } from "../core/log.ts";
import type { NanoUsd } from "../core/money.ts";
import type { Format } from "../formats/format.ts";
import { createFormats } from "../formats/registry.ts";
import { createOpenCalls } from "../gateway/open-calls.ts";
import { createSampler } from "../gateway/shadow/sampler.ts";
import type { Edge, OperatorContext } from "../http/context.ts";
import { createRequestFormats } from "../http/exchange/request-format.ts";
import { createPressure } from "../http/overload/pressure.ts";
import { createServer } from "../http/server.ts";
import type { AuthRows } from "../providers/auth/schemes.ts";
import { createCascadeWebhooks } from "../providers/cascade-webhook.ts";
import type { FramingRows } from "../providers/framing.ts";
import { createWebTools } from "../providers/search/web-tools.ts";
import { warmRouter } from "../routing/warm.ts";
import { fileOf, openDb } from "../store/db.ts";
import { openPartThreads } from "../store/sqlite/part-files.ts";
import { sqliteOver } from "../store/sqlite/sqlite.ts";
import { createMetrics } from "../telemetry/metrics.ts";
import type { Recorder } from "../telemetry/recorder.ts";
import { createUsageWatch } from "../telemetry/usage-watch.ts";
import { openAlerts } from "./alerts/alerts.ts";
import { followChanges } from "./changes.ts";
import { openConfiguration } from "./configuration.ts";
import { createDrain, type StopOptions } from "./drain.ts";
import { openHealth } from "./health.ts";
import { openLimits } from "./limits.ts";
import { openMoney } from "./money.ts";
import { openPeople } from "./people.ts";
import { openAuditLog, openRecords } from "./records.ts";
import { loopNameOf, secretOf } from "./secret.ts";
import type { SnapshotsContext } from "./snapshots.ts";
import { shareSpeeds } from "./speeds.ts";
import { openBatches, openSessions, openState } from "./state.ts";
import { watchedBy, watchStorage } from "./storage.ts";
import { openLogExport, openTelemetry } from "./telemetry.ts";
import { warmUp } from "./warm-up.ts";
import {
  createLoadReports,
  inOne,
  openGauges,
  openSemaphores,
  openWorkerDbs,
  shareMetrics,
  shareOf,
  type WorkerDbs,
  type WorkerSlot,
} from "./worker.ts";

/** A serving process. */
export interface App {
  /** `http://host:port`, with the actual port. */
  readonly url: string;
  /** The configured public address, else `url`. */
  readonly publicUrl: string;
  /** Text of the first key, if this start created the key. */
  readonly firstKey: string | null;
  /** The catalogue at the start, run-time configuration included. */
  readonly catalog: Catalog;
  /** The credit of the account `default`. */
  readonly credit: { readonly available: NanoUsd; readonly mode: BillingMode };
  /** Page where the first operator chooses a password; null once there is an operator. */
  readonly setupLink: string | null;
  /** Takes no new requests, lets running ones finish within the drain time, then closes everything. */
  stop(options?: StopOptions): Promise<void>;
  /** Cuts a running stop short. Open requests get an error and cost nothing. */
  hurry(): void;
  /** Resolves when a gateway with workers can no longer serve. */
  readonly lost?: Promise<void>;
}

/** A gateway of one process, or one of its workers. */
export interface LocalApp extends App {
  /** Serves a request that came to another server of this process. */
  readonly answer: RequestListener;
}

export interface WireExtension {
  readonly formats: readonly Format[];
  readonly auths?: AuthRows;
  readonly framings?: FramingRows;
}

export interface StartOptions {
  /** Output of log lines, for metrics and readiness. */
  readonly logOutput?: LogOutput;
  /** E-mail of the user as whom the demo signs in its visitors. */
  readonly visitor?: string | null;
  /** A login of that user that the database has already. */
  readonly visitorLogin?: string;
  /** Slot of this worker; null in a gateway of one process. */
  readonly worker?: WorkerSlot | null;
  /** Cheaper password hashing for tests, which make many users. */
  readonly passwordCost?: PasswordCost;
  /** Further wire formats with their paths, authentication schemes and framings, for tests. */
  readonly wire?: WireExtension;
  /** The database, open and migrated, for tests that start many gateways. */
  readonly db?: Db;
  /** Clock of circuit breakers and connections to providers, for tests. */
  readonly providerNow?: () => number;
  /** Bounds the reading of a price feed, for tests. */
  readonly feedMsMax?: number;
  /** Replacements of real services, so that benchmarks measure a request without them. */
  readonly books?: { readonly ledger: Ledger; readonly recorder: Recorder };
}

/** Connections that the system queues until they are accepted. Beyond this, clients retry seconds later. */
const BACKLOG = 4_096;

export async function start(settings: Settings, log: Log, options: StartOptions = {}): Promise<LocalApp> {
  const { worker = null } = options;
  const watched = watchedBy(log);
  const dbs =
    worker === null
      ? await openAlone(settings.database, watched, options.db)
      : await openWorkerDbs(worker, settings, watched.onConnectionLost);
  try {
    return await startOn(dbs, worker === null ? settings : shareOf(settings, worker), log, options);
  } catch (error) {
    await closeDbs(dbs);
    throw error;
  }
}

/** Opens the database. On SQLite, pages and audits over many rows get their own connection, so the ledger never waits. */
async function openAlone(database: string, watched: ReturnType<typeof watchedBy>, given?: Db): Promise<WorkerDbs> {
  const db = given ?? (await openDb(database, watched));
  try {
    await db.migrate();
    const path = fileOf(database);
    if (path === null) return inOne(db);
    const { log, contents, reader } = await openPartThreads(path, db, watched);
    return { db, log: sqliteOver(log), contents: sqliteOver(contents), reader: sqliteOver(reader) };
  } catch (error) {
    await db.close();
    throw error;
  }
}

async function closeDbs({ db, log, contents, reader }: WorkerDbs): Promise<void> {
  for (const each of new Set([reader, log, contents, db])) await each.close();
}

/** Starts everything else on the open database, and opens the port last. */
async function startOn(dbs: WorkerDbs, settings: Settings, written: Log, options: StartOptions): Promise<LocalApp> {
  const { passwordCost, wire, providerNow, logOutput = UNWATCHED_OUTPUT, worker = null, visitorLogin } = options;
  const ledger = options.books?.ledger;
  const { log, close: closeLog } = await openLogExport(settings, written, readPackage().version);
  const given = { settings, log, logOutput, passwordCost, wire, providerNow, ledger, worker, visitorLogin };
  const parts = await openParts(dbs, given);
  const { people, money, drain } = parts;
  await ensureFirstAccount(people.accountStore);
  await giveStarterCredit(money.credits, DEFAULT_ACCOUNT, settings.billing.starterCredits);
  const edge = edgeOf(parts, options);
  warmRouter(settings.catalog);
  if (settings.server.isWarmedUp) await warmUp(edge);
  const server = await createServer(edge);
  parts.loads.watch(server.server);
  await server.listen({ host: settings.server.host, port: settings.server.port, backlog: BACKLOG });
  const { firstKey, setupToken } = worker?.isFirstStart === false ? NO_GREETING : await greet(server, people);
  drain.begin();
  const { posted, held } = await money.credits.balance(DEFAULT_ACCOUNT);
  const url = openableUrl({ host: settings.server.host, port: (server.server.address() as AddressInfo).port });
  const publicUrl = settings.server.publicUrl ?? url;
  return {
    url,
    publicUrl,
    firstKey,
    catalog: parts.snapshots.current().catalog,
    credit: { available: posted - held, mode: people.billingModeOf(DEFAULT_ACCOUNT) },
    setupLink: setupToken === null ? null : `${publicUrl}/#/setup?token=${setupToken}`,
    answer: (request, response) => void server.server.emit("request", request, response),
    hurry: drain.hurry,
    async stop(stopOptions = {}) {
      await drain.run(server, stopOptions);
      edge.pressure.close();
      parts.loads.close();
      await edge.sampler.close();
      await closeParts(parts);
      await closeDbs(dbs);
      await closeLog();
    },
  };
}

/** The output of a log without lines. */
const UNWATCHED_OUTPUT: LogOutput = { droppedLines: () => 0, problem: () => null };

interface PartsContext {
  readonly settings: Settings;
  readonly log: Log;
  readonly logOutput: LogOutput;
  readonly passwordCost: PasswordCost | undefined;
  readonly wire: WireExtension | undefined;
  readonly providerNow: (() => number) | undefined;
  readonly ledger: Ledger | undefined;
  readonly worker: WorkerSlot | null;
  readonly visitorLogin: string | undefined;
}

/** Opens and starts the parts of the edge in the order of their dependencies. */
async function openParts(dbs: WorkerDbs, context: PartsContext) {
  const { db, contents, reader } = dbs;
  const { settings, log, logOutput, passwordCost, wire, worker, visitorLogin } = context;
  const now = Date.now;
  const { version } = readPackage();
  const metrics = shareMetrics(createMetrics(version), worker);
  metrics.watchLog(logOutput.droppedLines);
  const storage = watchStorage([...new Set([db, dbs.log, contents])], { log, metrics });
  const limits = await openLimits(db, { settings, log, metrics, now, worker });
  let inUse: LiveSettings = settings;
  const live = () => inUse;
  const logging = () => inUse.logging;
  const { audit, ...auditUpkeep } = openAuditLog(db, { reader, logging, log, now, worker });
  const { signIns } = limits;
  const known = { settings, live, reader, log, signIns, passwordCost, worker, visitorLogin };
  const people = await openPeople(db, known);
  const secret = await secretOf(db, settings, log);
  const loopName = await loopNameOf(db, secret.bytes);
  const money = await openMoney(db, { settings, reader, contents, secret: secret.bytes, log, metrics, worker });
  const wireFormats = createFormats(wire?.formats);
  const formats = createRequestFormats(wireFormats);
  const openCalls = createOpenCalls();
  const loads = createLoadReports(worker, () => live().limits, openCalls.count);
  const drain = createDrain({ settings, dbs, limits, money, openCalls, log, logOutput, worker });
  const state = await openState(dbs, {
    ...{ form: wireFormats.stored, storedBytes: limits.storedBytes, secret: secret.bytes, owner: money.owner },
    ...{ live, log, now, worker },
  });
  const { owner, ledger } = money;
  const batches = openBatches(dbs, { settings, secret: secret.bytes, owner, ledger, log, now, worker });
  const sessions = await openSessions(dbs.log, { live, log, now, worker });
  const records = await openRecords(dbs, { logging, log, metrics, now, worker });
  const speeds = shareSpeeds(db, { worker, current: () => configuration.snapshots.current(), log });
  const configuration = await openConfiguration(db, {
    ...{ settings, live, secret, log, metrics, now, worker, audit },
    onServe: (served) => {
      inUse = served;
    },
    snapshots: {
      ...{ formats: wireFormats, auths: wire?.auths, framings: wire?.framings, now: context.providerNow },
      ...{ onStale: metrics.connectionStale, loopName, onSpeed: speeds.share },
      openHealth: (current) => openHealth(settings, { current, log, metrics, worker, now: context.providerNow }),
      openCalls,
      services: steadyServices({ ...context, now, metrics, people, money, limits, records, sessions, openCalls }),
    },
  });
  const { snapshots } = configuration;
  const alerts = openAlerts(db, { settings, live, reader, people, configuration, secret, log, now, worker });
  const changes = await followChanges(settings, { people, configuration, speeds, log, worker });
  const telemetry = await openTelemetry(settings, { snapshots, metrics, version, log });
  return {
    ...{ settings, live, log, now, version },
    ...{ metrics, telemetry, limits, people, audit, auditUpkeep, money, formats },
    ...{ snapshots, configuration, alerts, changes },
    ...{ openCalls, loads, loopName, drain, records, sessions, state, batches, storage, worker },
  };
}

type AppParts = Awaited<ReturnType<typeof openParts>>;

type SteadyParts = Pick<
  AppParts,
  "now" | "log" | "metrics" | "people" | "money" | "limits" | "records" | "sessions" | "openCalls"
> &
  Pick<PartsContext, "ledger" | "settings">;

/** Services that do not change with the configuration. */
function steadyServices(parts: SteadyParts): SnapshotsContext["services"] {
  const { settings, ledger, now, log, metrics, people, money, limits, records, sessions, openCalls } = parts;
  return {
    ledger: ledger ?? money.ledger,
    billingModeOf: people.billingModeOf,
    ...{ budgets: people.budgets, rates: limits.rates },
    idempotency: money.idempotency,
    usageProblem: createUsageWatch({ metrics, log, now }),
    sessions,
    cascadeWebhooks: createCascadeWebhooks({ ...webhookTerms(settings.cascade), log, now }),
    webTools: createWebTools(webTerms(settings.search), log),
    toolCallsSeen: records.toolCallsSeen.current,
    log,
    now,
    isCutting: openCalls.isCutting,
  };
}

/** Closes records and money first, because they still write through the other parts. */
async function closeParts(parts: AppParts) {
  const { configuration, changes, alerts, batches, records, sessions, state, money, people, limits } = parts;
  const { telemetry, metrics, storage } = parts;
  await changes.close();
  await alerts.close();
  await configuration.close();
  await parts.auditUpkeep.close();
  for (const part of [batches, records, sessions, state, money, people, limits]) await part.close();
  await telemetry.close();
  storage.close();
  metrics.close();
}

/** Names every part, so that a reader sees what the edge can reach. */
function edgeOf(parts: AppParts, { books, visitor = null, feedMsMax }: StartOptions): Edge {
  const { settings, log, now, version, metrics, telemetry, limits, people, money, openCalls, drain, records } = parts;
  const pressure = createPressure(settings.limits, openGauges(parts.worker));
  return {
    ...{ settings, live: parts.live, formats: parts.formats },
    services: parts.snapshots.current,
    sampler: createSampler({
      store: records.outcomes,
      services: parts.snapshots.current,
      isBusy: () => drain.isDraining() || pressure.reason() !== null,
      onResult: metrics.sampled,
    }),
    ...{ versions: parts.configuration.versions, priceChecks: parts.configuration.priceChecks, audit: parts.audit },
    ...(feedMsMax === undefined ? {} : { feedMsMax }),
    shownOptions: parts.configuration.shownOptions,
    state: parts.state.services,
    batches: parts.batches.services,
    alerts: parts.alerts,
    records: {
      recorder: books?.recorder ?? records.recorder,
      requests: records.requests,
      outcomes: records.outcomes,
      loggedSessions: records.loggedSessions,
      usage: records.usage,
      explore: records.explore,
      decisions: records.decisions,
      toolCalls: records.toolCalls,
      toolCallsSeen: records.toolCallsSeen,
      tail: records.tail,
    },
    accounts: people.accounts,
    keys: people.keys,
    ...{ budgets: people.budgets, spending: people.spending },
    ...{ profiles: people.profiles, teams: people.teams },
    users: people.users,
    visitor,
    logins: people.logins,
    passkeys: people.passkeys,
    signIns: people.signIns,
    ...{ tokens: people.tokens, scim: people.scim, scimTokens: people.scimTokens },
    invitations: people.invitations,
    resets: people.resets,
    wrongKeys: people.wrongKeys,
    wrongTokens: people.wrongTokens,
    limiter: limits.limiter,
    credits: money.credits,
    verifyLedger: money.verify,
    openCalls,
    loopName: parts.loopName,
    semaphores: openSemaphores(() => parts.live().limits, parts.worker),
    ...{ pressure, letsGo: parts.loads.letsGo, watchBodies: parts.loads.watchBodies },
    ...{ isDraining: drain.isDraining, isClosing: drain.isClosing, readiness: drain.readiness },
    ...{ traces: telemetry.traces, metrics },
    log,
    now,
    version,
  };
}

const NO_GREETING = { firstKey: null, setupToken: null };

/** Creates the first key after the port is open. A key is shown only once, and a failed start would lose it. */
async function greet(
  server: FastifyInstance,
  { keys, invitations }: Pick<OperatorContext, "keys" | "invitations">,
): Promise<{ readonly firstKey: string | null; readonly setupToken: string | null }> {
  try {
    const firstKey = await ensureFirstKey(keys);
    return { firstKey, setupToken: await invitations.prepareSetup() };
  } catch (error) {
    await server.close();
    throw error;
  }
}
