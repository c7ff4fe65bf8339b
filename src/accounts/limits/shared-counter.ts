// The client of the shared rate windows. Requests made while a response is awaited go out together. A store that does not
// respond soon is left alone for a while, so that not every request has to wait for it.

import type { Log } from "../../core/log.ts";
import type { CallWindows, RateRequest, Taken } from "../../core/processes/call-window.ts";

export interface SharedCounter {
  /** False during the cooldown after a failure. */
  isResponding(): boolean;
  /**
   * Takes permits; null when the store does not respond. `request` is called at the moment of sending, so that it is up to
   * date.
   */
  take(id: string, request: () => Omit<RateRequest, "id">): Promise<Taken | null>;
  stop(): void;
}

export interface SharedCounterOptions {
  readonly windows: CallWindows;
  readonly timeoutMs: number;
  /** Called when the store stops responding, and when it responds again. */
  readonly onShared?: (isShared: boolean) => void;
  readonly log: Log;
}

/** The cooldown doubles with each failed probe. */
const COOLDOWN_MIN_MS = 500;
const COOLDOWN_MAX_MS = 5_000;
/** Takes nothing: it only shows whether the store responds. */
const PROBE: RateRequest = { id: "probe", limit: 0, spanSeconds: 1, count: 0, unused: null };

interface PendingRequest {
  readonly id: string;
  readonly request: () => Omit<RateRequest, "id">;
  readonly resolve: (taken: Taken | null) => void;
}

export function createSharedCounter(options: SharedCounterOptions): SharedCounter {
  const { windows, timeoutMs, onShared = () => undefined, log } = options;
  let pending: PendingRequest[] = [];
  let isSending = false;
  /** The pause before the store is asked again; null while the store responds. */
  let cooldownMs: number | null = null;
  let timer: NodeJS.Timeout | null = null;
  let isStopped = false;

  /** Asks the store; null when that failed. The failure is logged once, until the store responds again. */
  async function takeInTime(requests: readonly RateRequest[]): Promise<readonly Taken[] | null> {
    try {
      const taken = await within(timeoutMs, windows.take(requests));
      if (cooldownMs !== null)
        log.info({ event: "rate_limits.sharing_recovered" }, "rate limits are shared between processes again");
      cooldownMs = null;
      onShared(true);
      return taken;
    } catch (error) {
      if (cooldownMs === null)
        log.warn(
          { event: "rate_limits.sharing_lost", err: error },
          "rate limits cannot be shared; this process enforces its part",
        );
      onShared(false);
      cooldownMs = cooldownMs === null ? COOLDOWN_MIN_MS : Math.min(cooldownMs * 2, COOLDOWN_MAX_MS);
      if (!isStopped) timer = setTimeout(() => void takeInTime([PROBE]), cooldownMs).unref();
      return null;
    }
  }

  async function send(): Promise<void> {
    isSending = true;
    // Everything that arrives in this turn of the event loop joins the batch.
    await new Promise((resolve) => setImmediate(resolve));
    while (pending.length > 0) {
      // One request for each id: the window of one name is not taken from twice in a message.
      const batch = [...new Map(pending.map((each) => [each.id, each])).values()];
      pending = pending.filter((each) => !batch.includes(each));
      const taken = cooldownMs === null ? await takeInTime(batch.map(toRequest)) : null;
      batch.forEach(({ resolve }, index) => {
        resolve(taken?.[index] ?? null);
      });
    }
    isSending = false;
  }

  return {
    isResponding: () => cooldownMs === null,
    take: (id, request) =>
      new Promise((resolve) => {
        pending.push({ id, request, resolve });
        if (!isSending) void send();
      }),
    stop() {
      isStopped = true;
      if (timer !== null) clearTimeout(timer);
    },
  };
}

function toRequest({ id, request }: PendingRequest): RateRequest {
  return { id, ...request() };
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const giveUp = (): void => reject(new Error(`no response within ${ms} ms`));
    // A busy process may have the response already and only not have read it yet.
    timer = setTimeout(() => setImmediate(() => setImmediate(giveUp)), ms);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
