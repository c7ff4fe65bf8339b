// Asks each worker every second for a sign of life. A worker that does not answer, because its event loop or the whole
// process is stuck, keeps its connections and serves nobody, so it has to be replaced.

import type { OpenLink } from "./link.ts";

export interface Heartbeat {
  /** Asks the worker until its link closes. `onHung` is called once, when it has not answered for too long. */
  watch(link: Pick<OpenLink, "call" | "closed">, onHung: () => void): void;
  /** Number of workers that owe an answer for a while. */
  silent(): number;
}

interface WatchedLink {
  readonly link: Pick<OpenLink, "call">;
  readonly onHung: () => void;
  /** True while it owes an answer. */
  isAsked: boolean;
  silentMs: number;
}

/** Nobody serves this call: a link answers every call, which is all that is asked. */
const SIGN_OF_LIFE = "sign-of-life";
const BEAT_MS = 1_000;
/** A worker computes for milliseconds at once, and a machine at 20 times its load answers within two seconds. */
const HUNG_MS = 30_000;
/** Longer than a busy machine takes, so that nobody is warned of nothing. */
const SILENT_MS = 5_000;

export function createHeartbeat(hungMs = HUNG_MS): Heartbeat {
  const watched = new Set<WatchedLink>();
  let lastMs = performance.now();
  const beat = (): void => {
    const nowMs = performance.now();
    // A worker on the same machine is held up as we are, so our own lag is subtracted. After a suspension nothing counts.
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
  // A link that closes rejects, and its worker is watched no more.
  worker.link.call(SIGN_OF_LIFE, null, Number.POSITIVE_INFINITY).then(noteAnswer, () => undefined);
}
