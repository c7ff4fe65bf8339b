// Streams of Google as chunks, whatever way their bytes are cut: the same content, calls, ends and counts as a whole
// response has. A stream that does not say how it ended is broken.

import { describe, expect, it } from "vitest";
import { fc } from "../../../../support/property.ts";
import {
  chunksOf,
  type FakePart,
  functionCall,
  generated,
  googleError,
  text,
  thought,
} from "../../../../support/providers/fake-gemini.ts";
import { type Json, messageIn, messageOf, readStream, toSse } from "../provider-end.ts";

const USAGE = { promptTokenCount: 40, cachedContentTokenCount: 10, candidatesTokenCount: 6, thoughtsTokenCount: 9 };
const PARTS = [
  thought("Let me think."),
  text("It is sunny in Rome.", "SIG-T"),
  functionCall("one", { city: "Rome" }, { id: "a", signature: "SIG-A" }),
  functionCall("two", {}),
];

describe("a stream", () => {
  it("says what a whole response says", () => {
    const script = { usage: USAGE };
    const { chunks, reader } = readStream(toSse(chunksOf(PARTS, script)));
    const { finish_reason: finish, reasoning_details: details, tool_calls: calls, ...said } = messageOf(chunks);
    const whole = messageIn(generated(PARTS, script));
    expect(finish).toBe("tool_calls");
    expect(said).toEqual({
      role: "assistant",
      content: whole.content,
      reasoning_content: whole.reasoning_content,
    });
    const numbered = (items: unknown): unknown => (items as Json[]).map((item, index) => ({ ...item, index }));
    expect(details).toEqual(numbered(whole.reasoning_details));
    expect(calls).toEqual(numbered(whole.tool_calls));
    expect(reader.progress).toMatchObject({ isFinished: true, isDone: true, isCounted: true, fault: null });
    expect(reader.progress.usage?.buckets).toEqual({ input: 30, cacheRead: 10, cacheWrite: 0, output: 15 });
    expect(reader.toolCallIds()).toEqual((whole.tool_calls as Json[]).map(({ id }) => id));
  });

  it("keeps the events for clients of the same format", () => {
    const chunks = chunksOf(PARTS);
    const { chunks: read } = readStream(toSse(chunks));
    expect(read.map(({ native }) => native)).toEqual(
      chunks.map((chunk) => ({ format: "gemini", event: "", data: JSON.stringify(chunk) })),
    );
  });

  it("reads the same however its bytes are cut", () => {
    const words = fc.stringMatching(/^[a-zA-Zéß漢 ]{1,12}$/);
    const part: fc.Arbitrary<FakePart> = fc.oneof(
      words.map((word) => text(word)),
      words.map(thought),
      words.map((word) => functionCall("one", { word })),
    );
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 5 }), fc.integer({ min: 1, max: 40 }), (parts, length) => {
        const sse = toSse(chunksOf(parts));
        const atOnce = readStream(sse);
        const cut = readStream(sse, length);
        expect(cut.chunks).toEqual(atOnce.chunks);
        expect(cut.reader.progress).toEqual(atOnce.reader.progress);
        const { finish_reason: _, role: __, ...said } = messageOf(cut.chunks);
        const whole = messageIn(generated(parts));
        expect(said.content ?? null).toEqual(whole.content);
        expect(said.reasoning_content).toEqual(whole.reasoning_content);
        expect(((said.tool_calls as unknown[]) ?? []).length).toBe(((whole.tool_calls as unknown[]) ?? []).length);
      }),
      { numRuns: 60 },
    );
  });

  it("has the role in the first delta only", () => {
    const { chunks } = readStream(toSse(chunksOf([text("a b c")])));
    const roles = chunks.map(({ json }) => ((json.choices as { delta: Json }[])[0] as { delta: Json }).delta.role);
    expect(roles).toEqual(["assistant", undefined, undefined]);
  });

  it("may have several candidates, and ends when all have", () => {
    const candidate = (index: number, word: string, finishReason?: string): object => ({
      candidates: [{ content: { parts: [{ text: word }] }, index, ...(finishReason ? { finishReason } : {}) }],
    });
    const events = [candidate(0, "a"), candidate(1, "b"), candidate(0, "A", "STOP")];
    expect(readStream(toSse(events)).reader.progress.isFinished).toBe(false);
    const { chunks, reader } = readStream(toSse([...events, candidate(1, "B", "MAX_TOKENS")]));
    expect(reader.progress.isFinished).toBe(true);
    expect([messageOf(chunks, 0), messageOf(chunks, 1)]).toMatchObject([
      { content: "aA", finish_reason: "stop" },
      { content: "bB", finish_reason: "length" },
    ]);
  });
});

