// The structured log: one JSON line per event on standard output. Prompts, answers and keys never get here;
// the redaction is a second net, not the first.

import { pino } from "pino";
import type { Log } from "../core/log.ts";

/** Fields that are never written, whatever is in them. */
const SECRETS: ReadonlySet<string> = new Set(["authorization", "apiKey", "key", "token", "password"]);
const DEPTH_MAX = 1;
const STANDARD_OUTPUT = 1;
/** Every write costs a hand-over to another thread, so lines go out many at a time, at the latest after FLUSH_MS. */
const GATHERED_LENGTH_MAX = 32 * 1024;
const FLUSH_MS = 100;

/** The log of a serving process, which gathers lines before it writes them. */
export interface ProcessLog extends Log {
  /** Resolves when everything logged before is written, or cannot be. */
  flush(): Promise<void>;
}

/** One JSON object per line; `level` is the lowest that is written. */
export function createLog(level: string, fd = STANDARD_OUTPUT): ProcessLog {
  const out = gather(pino.destination({ fd, sync: false, minLength: 1, maxWrite: 2 * GATHERED_LENGTH_MAX }));
  // Not pino's own redaction: measured here it costs more than writing the line.
  const formatters = { log: (fields: LoggedFields) => withoutSecrets(fields, 0) };
  // Errors are made plain there; pino would take them for plain objects of its own making and lose their type.
  const serializers = { err: (error: unknown) => error };
  const timestamp = pino.stdTimeFunctions.isoTime;
  const logger = pino({ level, base: null, formatters, serializers, timestamp }, out);
  return {
    debug: (fields, message) => logger.debug(fields, message),
    info: (fields, message) => logger.info(fields, message),
    warn: (fields, message) => logger.warn(fields, message),
    error: (fields, message) => logger.error(fields, message),
    flush: out.flush,
  };
}

/** In front of the destination, which measures all of its own buffer again with every line. */
function gather(destination: ReturnType<typeof pino.destination>): {
  write(line: string): void;
  flush(): Promise<void>;
} {
  let lines: string[] = [];
  let length = 0;
  const handOver = (): void => {
    if (length === 0) return;
    destination.write(lines.join(""));
    lines = [];
    length = 0;
  };
  setInterval(handOver, FLUSH_MS).unref();
  // After a crash too.
  process.once("exit", () => {
    if (length === 0) return;
    handOver();
    destination.flushSync();
  });
  return {
    write(line) {
      lines.push(line);
      length += line.length;
      if (length >= GATHERED_LENGTH_MAX) handOver();
    },
    flush: () =>
      new Promise((resolve) => {
        handOver();
        destination.flush(() => resolve());
      }),
  };
}

type LoggedFields = Readonly<Record<string, unknown>>;

/** The fields without secrets; the same object when it holds none, as it should. */
export function withoutSecrets(fields: LoggedFields, depth: number): Record<string, unknown> {
  let clean: Record<string, unknown> = fields;
  for (const name in fields) {
    const value = fields[name];
    const kept = SECRETS.has(name) ? "[Redacted]" : depth < DEPTH_MAX ? withoutInnerSecrets(value, depth) : value;
    if (kept === value) continue;
    if (clean === fields) clean = { ...fields };
    clean[name] = kept;
  }
  return clean;
}

/** Errors become plain objects first, because their fields may hold a header. */
function withoutInnerSecrets(value: unknown, depth: number): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return withoutSecrets((value instanceof Error ? pino.stdSerializers.err(value) : value) as LoggedFields, depth + 1);
}

/** For tests and commands that print for people. */
export const SILENT_LOG: Log = {
  debug() {},
  info() {},
  warn() {},
  error() {},
};
