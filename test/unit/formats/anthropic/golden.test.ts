// Golden files: requests, answers and streams from one format to the other, each with what must come out and what is noted.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  answer,
  chunksToSse,
  dataIn,
  eventsIn,
  FORMATS,
  type Json,
  read,
  relay,
  type Sending,
  send,
  toSse,
} from "./exchange.ts";

const { openai, anthropic } = FORMATS;
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

describe.each([
  ["messages-to-chat", anthropic, openai],
  ["chat-to-messages", openai, anthropic],
] as const)("requests, %s", (prefix, client, provider) => {
  it.each(goldens(prefix))("%s", (_file, golden) => {
    const sent = send([client, provider], golden.request as object, { model: golden.model } as Sending);
    expect(sent.json).toEqual(golden.expected);
    expect(sent.conversions ?? []).toEqual(golden.conversions);
    expect(sent.droppedFields).toEqual(golden.droppedFields);
  });
});

describe.each([
  ["completion-to-message", openai, anthropic],
  ["message-to-completion", anthropic, openai],
] as const)("answers, %s", (prefix, provider, client) => {
  it.each(goldens(prefix))("%s", (_file, golden) => {
    const tools = ((golden.tools ?? []) as readonly string[]).map((name) => ({
      name,
      input_schema: { type: "object" },
    }));
    const request = read(anthropic, { max_tokens: 9, messages: [{ role: "user", content: "x" }], tools });
    expect(answer([provider, client], golden.answer as object, request)).toEqual(golden.expected);
  });
});

describe("streams", () => {
  it.each(goldens("chunks-to-events"))("%s", (_file, golden) => {
    const text = chunksToSse(golden.chunks as readonly Json[]);
    expect(eventsIn(relay([openai, anthropic], text))).toEqual(golden.expected);
  });

  it.each(goldens("events-to-chunks"))("%s", (_file, golden) => {
    const text = toSse(golden.events as readonly Json[]);
    expect(dataIn(relay([anthropic, openai], text))).toEqual(golden.expected);
  });
});
