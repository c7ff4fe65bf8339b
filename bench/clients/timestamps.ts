// Timestamps inside a stream. All processes of a machine share one monotonic clock, so a reader can tell how long a chunk
// travelled.

const TIMESTAMP = /@(\d+)@/g;

/** Microseconds of the monotonic clock. */
export function nowUs(): number {
  return Number(process.hrtime.bigint() / 1000n);
}

/** Between signs that no JSON escapes. */
export function writeTimestamp(): string {
  return `@${nowUs()}@`;
}

/** Reads when each chunk in these bytes was sent. */
export function readTimestamps(bytes: Buffer): readonly number[] {
  return Array.from(bytes.toString("latin1").matchAll(TIMESTAMP), (match) => Number(match[1]));
}
