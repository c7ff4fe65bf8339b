// What the edge is given by app.ts.

import type { Accounts } from "../accounts/accounts.ts";
import type { Keys } from "../accounts/keys.ts";
import type { Limiter } from "../accounts/limits.ts";
import type { Profiles } from "../accounts/profiles.ts";
import type { Credits } from "../billing/credits.ts";
import type { Settings } from "../config/settings.ts";
import type { LedgerVerdict } from "../core/audit.ts";
import type { Log } from "../core/ports.ts";
import type { Services } from "../gateway/services.ts";
import type { Metrics } from "../telemetry/metrics.ts";

export interface Edge {
  readonly settings: Settings;
  readonly services: Services;
  readonly accounts: Accounts;
  readonly keys: Keys;
  readonly profiles: Profiles;
  readonly limiter: Limiter;
  readonly credits: Credits;
  readonly verifyLedger: () => Promise<LedgerVerdict>;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly now: () => number;
  readonly isDraining: () => boolean;
  /** Why the process cannot take traffic now; null when it can. */
  readonly notReadyBecause: () => Promise<string | null>;
}
