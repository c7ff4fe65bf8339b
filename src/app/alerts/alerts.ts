// Wiring of events: what is looked at, where events are kept, and how they are sent.

import { createAccountJudge } from "../../alerting/accounts.ts";
import { createChannels } from "../../alerting/channels.ts";
import { createSender } from "../../alerting/sender.ts";
import { type AlertTargets, createAlertTargets } from "../../alerting/targets.ts";
import { createWatch, type EventSource } from "../../alerting/watch.ts";
import { mailServerOf } from "../../config/options/alerts.ts";
import type { LiveSettings, Settings } from "../../config/settings.ts";
import type { AlertEventStore } from "../../core/alerts/events.ts";
import type { AlertOutbox } from "../../core/alerts/targets.ts";
import type { Db } from "../../core/db.ts";
import type { Log } from "../../core/log.ts";
import { guardedLookup } from "../../providers/lookup.ts";
import { createAccountFactsStore } from "../../store/alerts/account-facts.ts";
import { createAlertEventStore } from "../../store/alerts/events.ts";
import { createAlertOutbox } from "../../store/alerts/outbox.ts";
import { createAlertTargetStore } from "../../store/alerts/targets.ts";
import { createSealer } from "../../store/secret/seal.ts";
import type { OpenedConfiguration } from "../configuration.ts";
import type { People } from "../people.ts";
import type { InstallationSecret } from "../secret.ts";
import { hasDuties, type WorkerSlot } from "../worker.ts";
import { budgetSource } from "./budgets.ts";
import { priceSource } from "./prices.ts";
import { providerSource } from "./providers.ts";

interface AlertsContext {
  /** The mail server and who may be called stay as they were at the start. */
  readonly settings: Pick<Settings, "alerts">;
  readonly live: () => Pick<LiveSettings, "alerts" | "prices">;
  readonly reader: Db;
  readonly people: Pick<People, "billingModeOf" | "budgets" | "accountStore">;
  readonly configuration: OpenedConfiguration;
  readonly secret: InstallationSecret;
  readonly log: Log;
  readonly now: () => number;
  readonly worker: WorkerSlot | null;
}

export interface Alerts {
  readonly events: AlertEventStore;
  readonly targets: AlertTargets;
  readonly outbox: AlertOutbox;
  close(): Promise<void>;
}

/** Time that a receiver may take. */
const CALL_MS = 10_000;

/** Starts watch and sender in the worker that has the duties. */
export function openAlerts(db: Db, context: AlertsContext): Alerts {
  const { settings, live, reader, people, configuration, secret, log, now, worker } = context;
  const { current } = configuration.snapshots;
  const events = createAlertEventStore(db);
  const facts = createAccountFactsStore(reader, people.billingModeOf);
  const judge = createAccountJudge(() => live().alerts);
  const accounts: EventSource = { look: async (nowMs) => judge.judge(await facts.read(nowMs), nowMs) };
  const watch = createWatch({
    store: events,
    ownSources: [providerSource(current)],
    sharedSources: [
      accounts,
      budgetSource({ budgets: people.budgets, accounts: people.accountStore }),
      priceSource({ ...configuration, prices: () => live().prices, current }),
    ],
    log,
    now,
  });
  const { alertsPrivate: allowsPrivate } = settings.alerts;
  const mailServer = mailServerOf(settings.alerts);
  const outbox = createAlertOutbox(db);
  const targets = createAlertTargets({
    store: createAlertTargetStore(db),
    sealer: secret.isLasting ? createSealer(secret.bytes, "alert targets") : null,
    channels: createChannels({
      ...{ lookup: guardedLookup(allowsPrivate), allowsPrivate, timeoutMs: CALL_MS, now },
      // The operator wrote the address of the mail server, so that it may be one of their own network.
      ...{ mailServer, mailLookup: guardedLookup(true) },
    }),
    hasMail: mailServer !== null,
    allowsPrivate,
    now,
  });
  const sender = createSender({ outbox, send: targets.send, log, now });
  if (hasDuties(worker)) {
    watch.start();
    sender.start();
  }
  return {
    events,
    targets,
    outbox,
    async close() {
      await watch.stop();
      await sender.stop();
    },
  };
}
