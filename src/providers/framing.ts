// Framings of streams: one row for each framing, with the content type to ask for and the reader that cuts
// bytes into events.

import { createEventStreamReader } from "../formats/converse/event-stream.ts";
import { createSseReader, type SseReader } from "../formats/sse/reader.ts";

export interface FramingRow {
  readonly contentType: string;
  /** A new reader for one stream. */
  readonly newEvents: () => SseReader;
}

export type FramingRows = Readonly<Record<string, FramingRow>>;

export const FRAMINGS: FramingRows = {
  sse: { contentType: "text/event-stream", newEvents: createSseReader },
  aws: { contentType: "application/vnd.amazon.eventstream", newEvents: createEventStreamReader },
};

export function framingOf(name: string, rows: FramingRows): FramingRow {
  const row = rows[name];
  if (row === undefined) throw new Error(`there is no framing ${name}`);
  return row;
}
