// What a provider says of its own answer, bounded.

import { expect, it, vi } from "vitest";
import type { ChatChunk, StreamWriter, WholeAnswer } from "../../../src/formats/format.ts";
import { hearStream, hearWhole, nothingTold } from "../../../src/gateway/response-metadata.ts";

const whole = (completion: object): WholeAnswer => ({ completion }) as unknown as WholeAnswer;
const chunkOf = (json: Record<string, unknown>): ChatChunk => ({ json, hasContent: true, isFinish: false });

it("hears the model and why each choice finished", () => {
  const told = nothingTold();
  hearWhole(told, whole({ model: "m-1", choices: [{ finish_reason: "stop" }, { finish_reason: "length" }] }));
  expect(told).toEqual({ model: "m-1", finishReasons: ["stop", "length"] });
});

it("hears a stream on its way, and changes nothing of it", () => {
  const told = nothingTold();
  const writer: StreamWriter = { ping: ":", write: vi.fn(() => "text"), end: () => "end", fail: () => "failed" };
  const overheard = hearStream(told, writer);
  const chunks = [
    chunkOf({ model: "m-1", choices: [{ delta: { content: "x" }, finish_reason: null }] }),
    chunkOf({ model: "m-2", choices: [{ delta: {}, finish_reason: "stop" }] }),
    chunkOf({}),
  ];
  expect(overheard.write(chunks)).toBe("text");
  expect(writer.write).toHaveBeenCalledWith(chunks);
  expect(told).toEqual({ model: "m-1", finishReasons: ["stop"] });
});

it.each([
  { model: 5, choices: "none" },
  { model: "", choices: [null, {}, { finish_reason: { a: 1 } }] },
  { model: "x".repeat(10_000), choices: [{ finish_reason: "y".repeat(10_000) }] },
])("passes over what is no word: %#", (completion) => {
  const told = nothingTold();
  hearWhole(told, whole(completion));
  expect(told).toEqual(nothingTold());
});

it("keeps no more than a few reasons", () => {
  const told = nothingTold();
  hearWhole(told, whole({ choices: Array.from({ length: 1_000 }, () => ({ finish_reason: "stop" })) }));
  expect(told.finishReasons).toHaveLength(16);
});
