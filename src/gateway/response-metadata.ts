// What a provider said of its own answer: the model it names and why it finished. Heard only where spans want it.

import type { ChatChunk, StreamWriter, WholeAnswer } from "../formats/format.ts";

export interface Told {
  model: string | null;
  readonly finishReasons: string[];
}

const WORD_LENGTH_MAX = 128;
const REASONS_MAX = 16;

export function nothingTold(): Told {
  return { model: null, finishReasons: [] };
}

export function hearWhole(told: Told, { completion }: WholeAnswer): void {
  hear(told, completion);
}

/** The same writer, overheard. */
export function hearStream(told: Told, writer: StreamWriter): StreamWriter {
  return {
    ping: writer.ping,
    write(chunks) {
      for (const { json } of chunks as readonly ChatChunk[]) hear(told, json);
      return writer.write(chunks);
    },
    end: (service, usage) => writer.end(service, usage),
    fail: (error) => writer.fail(error),
  };
}

function hear(told: Told, { model, choices }: Readonly<Record<string, unknown>>): void {
  if (told.model === null && isWord(model)) told.model = model;
  if (!Array.isArray(choices)) return;
  for (const choice of choices as readonly ({ finish_reason?: unknown } | null)[]) {
    const reason = choice?.finish_reason;
    if (isWord(reason) && told.finishReasons.length < REASONS_MAX) told.finishReasons.push(reason);
  }
}

function isWord(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.length <= WORD_LENGTH_MAX;
}
