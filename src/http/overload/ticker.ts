// A clock that runs while requests come, and sleeps when they do not: an idle process is woken for nothing.

import { OVERLOAD_POLICY } from "./policy.ts";

export interface Ticker {
  /** Says that a request came. The clock runs from now on. */
  wake(): void;
  stop(): void;
}

interface TickerOptions {
  readonly everyMs: number;
  /** Before the first tick after a sleep. */
  readonly onWake: () => void;
  readonly onTick: () => void;
  /** Whether the clock is needed although no request comes. */
  readonly isNeeded?: () => boolean;
}

export function createTicker({ everyMs, onWake, onTick, isNeeded = () => false }: TickerOptions): Ticker {
  const idleTicksMax = OVERLOAD_POLICY.admission.idleMs / everyMs;
  let timer: NodeJS.Timeout | null = null;
  let idleTicks = 0;
  const stop = (): void => {
    if (timer !== null) clearInterval(timer);
    timer = null;
  };
  const tick = (): void => {
    onTick();
    idleTicks += 1;
    if (idleTicks >= idleTicksMax && !isNeeded()) stop();
  };
  return {
    wake() {
      idleTicks = 0;
      if (timer !== null) return;
      onWake();
      timer = setInterval(tick, everyMs).unref();
    },
    stop,
  };
}
