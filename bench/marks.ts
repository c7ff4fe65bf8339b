// Moments that travel inside a stream. The monotonic clock is the same for all processes of a machine, so the reader of a
// mark can tell its age.

const MARK = /@(\d+)@/g;

export function nowUs(): number {
  return Number(process.hrtime.bigint() / 1000n);
}

export function writeMark(): string {
  return `@${nowUs()}@`;
}

/** When each chunk in these bytes was sent. */
export function readMarks(bytes: Buffer): readonly number[] {
  return Array.from(bytes.toString("latin1").matchAll(MARK), (match) => Number(match[1]));
}
