// Which models rest because they kept failing. A resting model is tried last, so it still serves when nothing else does.

import type { Log } from "../core/ports.ts";

const FAILURES_TO_REST = 5;
const REST_MS_MIN = 5_000;
const REST_MS_MAX = 60_000;
const COOL_DOWN_MS_MAX = 300_000;
const NONE: ReadonlySet<string> = new Set();

interface Record {
  consecutiveFailures: number;
  restMs: number;
  restsUntilMs: number;
}

export interface Health {
  succeeded(modelId: string): void;
  /** `coolDownMs`: how long the provider asked us to stay away. */
  failed(modelId: string, coolDownMs: number | null): void;
  resting(): ReadonlySet<string>;
  stateOf(modelId: string): { readonly isResting: boolean; readonly consecutiveFailures: number };
}

export function createHealth(now: () => number, log: Log): Health {
  const records = new Map<string, Record>();

  function rest(modelId: string, record: Record, ms: number): void {
    record.restsUntilMs = Math.max(record.restsUntilMs, now() + ms);
    log.warn({ model: modelId, restMs: ms, failures: record.consecutiveFailures }, "model rests after failures");
  }

  return {
    succeeded(modelId) {
      records.delete(modelId);
    },
    failed(modelId, coolDownMs) {
      const record = records.get(modelId) ?? { consecutiveFailures: 0, restMs: REST_MS_MIN, restsUntilMs: 0 };
      records.set(modelId, record);
      record.consecutiveFailures += 1;
      if (record.consecutiveFailures >= FAILURES_TO_REST) {
        rest(modelId, record, record.restMs);
        record.restMs = Math.min(record.restMs * 2, REST_MS_MAX);
      }
      if (coolDownMs !== null) rest(modelId, record, Math.min(coolDownMs, COOL_DOWN_MS_MAX));
    },
    resting() {
      if (records.size === 0) return NONE;
      const at = now();
      return new Set([...records].filter(([, record]) => record.restsUntilMs > at).map(([modelId]) => modelId));
    },
    stateOf(modelId) {
      const record = records.get(modelId);
      return {
        isResting: (record?.restsUntilMs ?? 0) > now(),
        consecutiveFailures: record?.consecutiveFailures ?? 0,
      };
    },
  };
}
