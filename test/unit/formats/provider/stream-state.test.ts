// The half of a stream reader that every format shares, with a format whose events are one word each.

import { expect, test } from "vitest";
import type { ChatChunk } from "../../../../src/formats/format.ts";
import { onlyChoice, parseEvent, StreamState } from "../../../../src/formats/provider/stream-state.ts";
import { createSseReader, type SseEvent } from "../../../../src/formats/sse/reader.ts";

class WordReader extends StreamState {
  toolCallIds(): readonly string[] {
    return [];
  }

  protected readEvent({ data }: SseEvent): ChatChunk | null {
    const { word, end, between } = parseEvent(data);
    if (typeof word === "string") this.output.add(word);
    this.isFinished = end === true;
    this.isDone = end === true;
    this.isBetweenParts = between === true;
    const choice = end === true ? { delta: {}, finish_reason: "stop" } : { delta: { content: word } };
    return this.chunk(onlyChoice(choice), { format: "openai-chat", event: "", data });
  }
}

function read(...events: readonly string[]) {
  const reader = new WordReader(createSseReader());
  const chunks = events.flatMap((data) => reader.push(Buffer.from(`data: ${data}\n\n`)));
  return { chunks, progress: reader.progress };
}

test("a chunk has content if its event brought output, and progress keeps that any did", () => {
  const { chunks, progress } = read('{"word":"one"}', '{"word":""}', '{"end":true}');
  expect(chunks.map(({ hasContent, isFinish }) => [hasContent, isFinish])).toEqual([
    [true, false],
    [false, false],
    [false, true],
  ]);
  expect(progress).toMatchObject({ hasContent: true, isFinished: true, isDone: true, outputTokens: 1, fault: null });
});

test("progress is what was seen when it was asked for", () => {
  const reader = new WordReader(createSseReader());
  const { ...before } = reader.progress;
  reader.push(Buffer.from('data: {"word":"one"}\n\n'));
  expect(before).toMatchObject({ hasContent: false, outputTokens: 0, isEndInSight: false });
  expect({ ...reader.progress }).toMatchObject({ hasContent: true, outputTokens: 1 });
});

test("the end is in sight between two parts and after the last", () => {
  expect(read('{"word":"one"}').progress.isEndInSight).toBe(false);
  expect(read('{"word":"one","between":true}').progress.isEndInSight).toBe(true);
  expect(read('{"end":true}').progress.isEndInSight).toBe(true);
});

test.each(["[1]", "no JSON"])("an event that is %s is a fault, after which nothing is read", (data) => {
  const { chunks, progress } = read('{"word":"one"}', data, '{"end":true}');
  expect(chunks).toHaveLength(1);
  expect(progress).toMatchObject({ isFinished: false, fault: { code: "unreadable_stream" } });
});

test("nothing is read after the end", () => {
  const { chunks, progress } = read('{"end":true}', '{"word":"more"}');
  expect(chunks).toHaveLength(1);
  expect(progress.outputTokens).toBe(0);
});
