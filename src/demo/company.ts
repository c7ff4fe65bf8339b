// The company of the demo: teams, people and budgets, and the events that its incidents raised. Budgets are made to fit what
// was spent, so that their bars tell something whatever the seed.

import { DEFAULT_ACCOUNT } from "../accounts/accounts.ts";
import { type Period, periodAt } from "../accounts/budgets/periods.ts";
import type { Team } from "../core/accounts.ts";
import type { Observation } from "../core/alerts/kinds.ts";
import { type Budget, PERIOD_MAX_MS } from "../core/budgets/budget.ts";
import { type BudgetTerm, counterId } from "../core/budgets/counter.ts";
import type { Db } from "../core/db.ts";
import type { NanoUsd } from "../core/money.ts";
import { NO_PASSWORD, type User, type UserRole } from "../core/people.ts";
import type { RequestRecord } from "../core/requests/records.ts";
import { createBudgetStore } from "../store/accounts/budgets.ts";
import { createTeamStore } from "../store/accounts/teams.ts";
import { INSERT_USER, userParams } from "../store/accounts/users.ts";
import { createAlertEventStore } from "../store/alerts/events.ts";

export const SUPPORT_ACCOUNT = "account_demo_support";
export const SHOP_ID = "team_demo_shop";
export const JOBS_ID = "team_demo_jobs";
export const HELPDESK_ID = "team_demo_helpdesk";
/** Runs the batch jobs with a key of their own. */
export const GRACE_ID = "user_demo_grace";

const DAY_MS = 24 * 60 * 60 * 1000;
const MINUTE_MS = 60_000;
const NO_BOUNDS = { allowedModels: null, tierCeiling: null, requires: null, profileId: null };

const TEAMS: readonly Omit<Team, "createdAtMs">[] = [
  { ...NO_BOUNDS, id: SHOP_ID, accountId: DEFAULT_ACCOUNT, name: "Shop", parentId: null },
  {
    ...NO_BOUNDS,
    id: JOBS_ID,
    accountId: DEFAULT_ACCOUNT,
    name: "Batch jobs",
    parentId: SHOP_ID,
    tierCeiling: "LIGHT",
  },
  { ...NO_BOUNDS, id: HELPDESK_ID, accountId: SUPPORT_ACCOUNT, name: "Helpdesk", parentId: null },
];

const PEOPLE: readonly (readonly [id: string, email: string, role: UserRole, teamId: string | null])[] = [
  ["user_demo_ada", "ada@example.com", "admin", SHOP_ID],
  [GRACE_ID, "grace@example.com", "member", JOBS_ID],
  ["user_demo_barbara", "barbara@example.com", "billing", null],
  ["user_demo_katherine", "katherine@example.com", "admin", HELPDESK_ID],
];

interface Founding {
  readonly createdAtMs: number;
  readonly nowMs: number;
}

/** Writes those that are missing. People sign in with an identity provider, so nobody can with a password. */
export async function writeCompany(db: Db, { createdAtMs, nowMs }: Founding): Promise<void> {
  const teams = createTeamStore(db);
  const known = new Set((await teams.all()).map(({ id }) => id));
  for (const team of TEAMS.filter(({ id }) => !known.has(id))) await teams.insert({ ...team, createdAtMs });
  const seen = await db.query("SELECT id FROM users WHERE id = $1", [GRACE_ID]);
  if (seen.length > 0) return;
  for (const [index, [id, email, role, teamId]] of PEOPLE.entries()) {
    const user: User = {
      ...{ id, email, role, accountId: teamId === HELPDESK_ID ? SUPPORT_ACCOUNT : DEFAULT_ACCOUNT },
      ...{ teamIds: teamId === null ? [] : [teamId], passwordHash: `${NO_PASSWORD}demo`, deactivatedAtMs: null },
      ...{ createdAtMs: createdAtMs + index * DAY_MS, lastSignInAtMs: nowMs - (index + 1) * 90 * MINUTE_MS },
    };
    await db.query(INSERT_USER, userParams(user));
  }
}

/** The budgets that count a record while it is charged. */
export type CountsOn = (record: RequestRecord) => readonly BudgetTerm[];

/** Writes the budgets of an account, where it has none. */
export async function writeBudgets(
  db: Db,
  { accountId, records, nowMs }: { accountId: string; records: readonly RequestRecord[]; nowMs: number },
): Promise<CountsOn> {
  const store = createBudgetStore(db);
  const known = (await store.all()).filter((budget) => budget.accountId === accountId);
  if (known.length > 0) return () => [];
  const month = records.filter(({ atMs }) => atMs >= nowMs - 30 * DAY_MS);
  const budgets = accountId === DEFAULT_ACCOUNT ? productBudgets(month) : [everything(month)];
  const createdAtMs = nowMs - 32 * DAY_MS;
  const written = budgets.map((budget, index) => ({
    ...{ id: `budget_demo_${accountId}_${index}`, accountId, timeZone: "UTC" },
    ...{ requestsPerMinute: null, tokensPerMinute: null, isByOperator: false, createdAtMs, updatedAtMs: createdAtMs },
    ...budget,
  }));
  for (const budget of written) await store.insert(budget);
  const periods = new Map<string, Period>();
  return (record) =>
    record.atMs < nowMs - PERIOD_MAX_MS ? [] : written.flatMap((budget) => termOf(budget, record, periods));
}

