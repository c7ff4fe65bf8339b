// The log port. Every line names its event; the names and their levels are in events.ts.

import type { LogEvent } from "./events.ts";

/** `event` is what dashboards and alerts match on; the message is for people and may change. */
export interface LogFields<Event extends LogEvent = LogEvent> {
  readonly event: Event;
  readonly [field: string]: unknown;
}

/** A line can only be written at the level its event has in the table. */
export interface Log {
  debug(fields: LogFields<LogEvent<"debug">>, message: string): void;
  info(fields: LogFields<LogEvent<"info">>, message: string): void;
  warn(fields: LogFields<LogEvent<"warn">>, message: string): void;
  error(fields: LogFields<LogEvent<"error">>, message: string): void;
}

/** State of the output that log lines are written to. */
export interface LogOutput {
  /** Lines that could not be written, since the start. */
  droppedLines(): number;
  /**
   * Names the obstacle that keeps lines from being written now, as an error code or in two words. Null while they are
   * written.
   */
  problem(): string | null;
}
