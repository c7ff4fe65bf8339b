// The structured log: one JSON line per event on standard output. Prompts, answers and keys never get here;
// the redaction is a second net, not the first.

import { pino } from "pino";
import type { LogEvent } from "../core/events.ts";
import type { Log } from "../core/log.ts";
import { createLineOutput, type LineOutput } from "./line-output.ts";

/** Fields that are never written, whatever is in them. */
const SECRETS: ReadonlySet<string> = new Set(["authorization", "apiKey", "key", "token", "password"]);
const DEPTH_MAX = 1;
const STANDARD_OUTPUT = 1;

/** The log of a serving process, which gathers lines before it writes them. */
export interface ProcessLog extends Log, Pick<LineOutput, "flush" | "droppedLines" | "problem"> {
  /** Words for the person who started the process, among the log lines. */
  print(text: string): void;
}

/** One JSON object per line; `level` is the lowest that is written. `isShared`: other processes write there too. */
export function createLog(level: string, { fd = STANDARD_OUTPUT, isShared = false } = {}): ProcessLog {
  // Node makes a pipe non-blocking when it opens this stream. Otherwise a write that nobody reads could never be given up.
  if (fd === STANDARD_OUTPUT) process.stdout.on("error", () => undefined);
  const out = createLineOutput({ fd, isShared, reportLoss });
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
    print: out.write,
    flush: out.flush,
    droppedLines: out.droppedLines,
    problem: out.problem,
  };
}

/** Not through the logger: its lines could be lost themselves, and a report is written at every level. */
function reportLoss(droppedLines: number): string {
  const event: LogEvent<"error"> = "log.lines_dropped";
  const msg = `${droppedLines} log lines could not be written and are lost`;
  return `${JSON.stringify({ level: pino.levels.values.error, time: new Date().toISOString(), event, droppedLines, msg })}\n`;
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
