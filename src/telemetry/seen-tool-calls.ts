// What was seen of the models' tool calls, held in memory for routing: read from the store at the start and again every
// minute, so that no request waits for it and every process of one database comes to the same order. An account is judged
// by its own calls once they are enough to tell, and until then by all accounts together, where one has nothing to say alone.

import { type SeenToolCalls, TELLING_CALLS, type ToolCallsSeen } from "../core/decision.ts";
import type { Log } from "../core/log.ts";
import type { ToolScenario } from "../core/model.ts";
import type { ToolCallLog } from "../core/requests/log.ts";

const EVERY_MS = 60_000;
/** Of one account, among all. */
const CALLS_PER_ACCOUNT = 10;

export interface SeenToolCallsKeeper {
  current(accountId: string): ToolCallsSeen;
  refresh(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export function createSeenToolCalls(store: Omit<ToolCallLog, "ofAccount">, log: Log): SeenToolCallsKeeper {
  let everyone: Seen = new Map();
  let byAccount: ReadonlyMap<string, Seen> = new Map();
  let timer: NodeJS.Timeout | null = null;
  let running: Promise<void> = Promise.resolve();
  let waiting: Promise<void> | null = null;
  async function read(): Promise<void> {
    try {
      const [shared, own] = await Promise.all([store.shared(CALLS_PER_ACCOUNT), store.withAtLeast(TELLING_CALLS)]);
      everyone = withCounts(new Map(), shared);
      byAccount = new Map([...groupByAccount(own)].map(([account, counts]) => [account, withCounts(everyone, counts)]));
    } catch (error) {
      log.warn(
        { event: "tool_calls.read_failed", err: error },
        "tool-call counts could not be read; keeping the last ones",
      );
    }
  }
  /** However many ask at once: one reading goes on, one more waits, and shows what was written before they asked. */
  function refresh(): Promise<void> {
    waiting ??= running.then(() => {
      waiting = null;
      running = read();
      return running;
    });
    return waiting;
  }
  return {
    current: (accountId) => byAccount.get(accountId) ?? everyone,
    refresh,
    async start() {
      await refresh();
      timer = setInterval(() => void refresh(), EVERY_MS).unref();
    },
    async stop() {
      if (timer !== null) clearInterval(timer);
      await (waiting ?? running);
    },
  };
}

type Seen = Map<string, Readonly<Partial<Record<ToolScenario, SeenToolCalls>>>>;

interface Count extends SeenToolCalls {
  readonly model: string;
  readonly scenario: ToolScenario;
}

/** A copy of `seen` in which these counts stand in the place of those for the same model and scenario. */
function withCounts(seen: ToolCallsSeen, counts: readonly Count[]): Seen {
  const all: Seen = new Map(seen);
  for (const { model, scenario, calls, valid } of counts) {
    all.set(model, { ...all.get(model), [scenario]: { calls, valid } });
  }
  return all;
}

function groupByAccount<Owned extends { readonly accountId: string }>(all: readonly Owned[]): Map<string, Owned[]> {
  const groups = new Map<string, Owned[]>();
  for (const each of all) {
    const group = groups.get(each.accountId);
    if (group === undefined) groups.set(each.accountId, [each]);
    else group.push(each);
  }
  return groups;
}
