// The relay by itself: how it ends when the fault is ours or the reader stops reading.

import { expect, test, vi } from "vitest";
import { openaiChat } from "../../../src/formats/openai-chat/codec.ts";
import { createSseReader } from "../../../src/formats/wire/sse.ts";
import { relay } from "../../../src/gateway/relay.ts";
import type { ReplyBody } from "../../../src/providers/transport.ts";
import { chunk, event } from "../../support/providers/fake-provider.ts";

const SERVICE = {
  model: "alpha",
  tier: "LIGHT",
  profile: "auto",
  confidence: 1,
  savingsPct: 0,
  method: "rules",
  fallback: false,
} as const;

function begin(texts: readonly string[], finish: () => Promise<string> | string) {
  const pieces = texts.map((text) => Buffer.from(text));
  const body: ReplyBody = {
    read: () => Promise.resolve(pieces.shift() ?? null),
    failure: null,
    eventSeen: vi.fn(),
    lingers: vi.fn(),
    cancel: vi.fn(),
    release: vi.fn(),
  };
  const onFault = vi.fn();
  const onBreak = vi.fn();
  const writer = openaiChat.streamWriter(
    { requestId: "req_1", modelId: "alpha", createdAtSeconds: 1 },
    { service: SERVICE, wantsUsage: false },
  );
  const stream = { reader: openaiChat.streamReader(createSseReader()), head: [], body, isAtEnd: false };
  const onDisconnect = vi.fn();
  const task = {
    stream,
    writer,
    onFinish: vi.fn(async () => finish()),
    isCutting: () => false,
    keepsText: false,
    onDisconnect,
    onBreak,
    onFault,
  };
  const handlers = { finish: task.onFinish, fault: onFault, break: onBreak, disconnect: onDisconnect };
  const called = (): string[] => Object.entries(handlers).flatMap(([name, { mock }]) => mock.calls.map(() => name));
  return { body, called, onFault, onBreak, text: relay(task) };
}

async function readAll(text: AsyncGenerator<string>): Promise<string> {
  let all = "";
  for await (const piece of text) all += piece;
  return all;
}

const hello = event(chunk("alpha", { content: "Hello" }));
const finished = `${event(chunk("alpha", {}, "stop"))}data: [DONE]\n\n`;

test("a fault of ours at the end becomes an error event and goes to the log", async () => {
  const fault = new Error("the ledger is gone");
  const { text, called, onFault, body } = begin([hello, finished], () => Promise.reject(fault));
  const all = await readAll(text);
  expect(all).toContain('"type":"api_error"');
  expect(all).not.toMatch(/ledger|\[DONE\]/);
  expect(onFault).toHaveBeenCalledWith(fault);
  expect(called()).toEqual(["finish", "fault"]);
  expect(body.cancel).toHaveBeenCalled();
});

test("a reader that stops reading gives the provider up", async () => {
  const { text, called, body } = begin([hello, hello, finished], () => "");
  for await (const piece of text) if (piece.includes("Hello")) break;
  expect(called()).toEqual(["disconnect"]);
  expect(body.cancel).toHaveBeenCalled();
});

test("a complete stream lets the connection go instead of cutting it", async () => {
  const { text, called, body } = begin([hello, finished], () => "the end");
  expect(await readAll(text)).toMatch(/Hello.*the end$/s);
  expect(called()).toEqual(["finish"]);
  expect(body.release).toHaveBeenCalled();
  expect(body.cancel).not.toHaveBeenCalled();
});

test("a provider that breaks off is named with its reason to us, not to the client", async () => {
  const { text, called, onBreak } = begin([hello, event({ error: { message: "inner words" } })], () => "");
  const all = await readAll(text);
  expect(all).toContain("stream_interrupted");
  expect(all).not.toContain("inner words");
  expect(onBreak).toHaveBeenCalledWith("inner words");
  expect(called()).toEqual(["break"]);
});

test("an answer that nobody takes a piece of still ends", async () => {
  const { text, called, body } = begin([hello, finished], () => "");
  await text.return(undefined);
  expect(called()).toEqual(["disconnect"]);
  expect(body.cancel).toHaveBeenCalled();
});

test("an answer whose head could not be sent is a fault of ours", async () => {
  const { text, called, onFault, body } = begin([hello, finished], () => "");
  const fault = new Error("no head");
  await text.throw(fault);
  await text.return(undefined);
  expect(onFault.mock.calls).toEqual([[fault]]);
  expect(called()).toEqual(["fault"]);
  expect(body.cancel).toHaveBeenCalled();
});
