// Asks each worker every second for a sign of life. A worker whose event loop or process is stuck keeps its connections
// and serves nobody, so it must be replaced.

import type { OpenLink } from "./link.ts";

export interface Heartbeat {
  /** Asks the worker until the link closes. Calls `onHung` once if no answer came for too long. */
  watch(link: Pick<OpenLink, "call" | "closed">, onHung: () => void): void;
  /** Number of workers whose answer is overdue. */
  silent(): number;
}

interface WatchedLink {
  readonly link: Pick<OpenLink, "call">;
  readonly onHung: () => void;
  /** True while the worker owes an answer. */
  isAsked: boolean;
  silentMs: number;
}

/** A call that no service handles: a link answers every call, and any answer proves life. */
const SIGN_OF_LIFE = "sign-of-life";
const BEAT_MS = 1_000;
/** Far above the two seconds in which a worker answers on a machine with 20 times its load. */
const HUNG_MS = 30_000;
/** Longer than a busy machine takes, so that no warning is false. */
const SILENT_MS = 5_000;

export function createHeartbeat(hungMs = HUNG_MS): Heartbeat {
  const watched = new Set<WatchedLink>();
  let lastMs = performance.now();
  const beat = (): void => {
    const nowMs = performance.now();
    // A busy machine delays the worker as much as this process, so its own lag is subtracted.
    const lagMs = Math.max(0, nowMs - lastMs - BEAT_MS);
    lastMs = nowMs;
    for (const worker of watched) {
      if (!worker.isAsked) ask(worker);
      else worker.silentMs += Math.max(0, BEAT_MS - lagMs);
      if (worker.silentMs < hungMs) continue;
      watched.delete(worker);
      worker.onHung();
    }
  };
  setInterval(beat, BEAT_MS).unref();
  return {
    watch(link, onHung) {
      const worker = { link, onHung, isAsked: false, silentMs: 0 };
      watched.add(worker);
      void link.closed.then(() => watched.delete(worker));
    },
    silent: () => [...watched].filter(({ silentMs }) => silentMs >= SILENT_MS).length,
  };
}

function ask(worker: WatchedLink): void {
  worker.isAsked = true;
  const noteAnswer = (): void => {
    worker.isAsked = false;
    worker.silentMs = 0;
  };
  // A closing link rejects, and its worker is no longer watched.
  worker.link.call(SIGN_OF_LIFE, null, Number.POSITIVE_INFINITY).then(noteAnswer, () => undefined);
}