type PlannedBudget = Pick<Budget, "name" | "scope" | "value" | "amount" | "period" | "isRolling" | "isHard">;

function productBudgets(month: readonly RequestRecord[]): readonly PlannedBudget[] {
  const jobs = month.filter(({ teamId }) => teamId === JOBS_ID);
  return [
    everything(month),
    {
      ...{ name: "Batch jobs", scope: "team", value: JOBS_ID, period: "month", isRolling: true, isHard: false },
      amount: cents((chargeOf(jobs) * 100n) / 87n),
    },
    {
      ...{ name: "Each customer", scope: "endUser", value: null, period: "week", isRolling: false, isHard: true },
      amount: cents(chargeOf(month) / 8n),
    },
  ];
}

function everything(month: readonly RequestRecord[]): PlannedBudget {
  const amount = cents((chargeOf(month) * 14n) / 10n);
  return { name: "Everything", scope: "account", value: null, amount, period: "month", isRolling: false, isHard: true };
}

function chargeOf(records: readonly RequestRecord[]): NanoUsd {
  return records.reduce((sum, { cost }) => sum + (cost?.charge ?? 0n), 0n);
}

/** Rounds up to a whole cent; a budget has at least one. */
function cents(amount: NanoUsd): NanoUsd {
  const cent = 10_000_000n;
  return (amount / cent + 1n) * cent;
}

/** Never refuses what was charged long ago. */
function termOf(budget: Budget, record: RequestRecord, periods: Map<string, Period>): readonly BudgetTerm[] {
  const value = countedValue(budget, record);
  if (value === null) return [];
  const known = periods.get(budget.id);
  const isCurrent = known !== undefined && record.atMs >= known.partMs && record.atMs < known.untilMs;
  const period = isCurrent ? known : periodAt(budget, record.atMs);
  periods.set(budget.id, period);
  const { fromMs, partMs } = period;
  return [{ counter: counterId(budget.id, value), limit: budget.amount, isHard: false, fromMs, partMs, most: null }];
}

function countedValue({ scope, value }: Budget, { teamId, user }: RequestRecord): string | null {
  if (scope === "account") return "";
  if (scope === "team") return teamId === value ? value : null;
  return user;
}

interface Past {
  readonly nowMs: number;
  readonly days: number;
  readonly accountName: string;
  /** The provider that failed yesterday. */
  readonly failing: string;
}

/** Writes the events of the two incidents, where there are none. Both are over. */
export async function writeEvents(db: Db, { nowMs, days, accountName, failing }: Past): Promise<void> {
  const store = createAlertEventStore(db);
  if ((await store.list({ accountId: null, kind: null }, { limit: 1, after: null })).length > 0) return;
  const [outageMs, emptyMs] = [nowMs - DAY_MS, nowMs - days * DAY_MS * 0.6];
  const account = { accountId: DEFAULT_ACCOUNT, subject: "" };
  const named = { account: accountName };
  const events: readonly (readonly [fromMs: number, forMs: number, Observation])[] = [
    [
      emptyMs,
      DAY_MS / 12,
      { kind: "balance.low", ...account, data: { ...named, balanceUsd: "0.00", thresholdUsd: "1.00" } },
    ],
    [
      outageMs + 2 * MINUTE_MS,
      DAY_MS / 6,
      {
        ...{ kind: "provider.down", accountId: null, subject: failing },
        data: { provider: failing, error: "5 attempts in a row failed, the last with status 503" },
      },
    ],
    [
      outageMs + 9 * MINUTE_MS,
      DAY_MS / 6,
      { kind: "fallbacks.high", ...account, data: { ...named, percent: "61", requests: "23", minutes: "10" } },
    ],
  ];
  for (const [fromMs, forMs, event] of events) {
    const atMs = Math.round(fromMs);
    await store.raise([event], atMs);
    await store.end(event.kind, atMs + 1, atMs + forMs);
  }
}

/** The provider whose attempts failed most during yesterday's incident. */
export function failingOf(records: readonly RequestRecord[], nowMs: number): string {
  const counts = new Map<string, number>();
  for (const { attempts } of records.filter(({ atMs }) => atMs >= nowMs - DAY_MS)) {
    for (const { provider, outcome } of attempts) {
      if (outcome === "failed") counts.set(provider, (counts.get(provider) ?? 0) + 1);
    }
  }
  return [...counts].reduce((most, each) => (each[1] > most[1] ? each : most), ["openai", 0] as const)[0];
}
