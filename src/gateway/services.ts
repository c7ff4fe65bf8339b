// The services that a call needs. `app/app.ts` builds them once.

import type { Ledger } from "../billing/ledger.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { BillingMode } from "../core/accounts.ts";
import type { UsageProblem } from "../core/chat.ts";
import type { ToolCallsSeen } from "../core/decision.ts";
import type { IdempotencyStore } from "../core/idempotency.ts";
import type { Log } from "../core/log.ts";
import type { Health } from "../providers/health.ts";
import type { Registry } from "../providers/registry.ts";
import type { ToolLoops } from "./tool-loops.ts";

export interface Services {
  readonly catalog: Catalog;
  readonly registry: Registry;
  readonly health: Health;
  readonly ledger: Ledger;
  readonly billingModeOf: (accountId: string) => BillingMode;
  readonly idempotency: IdempotencyStore;
  readonly toolLoops: ToolLoops;
  /** How often each model's tool calls were valid, as observed up to a minute ago; one account's calls may count more. */
  readonly toolCallsSeen: (accountId: string) => ToolCallsSeen;
  /** Told of token counts that a provider left out or that cannot be right. */
  readonly usageProblem: (problem: UsageProblem) => void;
  readonly log: Log;
  /** How long all attempts together may take until a response begins. */
  readonly answerWithinMs: number;
  /** True once the drain time is over and we cut the remaining connections. */
  readonly isCutting: () => boolean;
  readonly now: () => number;
}
