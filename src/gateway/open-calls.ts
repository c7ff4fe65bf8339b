// The calls that are being answered, until they are booked: who stops the process waits for them, and tells those whose
// time is over.

import type { Cancellation } from "../core/cancellation.ts";

export interface OpenCalls {
  /** The controller is aborted when time is over; the function returned says that the call is booked and done. */
  begin(call: Cancellation): () => void;
  /** Time is over: what still runs ends with an error, and costs nothing. */
  cut(): void;
  readonly isCutting: () => boolean;
  /** Resolves when none is open. */
  idle(): Promise<void>;
}

export function createOpenCalls(): OpenCalls {
  const open = new Set<Cancellation>();
  let isCutting = false;
  let onIdle: (() => void)[] = [];
  return {
    begin(call) {
      open.add(call);
      if (isCutting) call.abort();
      return () => {
        open.delete(call);
        if (open.size > 0) return;
        for (const tell of onIdle) tell();
        onIdle = [];
      };
    },
    cut() {
      isCutting = true;
      for (const call of open) call.abort();
    },
    isCutting: () => isCutting,
    idle: () =>
      open.size === 0
        ? Promise.resolve()
        : new Promise((resolve) => {
            onIdle.push(resolve);
          }),
  };
}
