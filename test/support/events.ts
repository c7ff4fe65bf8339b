// Reading server-sent events of a fetch answer in tests: one at a time, with an end that can be waited for.

import { createSseReader, type SseEvent } from "../../src/formats/sse/reader.ts";

export interface EventStream {
  readonly answer: Response;
  /** The next event; null when the stream is over. */
  next(): Promise<SseEvent | null>;
  /** Waits for the next event of this name, past others. */
  until(name: string): Promise<Record<string, unknown>>;
  close(): void;
}

export async function openEvents(url: string, headers: Record<string, string>): Promise<EventStream> {
  const abort = new AbortController();
  const answer = await fetch(url, { headers, signal: abort.signal });
  const body = answer.body?.getReader();
  const sse = createSseReader();
  const ready: SseEvent[] = [];
  const next = async (): Promise<SseEvent | null> => {
    while (ready.length === 0) {
      const part = await body?.read();
      if (part === undefined || part.done) return null;
      ready.push(...sse.push(part.value));
    }
    return ready.shift() ?? null;
  };
  return {
    answer,
    next,
    async until(name) {
      for (let event = await next(); event !== null; event = await next()) {
        if (event.event === name) return JSON.parse(event.data) as Record<string, unknown>;
      }
      throw new Error(`the stream ended without '${name}'`);
    },
    close: () => abort.abort(),
  };
}
