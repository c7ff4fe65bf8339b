// What the story needs of the services below it; built once by app.ts.

import type { Ledger } from "../billing/ledger.ts";
import type { Catalog } from "../catalog/catalog.ts";
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
  readonly idempotency: IdempotencyStore;
  readonly toolLoops: ToolLoops;
  /** What was seen of the models' tool calls, as of the last minute and as it counts for this account. */
  readonly toolCallsSeen: (accountId: string) => ToolCallsSeen;
  readonly log: Log;
  /** How long all attempts together may take until an answer begins. */
  readonly answerWithinMs: number;
  /** True once the drain time is over and connections are cut from our side. */
  readonly isCutting: () => boolean;
  readonly now: () => number;
}
