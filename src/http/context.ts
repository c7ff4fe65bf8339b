// What the edge is given by app.ts.

import type { Accounts } from "../accounts/accounts.ts";
import type { Invitations } from "../accounts/invitations.ts";
import type { Keys } from "../accounts/keys.ts";
import type { CallLimits } from "../accounts/limits/per-minute.ts";
import type { WrongKeys } from "../accounts/limits/wrong-keys.ts";
import type { Profiles } from "../accounts/profiles.ts";
import type { Resets } from "../accounts/resets.ts";
import type { Sessions } from "../accounts/sessions.ts";
import type { Spending } from "../accounts/spending.ts";
import type { Users } from "../accounts/users.ts";
import type { Credits } from "../billing/credits.ts";
import type { Settings } from "../config/settings.ts";
import type { LedgerVerdict } from "../core/audit.ts";
import type { Log } from "../core/log.ts";
import type { DecisionLog } from "../core/requests/decision-log.ts";
import type { RequestLog, ToolCallLog, UsageLog } from "../core/requests/log.ts";
import type { OpenCalls } from "../gateway/open-calls.ts";
import type { Services } from "../gateway/services.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { Recorder } from "../telemetry/recorder.ts";
import type { Tail } from "../telemetry/tail.ts";
import type { Traces } from "../telemetry/traces.ts";
import type { Pressure } from "./overload/pressure.ts";

export interface Edge {
  readonly settings: Settings;
  readonly services: Services;
  readonly accounts: Accounts;
  readonly keys: Keys;
  readonly spending: Spending;
  readonly profiles: Profiles;
  readonly users: Users;
  readonly sessions: Sessions;
  readonly invitations: Invitations;
  readonly resets: Resets;
  readonly limiter: CallLimits;
  /** Wrong API keys, and wrong admin tokens, by the address they come from. */
  readonly wrongKeys: WrongKeys;
  readonly wrongTokens: WrongKeys;
  readonly credits: Credits;
  readonly verifyLedger: () => Promise<LedgerVerdict>;
  readonly metrics: Metrics;
  readonly pressure: Pressure;
  /** Null when no traces are exported. */
  readonly traces: Traces | null;
  readonly records: Records;
  /** Whether every answer is simulated. */
  readonly isSandbox: boolean;
  readonly version: string;
  readonly log: Log;
  readonly now: () => number;
  readonly openCalls: OpenCalls;
  /** No longer ready, and about to close. */
  readonly isDraining: () => boolean;
  /** Whether new requests are refused. */
  readonly isClosing: () => boolean;
  /** What it takes to take traffic now, each with the reason it is missing. */
  readonly readiness: () => Promise<readonly ReadyCheck[]>;
}

export interface ReadyCheck {
  readonly name: string;
  /** Null when it is well. Never an error's own words, which may name hosts and users. */
  readonly problem: string | null;
  /** Whether the process is not ready without it; left out, it is not. */
  readonly isOptional?: boolean;
}

/** What is kept of requests: how it gets in, and how it is read. */
export interface Records {
  readonly recorder: Recorder;
  readonly requests: RequestLog;
  readonly usage: UsageLog;
  readonly decisions: DecisionLog;
  readonly toolCalls: ToolCallLog;
  /** What routing goes by; read anew when somebody looks at it. */
  readonly toolCallsSeen: { refresh(): Promise<void> };
  readonly tail: Tail;
}
