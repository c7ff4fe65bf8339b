// How providers frame their streams: one row for each framing, with the content type to ask for and the reader that cuts
// bytes into events.

import type { Framing } from "../core/model.ts";
import { createSseReader, type SseReader } from "../formats/wire/sse.ts";

interface FramingRow {
  readonly contentType: string;
  /** A new reader for one stream. */
  readonly newEvents: () => SseReader;
}

export const FRAMINGS: Readonly<Record<Framing, FramingRow>> = {
  sse: { contentType: "text/event-stream", newEvents: createSseReader },
};
