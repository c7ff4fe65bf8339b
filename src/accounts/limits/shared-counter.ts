// The way to the shared windows: what is asked for while an answer is awaited goes out together, and a store that does not
// answer soon is left alone for a while instead of making every request wait for it.

import type { CallWindows, Taken, Wish } from "../../core/call-window.ts";
import type { Log } from "../../core/log.ts";

export interface SharedCounter {
  /** Whether asking makes sense now. */
  isAnswering(): boolean;
  /** Null when the store does not answer. The rest of the wish is made at the moment it is sent. */
  take(id: string, wish: () => Omit<Wish, "id">): Promise<Taken | null>;
  stop(): void;
}

export interface SharedCounterOptions {
  readonly windows: CallWindows;
  readonly timeoutMs: number;
  /** Told when the store stops answering, and when it answers again. */
  readonly onShared?: (isShared: boolean) => void;
  readonly log: Log;
}

const REST_MS_MIN = 500;
const REST_MS_MAX = 5_000;
const PROBE: Wish = { id: "probe", limit: 0, spanSeconds: 1, count: 0, unused: null };

interface Waiting {
  readonly id: string;
  readonly wish: () => Omit<Wish, "id">;
  readonly resolve: (taken: Taken | null) => void;
}

export function createSharedCounter(options: SharedCounterOptions): SharedCounter {
  const { windows, timeoutMs, onShared = () => undefined, log } = options;
  let waiting: Waiting[] = [];
  let isSending = false;
  let restMs: number | null = null;
  let timer: NodeJS.Timeout | null = null;
  let isStopped = false;

  /** Null when it failed; the reason is told once until it works again. */
  async function attempt(wishes: readonly Wish[]): Promise<readonly Taken[] | null> {
    try {
      const taken = await within(timeoutMs, windows.take(wishes));
      if (restMs !== null)
        log.info({ event: "rate_limits.sharing_recovered" }, "rate limits are shared between processes again");
      restMs = null;
      onShared(true);
      return taken;
    } catch (error) {
      if (restMs === null)
        log.warn(
          { event: "rate_limits.sharing_lost", err: error },
          "rate limits cannot be shared; this process enforces its part",
        );
      onShared(false);
      restMs = restMs === null ? REST_MS_MIN : Math.min(restMs * 2, REST_MS_MAX);
      if (!isStopped) timer = setTimeout(() => void attempt([PROBE]), restMs).unref();
      return null;
    }
  }

  async function send(): Promise<void> {
    isSending = true;
    // Lets everything that arrives in this turn of the event loop join.
    await new Promise((resolve) => setImmediate(resolve));
    while (waiting.length > 0) {
      const batch = [...new Map(waiting.map((each) => [each.id, each])).values()];
      waiting = waiting.filter((each) => !batch.includes(each));
      const taken = restMs === null ? await attempt(batch.map(({ id, wish }) => ({ id, ...wish() }))) : null;
      batch.forEach(({ resolve }, index) => {
        resolve(taken?.[index] ?? null);
      });
    }
    isSending = false;
  }

  return {
    isAnswering: () => restMs === null,
    take: (id, wish) =>
      new Promise((resolve) => {
        waiting.push({ id, wish, resolve });
        if (!isSending) void send();
      }),
    stop() {
      isStopped = true;
      if (timer !== null) clearTimeout(timer);
    },
  };
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const giveUp = (): void => reject(new Error(`no answer within ${ms} ms`));
    // When it was this process that was busy, the answer is there and has only not been read yet.
    timer = setTimeout(() => setImmediate(() => setImmediate(giveUp)), ms);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
