// Wiring of the run-time configuration: its versions, and the snapshots that requests are served with.

import type { PriceCheckStore } from "../catalog/prices/check.ts";
import type { Retirement } from "../catalog/retirement.ts";
import type { LiveSettings, Settings, ShownOption } from "../config/settings.ts";
import type { Db } from "../core/db.ts";
import type { Log } from "../core/log.ts";
import type { AuditLog } from "../store/audit/log.ts";
import { auditedDb } from "../store/audit/scope.ts";
import { createSealer } from "../store/secret/seal.ts";
import { createPriceCheckStore } from "../store/versions/price-checks.ts";
import { createVersionStore } from "../store/versions/versions.ts";
import { loggedError } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { createVersionLog, type VersionEvent } from "../versions/events.ts";
import { createVersions, type Versions } from "../versions/versions.ts";
import { startPriceCheck } from "./price-check.ts";
import type { InstallationSecret } from "./secret.ts";
import { createSnapshots, type Snapshots, type SnapshotsContext } from "./snapshots.ts";
import { hasDuties, WORKER_SERVICES, type WorkerSlot } from "./worker.ts";

interface ConfigurationContext {
  readonly settings: Settings;
  readonly secret: InstallationSecret;
  readonly log: Log;
  readonly metrics: Pick<Metrics, "watchPriceAge">;
  readonly now: () => number;
  readonly snapshots: SnapshotsContext;
  /** Called with each configuration to serve with from now on. */
  readonly onServe: (live: LiveSettings) => void;
  readonly live: () => LiveSettings;
  readonly worker: WorkerSlot | null;
  readonly audit: AuditLog;
}

export interface OpenedConfiguration {
  readonly snapshots: Snapshots;
  readonly versions: Versions;
  readonly priceChecks: PriceCheckStore;
  /** Current value of every option, for people. */
  shownOptions(): readonly ShownOption[];
  close(): Promise<void>;
}

function retirementLogger(log: Log): (retirement: Retirement) => void {
  return ({ model, day, state }) => {
    if (state === "retired") log.warn({ event: "model.retired", model, day }, "model retired and left its chains");
    else log.warn({ event: "model.retires_soon", model, day }, "model retires soon");
  };
}

/** Opens the configuration with its newest usable version. */
export async function openConfiguration(db: Db, context: ConfigurationContext): Promise<OpenedConfiguration> {
  const { settings, secret, log, now } = context;
  const onRetirement = hasDuties(context.worker) ? retirementLogger(log) : undefined;
  const snapshots = createSnapshots(settings, { ...context.snapshots, onRetirement });
  let { options } = settings;
  const versions = createVersions({
    store: createVersionStore(auditedDb(db)),
    configuration: settings.configuration,
    sealer: secret.isLasting ? createSealer(secret.bytes, "provider keys") : null,
    onServe(checked) {
      options = checked.options;
      context.onServe(checked);
      snapshots.publish(checked);
    },
    onEvent: logVersionEvents(context),
    log,
    now,
  });
  await versions.start();
  // Warnings about models do not wait for the first request.
  snapshots.current();
  const priceChecks = createPriceCheckStore(db);
  const watched = {
    prices: () => context.live().prices,
    ...{ versions, audit: context.audit, checks: priceChecks, current: snapshots.current, log, now },
  };
  const priceCheck = hasDuties(context.worker) ? startPriceCheck(watched) : null;
  if (priceCheck !== null) context.metrics.watchPriceAge(priceCheck.ageSeconds, priceCheck.feedAges);
  return {
    snapshots,
    versions,
    priceChecks,
    shownOptions: () => options,
    async close() {
      priceCheck?.close();
      versions.stop();
      await snapshots.close();
    },
  };
}

/** Returns a listener that logs events. A worker sends them to the primary process, which logs for all workers. */
export function logVersionEvents({
  log,
  worker,
}: Pick<ConfigurationContext, "log" | "worker">): (event: VersionEvent) => void {
  if (worker === null) return createVersionLog(log).write;
  return (event) => {
    const sent = event.kind === "reloadFailed" ? { ...event, error: loggedError(event.error) } : event;
    void worker.link.call(WORKER_SERVICES.versionEvents, sent).catch(() => undefined);
  };
}
