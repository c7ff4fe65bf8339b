// The stream an Anthropic client reads: one order of events whatever comes from the provider, and nothing lost in it.

import { describe, expect, it } from "vitest";
import { GatewayError } from "../../../../src/core/errors.ts";
import { BlockWriter } from "../../../../src/formats/anthropic/write-stream.ts";
import { createSseReader } from "../../../../src/formats/sse/reader.ts";
import { fc } from "../../../support/property.ts";
import { contextFor, eventsIn, FORMATS, type Json, SERVICE, usageOf } from "./exchange.ts";

const { openai, anthropic } = FORMATS;

type Step =
  | { readonly kind: "thinking" | "text"; readonly text: string }
  | { readonly kind: "tool"; readonly index: number };

const steps = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constantFrom("thinking" as const, "text" as const), text: fc.string({ maxLength: 6 }) }),
    fc.record({ kind: fc.constant("tool" as const), index: fc.nat(3) }),
  ),
  { maxLength: 40 },
);

/** Arguments that come in pieces of a few characters, with the signs that could mislead a reader of braces. */
function argumentsOf(index: number): string {
  return JSON.stringify({ index, text: '}{"\\', list: [{ a: [] }] });
}

function chunkOf(delta: Json): Json {
  return { id: "c", choices: [{ index: 0, delta, finish_reason: null }] };
}

function chunksOf(given: readonly Step[]): { chunks: readonly Json[]; tools: readonly number[] } {
  const sent = new Map<number, number>();
  const chunks: Json[] = [];
  const push = (index: number, length: number): void => {
    const from = sent.get(index);
    const piece = argumentsOf(index).slice(from ?? 0, (from ?? 0) + length);
    const head = from === undefined ? { id: `toolu_${index}`, type: "function" } : {};
    const called = { ...(from === undefined ? { name: `f${index}` } : {}), arguments: piece };
    chunks.push(chunkOf({ tool_calls: [{ index, ...head, function: called }] }));
    sent.set(index, (from ?? 0) + length);
  };
  for (const step of given) {
    if (step.kind === "tool") push(step.index, 5);
    else chunks.push(chunkOf(step.kind === "text" ? { content: step.text } : { reasoning_content: step.text }));
  }
  for (const index of sent.keys()) push(index, 1000);
  return { chunks, tools: [...sent.keys()] };
}

function write(chunks: readonly Json[]): readonly Json[] {
  const reader = openai.streamReader(createSseReader());
  const writer = anthropic.streamWriter(contextFor(), { service: SERVICE, wantsUsage: true });
  const text = chunks
    .map((chunk) => writer.write(reader.push(Buffer.from(`data: ${JSON.stringify(chunk)}\n\n`))))
    .join("");
  return eventsIn(text + writer.end(SERVICE, usageOf(1, 2)));
}

interface Block {
  readonly block: Json;
  readonly text: string;
}

/** Reads the events as a strict client does: anything out of order is an error. */
function strictBlocks(events: readonly Json[]): readonly Block[] {
  const types = events.map((event) => event.type);
  expect(types.slice(0, 2)).toEqual(["message_start", "ping"]);
  expect(types.slice(-2)).toEqual(["message_delta", "message_stop"]);
  const blocks: { block: Json; text: string }[] = [];
  let isOpen = false;
  for (const event of events.slice(2, -2)) {
    if (event.type === "content_block_start") {
      expect(isOpen).toBe(false);
      expect(event.index).toBe(blocks.length);
      blocks.push({ block: event.content_block as Json, text: "" });
      isOpen = true;
      continue;
    }
    expect(isOpen).toBe(true);
    expect(event.index).toBe(blocks.length - 1);
    if (event.type === "content_block_stop") isOpen = false;
    else addDelta(blocks.at(-1)!, event.delta as Json);
  }
  expect(isOpen).toBe(false);
  return blocks;
}

const FIELDS: Readonly<Record<string, readonly [delta: string, field: string]>> = {
  text: ["text_delta", "text"],
  thinking: ["thinking_delta", "thinking"],
  tool_use: ["input_json_delta", "partial_json"],
};

