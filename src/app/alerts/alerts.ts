// Wiring of events: what is looked at, and where events are kept.

import { createAccountJudge } from "../../alerts/accounts.ts";
import { createWatch, type Source, type Watch } from "../../alerts/watch.ts";
import type { PriceCheckStore } from "../../catalog/prices/check.ts";
import type { Settings } from "../../config/settings.ts";
import type { BillingMode } from "../../core/accounts.ts";
import type { AlertEventStore } from "../../core/alerts/events.ts";
import type { Db } from "../../core/db.ts";
import type { Log } from "../../core/log.ts";
import type { Services } from "../../gateway/services.ts";
import { createAccountFactsStore } from "../../store/alerts/account-facts.ts";
import { createAlertEventStore } from "../../store/alerts/events.ts";
import type { Versions } from "../../versions/versions.ts";
import { hasDuties, type WorkerSlot } from "../worker.ts";
import { priceSource } from "./prices.ts";
import { providerSource } from "./providers.ts";

interface AlertsContext {
  readonly settings: Pick<Settings, "alerts" | "prices">;
  readonly reader: Db;
  readonly billingModeOf: (accountId: string) => BillingMode;
  readonly current: () => Pick<Services, "catalog" | "health">;
  readonly versions: Versions;
  readonly priceChecks: PriceCheckStore;
  readonly log: Log;
  readonly now: () => number;
  readonly worker: WorkerSlot | null;
}

export interface Alerts {
  readonly events: AlertEventStore;
  readonly watch: Watch;
  close(): Promise<void>;
}

/** Starts the watch in the worker that has the duties. */
export function openAlerts(db: Db, context: AlertsContext): Alerts {
  const { settings, reader, billingModeOf, log, now, worker } = context;
  const events = createAlertEventStore(db);
  const facts = createAccountFactsStore(reader, billingModeOf);
  const judge = createAccountJudge(settings.alerts);
  const accounts: Source = { look: async (nowMs) => judge.judge(await facts.read(nowMs), nowMs) };
  const watch = createWatch({
    store: events,
    ownSources: [providerSource(context.current)],
    sharedSources: [accounts, priceSource(context)],
    log,
    now,
  });
  if (hasDuties(worker)) watch.start();
  return { events, watch, close: watch.stop };
}
