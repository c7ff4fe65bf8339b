// The memory of long bodies, freed as soon as nobody needs it. Left alone it counts until the next collection, and V8
// collects all the more often for it. Who still has a part of freed memory finds it empty, never somebody else's bytes.

/** Less costs more to free than to leave. */
const FREED_FROM_BYTES = 16 * 1024;

/** A port that is closed takes memory and drops it. */
const nowhere = new MessageChannel().port1;
nowhere.close();

/** Counts writes that may still read a buffer's memory: the system reads by address, even after the memory is freed. */
const writesOf = new WeakMap<ArrayBufferLike, number>();

/** Is not freed until the write has ended. One whose end is unknown never ends, and leaves the memory to V8. */
export function writeBegins({ buffer }: Buffer): void {
  countWrite(buffer, 1);
}

export function writeEnded({ buffer }: Buffer): void {
  countWrite(buffer, -1);
}

function countWrite(buffer: ArrayBufferLike, change: 1 | -1): void {
  if (buffer.byteLength >= FREED_FROM_BYTES) writesOf.set(buffer, (writesOf.get(buffer) ?? 0) + change);
}

/** For bytes that nobody reads any more. Memory with other bytes in it, too, stays. */
export function freeMemory({ buffer, length }: Buffer): void {
  if (length < FREED_FROM_BYTES || buffer.byteLength !== length || (writesOf.get(buffer) ?? 0) > 0) return;
  nowhere.postMessage(null, [buffer as ArrayBuffer]);
}
