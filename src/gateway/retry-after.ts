// How long a provider asks us to wait, in all the forms in use: milliseconds, seconds, or a date.

import type { ReplyHeaders } from "../providers/transport.ts";

const WAIT_MS_MAX = 300_000;

export function readRetryAfterMs(headers: ReplyHeaders, nowMs: number): number | null {
  const milliseconds = number(headers["retry-after-ms"]) ?? number(headers["x-ms-retry-after-ms"]);
  if (milliseconds !== null) return clamp(milliseconds);
  const seconds = number(headers["retry-after"]);
  if (seconds !== null) return clamp(seconds * 1000);
  const date = Date.parse(single(headers["retry-after"]));
  return Number.isNaN(date) ? null : clamp(date - nowMs);
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
