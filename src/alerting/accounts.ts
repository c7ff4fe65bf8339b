// Judges accounts: balances, spending and failures. Totals are kept by hour, so the last ten minutes are what was added
// between two looks.

import type { AccountFacts, HourFacts } from "../core/alerts/events.ts";
import type { Observation } from "../core/alerts/kinds.ts";
import { formatUsd, type NanoUsd, usdNumber } from "../core/money.ts";

/** From the section `alerts` of the settings. A rule with 0 is off. */
export interface AccountRules {
  readonly lowBalance: number;
  readonly balanceDays: number;
  readonly spikeFactor: number;
  readonly errorPercent: number;
  readonly fallbackPercent: number;
}

export interface AccountJudge {
  judge(facts: readonly AccountFacts[], nowMs: number): readonly Observation[];
}

const HOUR_MS = 3_600_000;
const WINDOW_MS = 10 * 60_000;
const REQUESTS_MIN = 20;
const SPIKE_USD_MIN = 1;
const WEEK_HOURS = 7 * 24;
const NO_HOUR: HourFacts = { requests: 0, failures: 0, fallbacks: 0, charge: 0n };

/** A look at the traffic of all accounts. */
interface Look {
  readonly atMs: number;
  readonly hours: ReadonlyMap<string, ReadonlyMap<number, HourFacts>>;
}

export function createAccountJudge(currentRules: () => AccountRules): AccountJudge {
  let looks: readonly Look[] = [];
  return {
    judge(facts, nowMs) {
      // A clock that was set back makes looks of the future.
      looks = looks.filter(({ atMs }) => atMs < nowMs && atMs >= nowMs - WINDOW_MS);
      const [before] = looks;
      const rules = currentRules();
      looks = [...looks, { atMs: nowMs, hours: new Map(facts.map(({ id, hours }) => [id, hours])) }];
      return facts.flatMap((account) => [
        ...judgeBalance(account, rules, nowMs),
        ...judgeSpike(account, rules, nowMs),
        ...(before === undefined ? [] : judgeRates(account, before, { rules, nowMs })),
      ]);
    },
  };
}

function judgeBalance(account: AccountFacts, rules: AccountRules, nowMs: number): readonly Observation[] {
  const { id: accountId, name, available, isPrepaid } = account;
  if (!isPrepaid || available === null) return [];
  const common = { accountId, subject: accountId };
  const shown = { account: name, balanceUsd: cents(available) };
  const found: Observation[] = [];
  if (usdNumber(available) < rules.lowBalance) {
    const data = { ...shown, thresholdUsd: rules.lowBalance.toFixed(2) };
    found.push({ ...common, kind: "balance.low", data });
  }
  const spent = spentLastDay(account, nowMs);
  const days = spent > 0n ? usdNumber(available) / usdNumber(spent) : Number.POSITIVE_INFINITY;
  if (days < rules.balanceDays) {
    const data = { ...shown, days: Math.max(0, days).toFixed(1), spentUsd: cents(spent) };
    found.push({ ...common, kind: "balance.ending", data });
  }
  return found;
}

/** Takes the part of the first hour that lies within 24 hours. */
function spentLastDay({ hours }: AccountFacts, nowMs: number): NanoUsd {
  const first = Math.floor(nowMs / HOUR_MS) * HOUR_MS - 24 * HOUR_MS;
  const part = 1 - (nowMs % HOUR_MS) / HOUR_MS;
  let spent = 0n;
  for (const [start, { charge }] of hours) {
    if (start > first) spent += charge;
    else if (start === first) spent += BigInt(Math.round(Number(charge) * part));
  }
  return spent;
}

function judgeSpike(account: AccountFacts, { spikeFactor }: AccountRules, nowMs: number): readonly Observation[] {
  const { id: accountId, name, hours, weekCharge } = account;
  const spent = hours.get(Math.floor(nowMs / HOUR_MS) * HOUR_MS)?.charge ?? 0n;
  const average = usdNumber(weekCharge) / WEEK_HOURS;
  const usd = usdNumber(spent);
  if (spikeFactor === 0 || average === 0 || usd < SPIKE_USD_MIN || usd < spikeFactor * average) return [];
  const data = {
    account: name,
    spentUsd: cents(spent),
    times: Math.floor(usd / average).toString(),
    averageUsd: average < 0.01 ? average.toPrecision(1) : average.toFixed(2),
  };
  return [{ kind: "spend.spike", accountId, subject: accountId, data }];
}

interface RateTerms {
  readonly rules: AccountRules;
  readonly nowMs: number;
}

function judgeRates(account: AccountFacts, before: Look, { rules, nowMs }: RateTerms): readonly Observation[] {
  const { id: accountId, name, hours } = account;
  const earlier = before.hours.get(accountId);
  const sum = { requests: 0, failures: 0, fallbacks: 0 };
  const firstHour = Math.floor(before.atMs / HOUR_MS) * HOUR_MS;
  for (const [start, now] of hours) {
    if (start < firstHour) continue;
    const then = earlier?.get(start) ?? NO_HOUR;
    sum.requests += now.requests - then.requests;
    sum.failures += now.failures - then.failures;
    sum.fallbacks += now.fallbacks - then.fallbacks;
  }
  if (sum.requests < REQUESTS_MIN) return [];
  const minutes = Math.max(1, Math.round((nowMs - before.atMs) / 60_000)).toString();
  const rates = [
    { kind: "errors.high", count: sum.failures, limit: rules.errorPercent },
    { kind: "fallbacks.high", count: sum.fallbacks, limit: rules.fallbackPercent },
  ] as const;
  return rates.flatMap(({ kind, count, limit }): readonly Observation[] => {
    const percent = (100 * count) / sum.requests;
    if (limit === 0 || percent < limit) return [];
    const data = { account: name, percent: Math.floor(percent).toString(), requests: sum.requests.toString(), minutes };
    return [{ kind, accountId, subject: accountId, data }];
  });
}

/** Never more than there is: $0.999 is shown as 0.99. */
function cents(amount: NanoUsd): string {
  const whole = /^(-?\d+)(?:\.(\d+))?$/.exec(formatUsd(amount));
  return `${whole?.[1] ?? "0"}.${(whole?.[2] ?? "").padEnd(2, "0").slice(0, 2)}`;
}
