// What was seen of the models' tool calls, held in memory for routing: read from the store at the start and again every
// minute, so that no request waits for it and every process of one database comes to the same order.

import type { SeenToolCalls, ToolCallsSeen } from "../core/decision.ts";
import type { ToolScenario } from "../core/model.ts";
import type { Log } from "../core/ports.ts";
import type { ToolCallTally } from "../core/records.ts";
import type { ToolCallLog } from "../core/request-log.ts";

const EVERY_MS = 60_000;

export interface SeenToolCallsKeeper {
  current(): ToolCallsSeen;
  refresh(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export function createSeenToolCalls(store: ToolCallLog, log: Log): SeenToolCallsKeeper {
  let seen: ToolCallsSeen = new Map();
  let timer: NodeJS.Timeout | null = null;
  let running: Promise<void> = Promise.resolve();
  async function refresh(): Promise<void> {
    try {
      seen = byModel(await store.tallies());
    } catch (error) {
      log.warn({ err: error }, "the counts of tool calls could not be read; routing goes on with those it has");
    }
  }
  return {
    current: () => seen,
    refresh,
    async start() {
      await refresh();
      timer = setInterval(() => {
        running = refresh();
      }, EVERY_MS).unref();
    },
    async stop() {
      if (timer !== null) clearInterval(timer);
      await running;
    },
  };
}

function byModel(tallies: readonly ToolCallTally[]): ToolCallsSeen {
  const seen = new Map<string, Partial<Record<ToolScenario, SeenToolCalls>>>();
  for (const { model, scenario, calls, valid } of tallies) {
    seen.set(model, { ...seen.get(model), [scenario]: { calls, valid } });
  }
  return seen;
}
