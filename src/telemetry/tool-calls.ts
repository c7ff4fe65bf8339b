// Tool calls of models: whether those of a response were usable, and what was observed of each model so far.

import type { Tool } from "../core/chat.ts";
import { type SeenToolCalls, TELLING_CALLS, type ToolCallsSeen } from "../core/decision.ts";
import type { Log } from "../core/log.ts";
import type { ToolScenario } from "../core/model.ts";
import type { ToolCallLog } from "../core/requests/log.ts";
import type { ToolCallCheck } from "../core/requests/records.ts";
import { toText } from "../formats/json/fields.ts";
import { shortToolName } from "../formats/tools/calls.ts";

/** A tool call as the model wrote it. */
interface MadeCall {
  readonly name: string;
  readonly arguments: string;
}

/** Counts the calls that parse as JSON, name a tool that was offered, and have its required arguments. */
export function checkToolCalls(calls: readonly MadeCall[], tools: readonly Tool[]): ToolCallCheck {
  if (calls.length === 0) return { calls: 0, parsed: 0, known: 0, valid: 0 };
  const offered = new Map(tools.map((tool) => [tool.name, tool]));
  // A provider may have been given a shorter name.
  for (const tool of tools) offered.set(shortToolName(tool.name), tool);
  let parsed = 0;
  let known = 0;
  let valid = 0;
  for (const call of calls) {
    const given = parseObject(call.arguments);
    const tool = offered.get(call.name);
    if (given !== null) parsed += 1;
    if (tool !== undefined) known += 1;
    if (given !== null && tool !== undefined && hasRequired(given, tool)) valid += 1;
  }
  return { calls: calls.length, parsed, known, valid };
}

/** Parsed arguments. */
type ToolArguments = Readonly<Record<string, unknown>>;

/** Returns null for a text that is no JSON object. An empty text means no arguments. */
function parseObject(text: string): ToolArguments | null {
  try {
    const value: unknown = JSON.parse(text === "" ? "{}" : text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as ToolArguments) : null;
  } catch {
    return null;
  }
}

/** True if every required argument is present; their types are the client's concern. */
function hasRequired(given: ToolArguments, { parameters }: Tool): boolean {
  const required = parameters?.required;
  return !Array.isArray(required) || required.every((name) => Object.hasOwn(given, toText(name)));
}

/** Greatest age of the counts. */
const EVERY_MS = 60_000;
/** Calls of one account that count among those of all. */
const CALLS_PER_ACCOUNT = 10;

/**
 * Counts of observed tool calls, in memory for routing. They are read at the start and again every minute, so that no
 * request waits for them and all processes of one database come to the same order. An account is judged by its own calls
 * once they are enough; until then by all accounts together, of which none can decide alone.
 */
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
  /** At most one reading runs and one waits. The waiting one shows what was written before it was asked for. */
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

interface ModelCount extends SeenToolCalls {
  readonly model: string;
  readonly scenario: ToolScenario;
}

/** A copy of `seen` in which these counts stand in the place of those for the same model and scenario. */
function withCounts(seen: ToolCallsSeen, counts: readonly ModelCount[]): Seen {
  const all: Seen = new Map(seen);
  for (const { model, scenario, calls, valid } of counts) {
    all.set(model, { ...all.get(model), [scenario]: { calls, valid } });
  }
  return all;
}

/** In the order in which accounts first come. */
function groupByAccount<Owned extends { readonly accountId: string }>(all: readonly Owned[]): Map<string, Owned[]> {
  const groups = new Map<string, Owned[]>();
  for (const each of all) {
    const group = groups.get(each.accountId);
    if (group === undefined) groups.set(each.accountId, [each]);
    else group.push(each);
  }
  return groups;
}
