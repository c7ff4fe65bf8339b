// Wiring of events: what is looked at, and where events are kept.

import { createAccountJudge } from "../../alerting/accounts.ts";
import { createWatch, type EventSource, type Watch } from "../../alerting/watch.ts";
import type { Settings } from "../../config/settings.ts";
import type { AlertEventStore } from "../../core/alerts/events.ts";
import type { Db } from "../../core/db.ts";
import type { Log } from "../../core/log.ts";
import { createAccountFactsStore } from "../../store/alerts/account-facts.ts";
import { createAlertEventStore } from "../../store/alerts/events.ts";
import type { OpenedConfiguration } from "../configuration.ts";
import type { People } from "../people.ts";
import { hasDuties, type WorkerSlot } from "../worker.ts";
import { priceSource } from "./prices.ts";
import { providerSource } from "./providers.ts";

interface AlertsContext {
  readonly settings: Pick<Settings, "alerts" | "prices">;
  readonly reader: Db;
  readonly people: Pick<People, "billingModeOf">;
  readonly configuration: OpenedConfiguration;
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
  const { settings, reader, people, configuration, log, now, worker } = context;
  const { current } = configuration.snapshots;
  const events = createAlertEventStore(db);
  const facts = createAccountFactsStore(reader, people.billingModeOf);
  const judge = createAccountJudge(settings.alerts);
  const accounts: EventSource = { look: async (nowMs) => judge.judge(await facts.read(nowMs), nowMs) };
  const watch = createWatch({
    store: events,
    ownSources: [providerSource(current)],
    sharedSources: [accounts, priceSource({ ...configuration, settings, current })],
    log,
    now,
  });
  if (hasDuties(worker)) watch.start();
  return { events, watch, close: watch.stop };
}