describe("counts", () => {
  it("of the last event hold, also when it has nothing else", () => {
    const events = [
      generated([text("a")], { usage: { promptTokenCount: 5, candidatesTokenCount: 1 } }),
      { usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 3 } },
    ];
    const { reader, chunks } = readStream(toSse(events));
    expect(reader.progress).toMatchObject({ isFinished: true, isCounted: true });
    expect(reader.progress.usage?.buckets.output).toBe(3);
    expect(chunks[1]).toMatchObject({ json: { choices: [] }, hasContent: false, isFinish: false });
  });

  it("before the end count nothing as a whole", () => {
    const [first] = chunksOf([text("a b")], { usage: { promptTokenCount: 5 } });
    const { reader } = readStream(toSse([first as object]));
    expect(reader.progress).toMatchObject({ isFinished: false, isDone: false, isCounted: false });
    expect(reader.progress.usage?.buckets.input).toBe(5);
  });

  it("may be missing: then the output is estimated", () => {
    const { reader } = readStream(toSse(chunksOf([text("one two three")], { usage: null })));
    expect(reader.progress).toMatchObject({ usage: null, isCounted: false, isFinished: true });
    expect(reader.progress.outputTokens).toBeGreaterThanOrEqual(3);
  });
});

describe("ends", () => {
  it("without a finish reason are none", () => {
    const { reader } = readStream(toSse(chunksOf([text("a b")], { ending: "unfinished" })));
    expect(reader.progress).toMatchObject({ hasContent: true, isFinished: false, isDone: false });
  });

  it("by a filter are an answer, with or without words", () => {
    const { reader, chunks } = readStream(toSse([generated([], { finishReason: "SAFETY" })]));
    expect(reader.progress).toMatchObject({ hasContent: true, isFinished: true });
    expect(messageOf(chunks)).toMatchObject({
      refusal: "The provider blocked this: SAFETY.",
      finish_reason: "content_filter",
    });
    const spoken = readStream(
      toSse([generated([text("a")], { finishReason: null }), generated([], { finishReason: "SAFETY" })]),
    );
    expect(messageOf(spoken.chunks)).not.toHaveProperty("refusal");
  });

  it("of a blocked prompt are an answer", () => {
    const event = { promptFeedback: { blockReason: "SAFETY" }, usageMetadata: { promptTokenCount: 7 } };
    const { reader, chunks } = readStream(toSse([event]));
    expect(reader.progress).toMatchObject({ hasContent: true, isFinished: true, isCounted: true });
    expect(messageOf(chunks)).toMatchObject({ role: "assistant", finish_reason: "content_filter" });
  });

  it("of an empty answer have no content", () => {
    const { reader } = readStream(toSse([generated([], { usage: { promptTokenCount: 5 } })]));
    expect(reader.progress).toMatchObject({ hasContent: false, isFinished: true });
  });

  it.each([
    ["an error", googleError(503, { words: "overloaded" }), "overloaded"],
    ["a malformed call", generated([], { finishReason: "MALFORMED_FUNCTION_CALL" }), "MALFORMED_FUNCTION_CALL"],
  ])("by %s are a fault", (_what, event, words) => {
    const { reader } = readStream(toSse([generated([text("a")], { finishReason: null }), event]));
    expect(reader.progress.fault?.message).toContain(words);
    expect(reader.progress.isFinished).toBe(false);
  });

  it.each([
    ["no JSON", "data: {oops\n\n"],
    ["no object", "data: 3\n\n"],
  ])("by an event that is %s are a fault", (_what, event) => {
    expect(readStream(event).reader.progress.fault?.code).toBe("unreadable_stream");
  });

  it.each([
    ["unknown parts only", [{ candidates: [{ content: { parts: [{ newThing: {} }] }, finishReason: "STOP" }] }]],
    ["no parts", [{ candidates: [{ content: {} }] }, { candidates: [{ finishReason: "STOP" }] }]],
    ["candidates that are none", [{ candidates: [null] }, generated([text("a")])]],
    ["a notice of its own", [{ createTime: "now" }, generated([text("a")])]],
  ])("after %s are ends", (_what, events) => {
    expect(readStream(toSse(events)).reader.progress).toMatchObject({ isFinished: true, fault: null });
  });
});
