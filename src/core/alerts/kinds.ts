// The kinds of events that somebody may want to know of: one row for each. Sender, feed, dashboard and
// docs/operate/events.md read this table. Names are stable; receivers match on them.

export const SEVERITIES = ["info", "warning", "critical"] as const;
type Severity = (typeof SEVERITIES)[number];

interface AlertKindRow {
  readonly title: string;
  readonly severity: Severity;
  /** `account`: its owner sees the event. `installation`: only operators do. */
  readonly scope: "account" | "installation";
  /** Cause of the event, for people who choose kinds. */
  readonly when: string;
  /** Text of the event, with the fields of `data` in braces. */
  readonly sentence: string;
  /** An event ends when it was not seen for this long. The next one is a new event. */
  readonly endsAfterMs: number;
}

const MINUTE_MS = 60_000;
/** Sources that are looked at every quarter of an hour. */
const SLOW_MS = 40 * MINUTE_MS;
/** Breakers close for a moment when they try again. */
const PROVIDER_MS = 5 * MINUTE_MS;
const RATE_MS = 15 * MINUTE_MS;
/** Budgets that roll fall below their share and reach it again. */
const ROLLING_MS = 60 * MINUTE_MS;

export const ALERT_KINDS = {
  "balance.low": {
    title: "Balance low",
    severity: "warning",
    scope: "account",
    when: "A prepaid account has less than `alerts.lowBalance`.",
    sentence: "The balance of {account} is {balanceUsd} USD, below {thresholdUsd} USD.",
    endsAfterMs: 0,
  },
  "balance.ending": {
    title: "Balance about to end",
    severity: "warning",
    scope: "account",
    when: "At the pace of the last 24 hours, a prepaid balance ends within `alerts.balanceDays`.",
    sentence:
      "The balance of {account} ends in about {days} days: {balanceUsd} USD are left, and the last 24 hours cost {spentUsd} USD.",
    endsAfterMs: RATE_MS,
  },
  "spend.spike": {
    title: "Spend spike",
    severity: "warning",
    scope: "account",
    when: "An hour costs `alerts.spikeFactor` times the hourly average of the last 7 days, and more than 1 USD.",
    sentence: "{account} spent {spentUsd} USD this hour, {times} times its average of {averageUsd} USD.",
    endsAfterMs: 60 * MINUTE_MS,
  },
  "budget.warning": {
    title: "Budget nearly spent",
    severity: "warning",
    scope: "account",
    when: "80% of a budget are spent. Once in its period.",
    sentence:
      "{percent}% of the budget {budget} of {account} are spent: {spentUsd} of {amountUsd} USD. It renews on {renewsAt}.",
    endsAfterMs: ROLLING_MS,
  },
  "budget.spent": {
    title: "Budget spent",
    severity: "warning",
    scope: "account",
    when: "A budget is spent, or less than 1% is left of one that refuses requests. Once in its period.",
    sentence:
      "The budget {budget} of {account} is spent, and {effect}: {spentUsd} of {amountUsd} USD. It renews on {renewsAt}.",
    endsAfterMs: ROLLING_MS,
  },
  "errors.high": {
    title: "Error rate high",
    severity: "critical",
    scope: "account",
    when: "In ten minutes with 20 requests or more, `alerts.errorPercent` of them fail on the side of the gateway or its providers.",
    sentence: "{percent}% of {requests} requests of {account} failed in the last {minutes} minutes.",
    endsAfterMs: RATE_MS,
  },
  "fallbacks.high": {
    title: "Fallback rate high",
    severity: "warning",
    scope: "account",
    when: "In ten minutes with 20 requests or more, `alerts.fallbackPercent` of them are answered by a fallback.",
    sentence: "{percent}% of {requests} requests of {account} needed a fallback in the last {minutes} minutes.",
    endsAfterMs: RATE_MS,
  },
  "provider.down": {
    title: "Provider down",
    severity: "critical",
    scope: "installation",
    when: "The circuit breaker of a provider is open.",
    sentence: "Provider {provider} is down: {error}",
    endsAfterMs: PROVIDER_MS,
  },
  "provider.key_refused": {
    title: "Provider key refused",
    severity: "critical",
    scope: "installation",
    when: "A provider refuses one of its keys, or the key's account has no credit left.",
    sentence: "Provider {provider} refuses its key {key}: {error}",
    endsAfterMs: PROVIDER_MS,
  },
  "provider.sign_in": {
    title: "Sign-in failing",
    severity: "critical",
    scope: "installation",
    when: "Credentials of a cloud cannot be had or renewed. Requests go on until the old ones end.",
    sentence: "Provider {provider} cannot sign in: {error}. {standing}",
    endsAfterMs: PROVIDER_MS,
  },
  "provider.key_ending": {
    title: "Provider key ending",
    severity: "warning",
    scope: "installation",
    when: "A key, or credentials that nobody renews, ends within 7 days or has ended. The end is written with the key, or the key tells it.",
    sentence: "Provider {provider}: {key} {ends} at {endsAt}. Replace it before its requests fail.",
    endsAfterMs: PROVIDER_MS,
  },
  "prices.waiting": {
    title: "Price change waiting",
    severity: "info",
    scope: "installation",
    when: "A price feed has other prices, and they wait for you.",
    sentence: "{count} price changes wait on the Providers page: {models}.",
    endsAfterMs: SLOW_MS,
  },
  "feed.invalid": {
    title: "Price feed invalid",
    severity: "warning",
    scope: "installation",
    when: "A price feed cannot be read, is not valid, or has a certificate that is not trusted.",
    sentence: "Price feed {feed} cannot be used: {reason}",
    endsAfterMs: SLOW_MS,
  },
  "worker.replaced": {
    title: "Worker replaced",
    severity: "warning",
    scope: "installation",
    when: "A worker process died or hung, and another one serves in its place. At most once an hour.",
    sentence: "Worker process {worker} on {host} ended and was replaced.",
    endsAfterMs: 60 * MINUTE_MS,
  },
} as const satisfies Readonly<Record<string, AlertKindRow>>;

export type AlertKind = keyof typeof ALERT_KINDS;
export const ALERT_KIND_NAMES = Object.keys(ALERT_KINDS) as readonly AlertKind[];

type PlaceholdersOf<Text extends string> = Text extends `${string}{${infer Field}}${infer Rest}`
  ? Field | PlaceholdersOf<Rest>
  : never;

/** The fields that the sentence of a kind names. */
type AlertData<Kind extends AlertKind> = Readonly<
  Record<PlaceholdersOf<(typeof ALERT_KINDS)[Kind]["sentence"]>, string>
>;

/** Something that is so at the moment. */
export type Observation = {
  readonly [Kind in AlertKind]: {
    readonly kind: Kind;
    /** The account; null for the installation. */
    readonly accountId: string | null;
    /** Tells events of one kind apart, such as the id of a provider. */
    readonly subject: string;
    readonly data: AlertData<Kind>;
  };
}[AlertKind];

/** The sentence of an observation. */
export function sentenceOf({ kind, data }: Observation): string {
  const fields: Readonly<Record<string, string>> = data;
  return ALERT_KINDS[kind].sentence.replace(/\{(\w+)\}/g, (_, field: string) => fields[field] ?? "");
}
