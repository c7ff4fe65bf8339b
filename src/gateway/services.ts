// The services that a call needs. What comes from the configuration is a snapshot: `app/snapshots.ts` builds a new one for
// every change, and a call keeps the one it began with.

import type { Budgets } from "../accounts/budgets/budgets.ts";
import type { ScopeRates } from "../accounts/limits/scope-rates.ts";
import type { Ledger } from "../billing/ledger.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { Settings } from "../config/settings.ts";
import type { BillingMode } from "../core/accounts.ts";
import type { UsageProblem } from "../core/chat.ts";
import type { ToolCallsSeen } from "../core/decision.ts";
import type { Log } from "../core/log.ts";
import type { CascadeWebhooks } from "../core/requests/cascade.ts";
import type { IdempotencyStore } from "../core/requests/idempotency.ts";
import type { WebTools } from "../core/search/web-search.ts";
import type { Health } from "../providers/health.ts";
import type { Registry } from "../providers/registry.ts";
import type { Speeds } from "../providers/speeds.ts";
import type { RoutingSessions } from "./sessions/sessions.ts";

/**
 * The part of the services that a configuration decides. A snapshot never changes, except for what is observed of its
 * hosts.
 */
export interface Snapshot {
  readonly catalog: Catalog;
  readonly registry: Registry;
  readonly routing: Settings["routing"];
  readonly logging: Settings["logging"];
  /** Headers that name the end user of a request. */
  readonly endUserHeaders: readonly string[];
  /** Observed speeds of the hosts that were called. */
  readonly speeds: Speeds;
}

export interface Services extends Snapshot {
  /** The health of the whole process: knowledge of a provider survives a change that does not touch the provider. */
  readonly health: Health;
  readonly ledger: Ledger;
  readonly billingModeOf: (accountId: string) => BillingMode;
  readonly budgets: Pick<Budgets, "of">;
  readonly rates: ScopeRates;
  readonly idempotency: IdempotencyStore;
  readonly sessions: RoutingSessions;
  readonly cascadeWebhooks: CascadeWebhooks;
  /** Searches and pages for models whose hosts have none. */
  readonly webTools: WebTools;
  /** Shares of valid tool calls by model, as observed up to a minute ago; one account's calls may count more. */
  readonly toolCallsSeen: (accountId: string) => ToolCallsSeen;
  /** Told of token counts that a provider left out or that cannot be right. */
  readonly usageProblem: (problem: UsageProblem) => void;
  readonly log: Log;
  /** True once the drain time is over and we cut the remaining connections. */
  readonly isCutting: () => boolean;
  readonly now: () => number;
}
