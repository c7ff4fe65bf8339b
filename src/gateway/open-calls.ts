// Calls that are not settled yet. A stopping process waits for them, and cancels those still running at the deadline.

import type { Cancellation } from "../core/cancellation.ts";
import { GatewayError } from "../core/errors.ts";
import { UnderWay } from "../core/requests/under-way.ts";
import * as TEXT from "./text.ts";

export interface OpenCalls {
  /** The cancellation is aborted when time is over. The returned function says that the call is settled and done. */
  begin(call: Cancellation): () => void;
  /** Time is over: what still runs ends with an error and costs nothing. */
  cut(): void;
  readonly isCutting: () => boolean;
  readonly count: () => number;
  /** Resolves when none is open. */
  idle(): Promise<void>;
  /** Resolves when those are over that are open now. */
  openNowOver(): Promise<void>;
}

export function createOpenCalls(): OpenCalls {
  const open = new UnderWay<Cancellation>();
  let isCutting = false;
  let onIdle: (() => void)[] = [];
  /** Sets of calls that somebody waits for. */
  const awaited = new Map<Set<Cancellation>, () => void>();
  const leave = (call: Cancellation): void => {
    for (const [calls, tell] of awaited) {
      calls.delete(call);
      if (calls.size > 0) continue;
      awaited.delete(calls);
      tell();
    }
  };
  return {
    begin(call) {
      const place = open.add(call);
      if (isCutting) call.abort();
      return () => {
        open.remove(place);
        if (awaited.size > 0) leave(call);
        if (open.size > 0) return;
        for (const tell of onIdle) tell();
        onIdle = [];
      };
    },
    cut() {
      isCutting = true;
      for (const call of open.items()) call.abort();
    },
    isCutting: () => isCutting,
    count: () => open.size,
    idle: () =>
      open.size === 0
        ? Promise.resolve()
        : new Promise((resolve) => {
            onIdle.push(resolve);
          }),
    openNowOver: () =>
      open.size === 0 ? Promise.resolve() : new Promise((resolve) => void awaited.set(new Set(open.items()), resolve)),
  };
}

/** Sent to clients whose request meets a stopping process, before it is taken or in the middle of it. */
export function shuttingDown(): GatewayError {
  return new GatewayError("unavailable", TEXT.shuttingDown, {
    code: "shutting_down",
    retryAfterSeconds: 1,
  });
}
