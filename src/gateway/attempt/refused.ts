// Parts of requests that hosts said they do not know. They are left out of later requests at once, for some hours: hosts
// learn. Each process remembers for itself, by connection, so that a changed provider begins with nothing.

import type { HostedModel } from "../../core/model.ts";
import { type FormattedRequest, mayLeaveOut } from "../../formats/bridge.ts";
import type { ProviderFormat } from "../../formats/format.ts";

const KEPT_MS = 6 * 3_600_000;
/** Clients choose the names, so there is an end to what they can fill. */
const SCOPES_MAX = 500;
const PARTS_MAX = 20;

/** Times at which parts are tried again, by scope. */
type RefusedByScope = Map<string, Map<string, number>>;

const MEMORIES = new WeakMap<object, RefusedByScope>();
const NONE: readonly string[] = [];

interface AskedHost {
  /** The connection to the provider. */
  readonly connection: object;
  readonly provider: ProviderFormat;
  readonly model: HostedModel;
  readonly call: FormattedRequest;
}

export function rememberRefused(part: string, { connection, provider, model, call }: AskedHost, nowMs: number): void {
  const memory: RefusedByScope = MEMORIES.get(connection) ?? new Map();
  MEMORIES.set(connection, memory);
  const scope = scopeOf(model, provider.refusalScope?.(part, call.request) ?? "");
  const parts = memory.get(scope) ?? new Map<string, number>();
  parts.delete(part);
  parts.set(part, nowMs + KEPT_MS);
  memory.delete(scope);
  memory.set(scope, parts);
  dropOldest(parts, PARTS_MAX);
  dropOldest(memory, SCOPES_MAX);
}

/** The parts to leave out of a request from the start. */
export function refusedBefore(asked: AskedHost, nowMs: number): readonly string[] {
  const memory = MEMORIES.get(asked.connection);
  if (memory === undefined) return NONE;
  const { provider, model, call } = asked;
  const scopes = new Set(["", provider.refusalScope?.("", call.request) ?? ""]);
  const found = [...scopes].flatMap((scope) => [...(memory.get(scopeOf(model, scope)) ?? [])]);
  const parts = found.filter(([, untilMs]) => untilMs > nowMs).map(([part]) => part);
  return parts.filter((part) => mayLeaveOut(part, call, { provider, model }));
}

function scopeOf({ upstream }: HostedModel, scope: string): string {
  return `${upstream}\n${scope}`;
}

function dropOldest(map: Map<string, unknown>, max: number): void {
  for (const key of map.keys()) {
    if (map.size <= max) return;
    map.delete(key);
  }
}
