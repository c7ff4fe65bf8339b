// W3C trace context: reads a caller's `traceparent`, writes our own, and makes random ids. `tracestate` and `baggage` are neither
// read nor sent.

import { randomBytes } from "node:crypto";

/** Place of a request in a trace: its own span, and the caller's span above it. */
export interface TraceContext {
  readonly traceId: string;
  readonly spanId: string;
  /** The caller's span; null where the trace begins here. */
  readonly parentSpanId: string | null;
  /** True if the request's spans are exported. */
  readonly isSampled: boolean;
}

/** The caller's span, from its `traceparent` header. */
export interface CallerContext {
  readonly traceId: string;
  readonly spanId: string;
  readonly isSampled: boolean;
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
/** Longer headers are not worth parsing. */
const LENGTH_MAX = 256;
const NO_TRACE = "0".repeat(32);
const NO_SPAN = "0".repeat(16);
const SAMPLED = 1;

/** Returns null for an invalid header. A new trace begins then, as the standard asks. */
export function readTraceparent(header: unknown): CallerContext | null {
  if (typeof header !== "string" || header.length > LENGTH_MAX) return null;
  const [, version, traceId = NO_TRACE, spanId = NO_SPAN, flags = "", rest] = TRACEPARENT.exec(header) ?? [];
  if (version === undefined || version === "ff" || traceId === NO_TRACE || spanId === NO_SPAN) return null;
  // Later versions may say more after the flags; this one may not.
  if (version === "00" && rest !== undefined) return null;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED };
}

/** For providers that take part in our traces. */
export function writeTraceparent({ traceId, isSampled }: TraceContext, spanId: string): string {
  return `00-${traceId}-${spanId}-${isSampled ? "01" : "00"}`;
}

export function newTraceId(): string {
  return nonZero(16);
}

export function newSpanId(): string {
  return nonZero(8);
}

/** An id of zeros means "none". */
function nonZero(bytes: number): string {
  const id = randomHex(bytes);
  return /[1-9a-f]/.test(id) ? id : nonZero(bytes);
}

/** Bytes are drawn for many ids at once: one system call per id costs more than the rest of it. */
const POOL_BYTES = 4096;
let pool = Buffer.alloc(0);
let position = 0;

/** Twice as many characters as bytes. */
export function randomHex(bytes: number): string {
  if (position + bytes > pool.length) {
    pool = randomBytes(POOL_BYTES);
    position = 0;
  }
  position += bytes;
  return pool.toString("hex", position - bytes, position);
}
