// Golden files of Gemini's client end: requests to chat-completions, and responses and streams back, each with what must
// come out and what is noted.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { answerFromChat, eventsOf, type Json, readGemini, sendToChat, streamFromChat } from "./client-exchange.ts";

const FOLDER = join(import.meta.dirname, "golden");

interface Golden {
  readonly about: string;
  readonly expected: unknown;
  readonly [field: string]: unknown;
}

function goldens(prefix: string): readonly (readonly [name: string, golden: Golden])[] {
  const files = readdirSync(FOLDER).filter((file) => file.startsWith(`${prefix}.`));
  expect(files.length).toBeGreaterThan(0);
  return files.map((file) => [file, JSON.parse(readFileSync(join(FOLDER, file), "utf8")) as Golden] as const);
}

describe("requests to chat-completions", () => {
  it.each(goldens("gemini-to-chat"))("%s", (_file, { request, model = {}, conversions, expected }) => {
    const sent = sendToChat(request as object, model as object);
    expect(sent.json).toEqual(expected);
    expect(sent.conversions).toEqual(conversions);
  });
});

describe("chat completions to responses", () => {
  it.each(goldens("completion-to-gemini"))("%s", (_file, { request, completion, expected }) => {
    expect(answerFromChat(completion as object, readGemini(request as object))).toEqual(expected);
  });
});

describe("chat chunks to a stream", () => {
  it.each(goldens("chunks-to-gemini"))("%s", (_file, { request, chunks, expected }) => {
    const text = streamFromChat(chunks as readonly Json[], readGemini(request as object));
    expect(eventsOf(text)).toEqual(expected);
  });
});
