// The structured log: one JSON line per event on standard output. Prompts, answers and keys never get here;
// the redaction is a second net, not the first.

import { inspect } from "node:util";
import type { LogEvent } from "../core/events.ts";
import type { Log, LogFields } from "../core/log.ts";
import { isoTime } from "../core/requests/time-text.ts";
import { createLineOutput, type LineOutput } from "./line-output.ts";
import { createRepeats } from "./repeats.ts";

/** Fields that are never written, whatever is in them. */
const SECRETS: ReadonlySet<string> = new Set(["authorization", "apiKey", "key", "token", "password"]);
const DEPTH_MAX = 1;
const STANDARD_OUTPUT = 1;

/** Numbers of the levels, as most log collectors for Node know them. */
const LEVELS: Readonly<Record<keyof Log, number>> = { debug: 20, info: 30, warn: 40, error: 50 };

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
  const repeats = createRepeats((event, leftOut) => out.write(reportRepeats(event, leftOut)));
  const isWritten = lowestLevel(level);
  const writer = (name: keyof Log) => (fields: LogFields, message: string) => {
    if (isWritten(name) && repeats.allows(fields.event)) out.write(lineOf(LEVELS[name], fields, message));
  };
  return {
    debug: writer("debug"),
    info: writer("info"),
    warn: writer("warn"),
    error: writer("error"),
    print: out.write,
    flush() {
      repeats.close();
      return out.flush();
    },
    droppedLines: out.droppedLines,
    problem: out.problem,
  };
}

/** Tells which levels are written where this one is the lowest. `silent` writes none. */
export function lowestLevel(level: string): (name: keyof Log) => boolean {
  const lowest = LEVELS[level as keyof Log] ?? Number.POSITIVE_INFINITY;
  return (name) => LEVELS[name] >= lowest;
}

/** Not through the log itself: its lines could be lost too, and a report is written at every level. */
function reportLoss(droppedLines: number): string {
  const event: LogEvent<"error"> = "log.lines_dropped";
  const message = `${droppedLines} log lines could not be written and are lost`;
  return lineOf(LEVELS.error, { event, droppedLines }, message);
}

/** Written at every level, like the lines that it stands for. */
function reportRepeats(repeated: LogEvent, leftOut: number): string {
  const event: LogEvent<"warn"> = "log.repeated";
  return lineOf(LEVELS.warn, { event, repeated, leftOut }, `${repeated} happened ${leftOut} more times`);
}

/** Longer lines are cut: a fault that repeats must not fill a disk with a few long lines either. */
const LINE_LENGTH_MAX = 64 * 1024;

/** Written in one piece: a logger that writes field by field takes half as long again, and four times the memory. */
function lineOf(level: number, fields: LoggedFields, message: string): string {
  const text = toJson(withoutSecrets(fields, 0));
  const inner = text.length <= LINE_LENGTH_MAX ? text.slice(1, -1) : cut(fields, text);
  return `{"level":${level},"time":"${isoTime(Date.now())}",${inner},"msg":${JSON.stringify(message)}}\n`;
}

/** The beginning of the fields as a text, because JSON that is cut off is none. */
function cut({ event }: LoggedFields, text: string): string {
  return `"event":${JSON.stringify(event)},"cut":${JSON.stringify(text.slice(0, LINE_LENGTH_MAX / 4))}`;
}

/** A field that JSON cannot say, such as an object in a circle, must not cost the line. */
function toJson(fields: LoggedFields): string {
  try {
    return JSON.stringify(fields);
  } catch {
    return JSON.stringify(Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, sayable(value)])));
  }
}

function sayable(value: unknown): unknown {
  try {
    JSON.stringify(value);
    return value;
  } catch {
    return typeof value === "bigint" ? String(value) : inspect(value);
  }
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
  return withoutSecrets((value instanceof Error ? plainError(value) : value) as LoggedFields, depth + 1);
}

/** Message, cause and fields of an error. */
function plainError(error: Error): LoggedFields {
  const chain = withCauses(error);
  const others = error instanceof AggregateError ? { aggregateErrors: error.errors.map(plainOf) } : {};
  return {
    ...error,
    type: error.constructor?.name ?? error.name,
    message: chain.map(({ message }) => message).join(": "),
    stack: chain.map(({ stack }) => stack).join("\ncaused by: "),
    ...others,
  };
}

/** Anything may be thrown, and then gathered. */
function plainOf(thrown: unknown): unknown {
  return thrown instanceof Error ? plainError(thrown) : thrown;
}

/** Prepares an error for another process. Sent as it is, an error loses its class and fields. */
export function loggedError(thrown: unknown): unknown {
  return JSON.parse(JSON.stringify(sayable(plainOf(thrown))) ?? "null");
}

/** Causes may go round in a circle. */
const CAUSES_MAX = 8;

function withCauses(error: Error): readonly Error[] {
  const chain = [error];
  for (let { cause } = error; cause instanceof Error && chain.length <= CAUSES_MAX; { cause } = cause)
    chain.push(cause);
  return chain;
}

/** For tests and commands that print for people. */
export const SILENT_LOG: Log = {
  debug() {},
  info() {},
  warn() {},
  error() {},
};
