// Reads Retry-After in all the forms in use: milliseconds, seconds, a date. Without one, the reset time of the
// exhausted rate limit counts.

type RetryHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** The two headers that describe one limit. */
export interface RateLimitHeaders {
  readonly remaining: string;
  readonly reset: string;
}

/** No provider is waited for longer than this, whatever it asks. */
const WAIT_MS_MAX = 300_000;

/** `further`: limits that only one format knows. */
export function readRetryAfterMs(
  headers: RetryHeaders,
  nowMs: number,
  further: readonly RateLimitHeaders[] = [],
): number | null {
  const milliseconds = number(headers["retry-after-ms"]) ?? number(headers["x-ms-retry-after-ms"]);
  if (milliseconds !== null) return clamp(milliseconds);
  const seconds = number(headers["retry-after"]);
  if (seconds !== null) return clamp(seconds * 1000);
  const date = Date.parse(single(headers["retry-after"]));
  if (!Number.isNaN(date)) return clamp(date - nowMs);
  const waits = [...LIMITS, ...further]
    .map((limit) => resetOfUsedUp(headers, limit, nowMs))
    .filter((ms) => ms !== null);
  return waits.length === 0 ? null : clamp(Math.max(...waits));
}

/** Beside the names of OpenAI and its likes, and Anthropic's, the plain ones that proxies send. */
const LIMITS: readonly RateLimitHeaders[] = [
  ...["requests", "tokens"].map((what) => ({
    remaining: `x-ratelimit-remaining-${what}`,
    reset: `x-ratelimit-reset-${what}`,
  })),
  ...["requests", "tokens", "input-tokens", "output-tokens"].map((what) => ({
    remaining: `anthropic-ratelimit-${what}-remaining`,
    reset: `anthropic-ratelimit-${what}-reset`,
  })),
  { remaining: "x-ratelimit-remaining", reset: "x-ratelimit-reset" },
];

/** A limit of which something is left is not why we were rejected. */
function resetOfUsedUp(headers: RetryHeaders, { remaining, reset }: RateLimitHeaders, nowMs: number): number | null {
  if (number(headers[remaining]) !== 0) return null;
  const text = single(headers[reset]);
  const value = number(headers[reset]);
  if (value !== null) return sinceEpochOrWaitMs(value, nowMs);
  const waitMs = durationMs(text);
  if (waitMs !== null) return waitMs;
  const date = Date.parse(text);
  return Number.isNaN(date) ? null : date - nowMs;
}

/** A bare number may be a wait in seconds, or a time in seconds or milliseconds since 1970. */
function sinceEpochOrWaitMs(value: number, nowMs: number): number {
  if (value > 1e11) return value - nowMs;
  return value > 1e8 ? value * 1000 - nowMs : value * 1000;
}

/** A duration in a provider's own words, such as `22s`; null when it is none. */
export function readDelayMs(text: string): number | null {
  const waitMs = durationMs(text);
  return waitMs === null ? null : clamp(waitMs);
}

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `6m0s`, `1.5s`, `20ms`. */
function durationMs(text: string): number | null {
  if (!/^(?:\d+(?:\.\d+)?(?:ms|[smhd]))+$/.test(text)) return null;
  let sum = 0;
  for (const [, amount, unit] of text.matchAll(/([\d.]+)(ms|[smhd])/g))
    sum += Number(amount) * (UNIT_MS[unit ?? ""] ?? 0);
  return sum;
}

function number(header: string | string[] | undefined): number | null {
  const text = single(header);
  const value = Number(text);
  return text === "" || !Number.isFinite(value) ? null : value;
}

function single(header: string | string[] | undefined): string {
  return ((Array.isArray(header) ? header[0] : header) ?? "").trim();
}

function clamp(ms: number): number {
  return Math.max(0, Math.min(WAIT_MS_MAX, ms));
}
