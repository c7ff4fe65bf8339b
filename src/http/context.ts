// Contexts of the HTTP edge: what app/ constructs and hands to the server. Each function takes the smallest one it needs.

import type { Accounts } from "../accounts/accounts.ts";
import type { Budgets } from "../accounts/budgets/budgets.ts";
import type { Scim } from "../accounts/identity/scim.ts";
import type { ScimTokens } from "../accounts/identity/scim-tokens.ts";
import type { SignIns } from "../accounts/identity/sign-ins.ts";
import type { IdentityTokens } from "../accounts/identity/tokens.ts";
import type { Invitations } from "../accounts/invitations.ts";
import type { Keys } from "../accounts/keys.ts";
import type { CallLimits } from "../accounts/limits/per-minute.ts";
import type { WrongKeys } from "../accounts/limits/wrong-keys.ts";
import type { Logins } from "../accounts/logins.ts";
import type { Passkeys } from "../accounts/passkeys.ts";
import type { Profiles } from "../accounts/profiles.ts";
import type { Resets } from "../accounts/resets.ts";
import type { Spending } from "../accounts/spending.ts";
import type { Teams } from "../accounts/teams.ts";
import type { Users } from "../accounts/users.ts";
import type { AlertTargets } from "../alerting/targets.ts";
import type { Credits } from "../billing/credits.ts";
import type { PriceCheckStore } from "../catalog/prices/check.ts";
import type { FixedSettings, LiveSettings, ShownOption } from "../config/settings.ts";
import type { AlertEventStore } from "../core/alerts/events.ts";
import type { AlertOutbox } from "../core/alerts/targets.ts";
import type { LedgerVerdict } from "../core/audit/ledger.ts";
import type { Log } from "../core/log.ts";
import type { ClientSemaphores } from "../core/processes/semaphores.ts";
import type { ExploreLog } from "../core/requests/explore.ts";
import type { DecisionLog, RequestLog, ToolCallLog, UsageLog } from "../core/requests/log.ts";
import type { LoggedSessions } from "../core/requests/logged-sessions.ts";
import type { OutcomeStore } from "../core/requests/outcomes.ts";
import type { BatchServices } from "../gateway/batches/services.ts";
import type { OpenCalls } from "../gateway/open-calls.ts";
import type { Services } from "../gateway/services.ts";
import type { Sampler } from "../gateway/shadow/sampler.ts";
import type { StateServices } from "../gateway/state/services.ts";
import type { AuditLog } from "../store/audit/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { Recorder } from "../telemetry/recorder.ts";
import type { Tail } from "../telemetry/tail.ts";
import type { Traces } from "../telemetry/traces.ts";
import type { Versions } from "../versions/versions.ts";
import type { RequestFormats } from "./exchange/request-format.ts";
import type { Pressure } from "./overload/pressure.ts";

/** The whole edge, for the server that puts the parts together. */
export interface Edge extends PublicContext, OperatorContext, LifecycleContext {
  readonly pressure: Pressure;
  /** Returns true for a response that should be the last one on its connection. */
  readonly letsGo: () => boolean;
  /** Is told how to read the used part of the memory for bodies, from 0 to 1. */
  readonly watchBodies: (usedPart: () => number) => void;
}

/** For making calls, by /v1 and by the playground. */
export interface CallContext {
  readonly settings: FixedSettings;
  /** Settings that versions can change, as they are now. */
  readonly live: () => LiveSettings;
  /** The wire formats clients speak, and where. */
  readonly formats: RequestFormats;
  /** With the newest snapshot. A request asks once and keeps the answer to its end. */
  readonly services: () => Services;
  readonly state: StateServices;
  readonly batches: BatchServices;
  readonly openCalls: OpenCalls;
  /** The name under which this gateway recognises requests that come back to it. */
  readonly loopName: string;
  /** Second answers, for comparison. */
  readonly sampler: Sampler;
  readonly limiter: CallLimits;
  readonly records: Records;
  readonly budgets: Budgets;
  readonly metrics: Metrics;
  /** The traces; null when none are exported. */
  readonly traces: Traces | null;
  readonly log: Log;
  readonly now: () => number;
}

/** For /v1: calls made with an API key. */
export interface PublicContext extends CallContext {
  readonly keys: Keys;
  /** IdentityTokens of identity providers, which programs may bring instead of a key. */
  readonly tokens: IdentityTokens;
  /** Wrong API keys by the address they come from. */
  readonly wrongKeys: WrongKeys;
  readonly semaphores: ClientSemaphores;
}

/** For /api and the dashboard. */
export interface OperatorContext extends CallContext {
  readonly accounts: Accounts;
  readonly keys: Keys;
  readonly spending: Spending;
  readonly profiles: Profiles;
  readonly teams: Teams;
  readonly users: Users;
  /** The e-mail of the user that everybody is signed in as; null unless this is a demo. */
  readonly visitor: string | null;
  readonly logins: Logins;
  readonly passkeys: Passkeys;
  /** Sign-in with identity providers. */
  readonly signIns: SignIns;
  readonly tokens: IdentityTokens;
  /** People and groups for identity providers, and the tokens of those. */
  readonly scim: Scim;
  readonly scimTokens: ScimTokens;
  readonly invitations: Invitations;
  readonly resets: Resets;
  /** Wrong admin tokens by the address they come from. */
  readonly wrongTokens: WrongKeys;
  readonly credits: Credits;
  readonly verifyLedger: () => Promise<LedgerVerdict>;
  readonly version: string;
  /** The run-time configuration. */
  readonly versions: Versions;
  /** Tells who changed what. */
  readonly audit: AuditLog;
  readonly priceChecks: PriceCheckStore;
  /** Events, where they are sent, and the messages. */
  readonly alerts: {
    readonly events: AlertEventStore;
    readonly targets: AlertTargets;
    readonly outbox: Pick<AlertOutbox, "list">;
  };
  /** Bounds the reading of a price feed; left out, 30 s. */
  readonly feedMsMax?: number;
  /** Every option as it is now, for people. */
  readonly shownOptions: () => readonly ShownOption[];
}

/** For health checks and shutdown. */
export interface LifecycleContext {
  /** No longer ready, and about to close. */
  readonly isDraining: () => boolean;
  /** True while new requests are refused. */
  readonly isClosing: () => boolean;
  /** Checks of what the process needs to serve traffic, each with the reason it is missing. */
  readonly readiness: () => Promise<readonly ReadyCheck[]>;
}

export interface ReadyCheck {
  readonly name: string;
  /** The problem; null when all is well. Never an error's own message, which may name hosts and users. */
  readonly problem: string | null;
  /** True when the process is ready without it. */
  readonly isOptional?: boolean;
}

/** Records of requests: how they are written, and how they are read. */
export interface Records {
  readonly recorder: Recorder;
  readonly requests: RequestLog;
  readonly outcomes: OutcomeStore;
  readonly loggedSessions: LoggedSessions;
  readonly usage: UsageLog;
  readonly explore: ExploreLog;
  readonly decisions: DecisionLog;
  readonly toolCalls: ToolCallLog;
  /** The tallies routing uses. A page that shows them refreshes them first. */
  readonly toolCallsSeen: { refresh(): Promise<void> };
  readonly tail: Tail;
}
