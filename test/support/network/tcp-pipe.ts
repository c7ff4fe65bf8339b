// One direction of a proxied connection: reads from one socket, writes to the other, and does to the bytes in between
// what it is told, in order and with back-pressure.

import type { Socket } from "node:net";

/** What is done to the bytes of one direction. */
export interface Harm {
  /** Each piece waits so long before it goes on. */
  readonly delayMs?: number;
  /** Pieces are cut into so many bytes, each written by itself. */
  readonly sliceBytes?: number;
  /** No more than this; slices follow from it when none are given. */
  readonly bytesPerSecond?: number;
  /** After so many bytes of a connection it is closed on both sides, as an orderly end. */
  readonly closeAfterBytes?: number;
  /** The same with RST. */
  readonly resetAfterBytes?: number;
  /** After so many bytes nothing comes any more, and the connection stays open. */
  readonly swallowAfterBytes?: number;
}

export interface Pipe {
  setHarm(harm: Harm): void;
  setPaused(isPaused: boolean): void;
  /** Drops what waits. */
  stop(): void;
  /** The sender is gone for good: what waits is still delivered, then the receiver's connection is closed. */
  finish(): void;
}

/** Held in memory before the sender is made to wait. */
const BUFFERED_BYTES_MAX = 256 * 1024;
/** How many slices a second a throttled pipe writes. */
const SLICES_PER_SECOND = 50;

export function createPipe(from: Socket, to: Socket, onPiece: (piece: Buffer) => void): Pipe {
  const queue: Buffer[] = [];
  let queuedBytes = 0;
  let passedBytes = 0;
  let harm: Harm = {};
  let isPaused = false;
  let isEnded = false;
  let isStopped = false;
  let isSpent = false;
  let isPumping = false;
  let wake: (() => void) | null = null;

  from.on("data", (bytes: Buffer) => {
    queue.push(bytes);
    queuedBytes += bytes.length;
    if (queuedBytes > BUFFERED_BYTES_MAX) from.pause();
    void pump();
  });
  from.on("end", () => {
    isEnded = true;
    void pump();
  });

  /** Waits in `pump` end at once when the pipe is stopped. */
  const wait = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  const take = (): Buffer => {
    const [first] = queue as [Buffer];
    const size = sliceSize(harm, first.length, passedBytes);
    if (size >= first.length) queue.shift();
    else queue[0] = first.subarray(size);
    queuedBytes -= Math.min(size, first.length);
    if (queuedBytes <= BUFFERED_BYTES_MAX / 2 && !isPaused) from.resume();
    return first.subarray(0, size);
  };

  /** Ends the connection where the harm says so; true when no byte may follow. */
  const checkSpent = (): boolean => {
    if (!isSpent && isAtLimit(harm, passedBytes)) {
      isSpent = true;
      queue.length = 0;
      queuedBytes = 0;
      endBoth(harm, from, to);
    }
    return isSpent;
  };

  async function pump(): Promise<void> {
    if (isPumping) return;
    isPumping = true;
    while (queue.length > 0 && !isPaused && !isStopped && !checkSpent()) {
      if (harm.delayMs !== undefined) await wait(harm.delayMs);
      if (isPaused || isStopped || checkSpent()) break;
      const piece = take();
      passedBytes += piece.length;
      onPiece(piece);
      if (!to.write(piece)) await drained(to);
      if (harm.bytesPerSecond !== undefined) await wait((piece.length / harm.bytesPerSecond) * 1000);
      else if (harm.sliceBytes !== undefined) await wait(0);
      checkSpent();
    }
    isPumping = false;
    if (!isEnded || queue.length > 0 || isStopped || isSpent) return;
    if (from.destroyed) to.destroySoon();
    else to.end();
  }

  return {
    setHarm(next) {
      harm = next;
    },
    setPaused(next) {
      isPaused = next;
      if (next) from.pause();
      else {
        from.resume();
        void pump();
      }
    },
    stop() {
      isStopped = true;
      wake?.();
    },
    finish() {
      isEnded = true;
      void pump();
    },
  };
}

function sliceSize(harm: Harm, available: number, passedBytes: number): number {
  const limits = [harm.closeAfterBytes, harm.resetAfterBytes, harm.swallowAfterBytes].filter(
    (one) => one !== undefined,
  );
  const throttled = harm.bytesPerSecond === undefined ? available : Math.ceil(harm.bytesPerSecond / SLICES_PER_SECOND);
  const slice = harm.sliceBytes ?? throttled;
  return Math.max(1, Math.min(available, slice, ...limits.map((limit) => limit - passedBytes)));
}

function isAtLimit(harm: Harm, passedBytes: number): boolean {
  const { closeAfterBytes, resetAfterBytes, swallowAfterBytes } = harm;
  return [closeAfterBytes, resetAfterBytes, swallowAfterBytes].some(
    (limit) => limit !== undefined && passedBytes >= limit,
  );
}

function endBoth(harm: Harm, from: Socket, to: Socket): void {
  if (harm.resetAfterBytes !== undefined) {
    // What was written must be on the wire before RST throws it away.
    setTimeout(() => {
      to.resetAndDestroy();
      from.destroy();
    }, 5);
  } else if (harm.closeAfterBytes !== undefined) {
    to.destroySoon();
    from.destroy();
  }
}

function drained(socket: Socket): Promise<void> {
  if (socket.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const go = (): void => {
      socket.off("drain", go);
      socket.off("close", go);
      resolve();
    };
    socket.once("drain", go);
    socket.once("close", go);
  });
}
