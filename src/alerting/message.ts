// Messages that receivers get: that of an event, and that of a test.

import type { AlertEvent } from "../core/alerts/events.ts";
import { ALERT_KINDS } from "../core/alerts/kinds.ts";

export interface AlertMessage {
  /** The same for every attempt, so that a receiver can leave out what it has. */
  readonly id: string;
  readonly type: string;
  readonly title: string;
  readonly severity: string;
  readonly text: string;
  readonly atMs: number;
  readonly data: Readonly<Record<string, unknown>>;
}

/** An event of another version may have a kind that this one does not know. */
export function messageOf(id: string, event: AlertEvent): AlertMessage {
  const { kind, severity, accountId, subject, text, data, atMs } = event;
  const kinds: Readonly<Record<string, { readonly title: string }>> = ALERT_KINDS;
  const title = kinds[kind]?.title ?? kind;
  return { id, type: kind, title, severity, text, atMs, data: { eventId: event.id, accountId, subject, ...data } };
}

export function testMessage(id: string, atMs: number): AlertMessage {
  const text = "This is a test. Events arrive here.";
  return { id, type: "test", title: "Test", severity: "info", text, atMs, data: {} };
}