function addDelta(open: { block: Json; text: string }, delta: Json): void {
  const [type, field] = FIELDS[String(open.block.type)]!;
  expect(delta.type).toBe(type);
  expect(delta[field]).not.toBe("");
  open.text += String(delta[field]);
}

function textOf(blocks: readonly Block[], type: string): string {
  return blocks
    .filter(({ block }) => block.type === type)
    .map(({ text }) => text)
    .join("");
}

describe("any order of deltas", () => {
  it("gives blocks 0, 1, 2 … without holes or overlap, and all that was said", () => {
    fc.assert(
      fc.property(steps, (given) => {
        const { chunks, tools } = chunksOf(given);
        const blocks = strictBlocks(write(chunks));
        for (const kind of ["text", "thinking"]) {
          const said = given.map((step) => (step.kind === kind ? (step as { text: string }).text : "")).join("");
          expect(textOf(blocks, kind)).toBe(said);
        }
        const called = blocks.filter(({ block }) => block.type === "tool_use");
        expect(called.map(({ block }) => block.name)).toEqual(tools.map((index) => `f${index}`));
        expect(called.map(({ text }) => text)).toEqual(tools.map(argumentsOf));
        expect(blocks.length).toBeGreaterThan(0);
      }),
      { numRuns: 150 },
    );
  });
});

describe("a tool block", () => {
  const names = { idOf: (id: string) => id, nameOf: (name: string) => name };

  it("streams while it is alone, and lets the next begin as soon as its arguments are complete", () => {
    const writer = new BlockWriter(names);
    writer.addTool({ index: 0, id: "a", name: "f", text: '{"a"' });
    expect(eventsIn(writer.take(false)).map((event) => event.type)).toEqual([
      "content_block_start",
      "content_block_delta",
    ]);
    writer.addTool({ index: 1, id: "b", name: "g", text: "{" });
    expect(writer.take(false)).toBe("");
    writer.addTool({ index: 0, id: "", name: "", text: ":1}" });
    expect(eventsIn(writer.take(false)).map((event) => event.index)).toEqual([0, 0, 1, 1]);
  });

  it("waits for its name", () => {
    const writer = new BlockWriter(names);
    writer.addTool({ index: 0, id: "a", name: "", text: "" });
    expect(writer.take(false)).toBe("");
    writer.addTool({ index: 0, id: "", name: "f", text: "{}" });
    expect(eventsIn(writer.take(false))[0]).toMatchObject({ content_block: { id: "a", name: "f" } });
  });
});

describe("the end", () => {
  it.each([
    ["stop", false, "end_turn"],
    ["length", false, "max_tokens"],
    ["tool_calls", true, "tool_use"],
    ["stop", true, "tool_use"],
    ["content_filter", false, "refusal"],
    ["eos", false, "end_turn"],
    ["something new", false, "end_turn"],
  ])("finish %s, tools %s: %s", (finish, hasTools, expected) => {
    const call = { index: 0, id: "a", type: "function", function: { name: "f", arguments: "{}" } };
    const delta = hasTools ? { tool_calls: [call] } : { content: "x" };
    const events = write([chunkOf(delta), { choices: [{ index: 0, delta: {}, finish_reason: finish }] }]);
    expect(events.at(-2)).toMatchObject({ delta: { stop_reason: expected, stop_sequence: null } });
  });

  it("never shows an end that the provider did not give", () => {
    const writer = anthropic.streamWriter(contextFor(), { service: SERVICE, wantsUsage: true });
    const failure = new GatewayError("providersFailed", "The provider interrupted the stream.", {
      code: "stream_interrupted",
    });
    expect(eventsIn(writer.fail(failure))).toEqual([
      {
        type: "error",
        error: {
          type: "api_error",
          message: "The provider interrupted the stream.",
          details: { error_code: "stream_interrupted" },
        },
        request_id: "req-7",
      },
    ]);
    expect(writer.ping).toBe('event: ping\ndata: {"type":"ping"}\n\n');
  });
});
