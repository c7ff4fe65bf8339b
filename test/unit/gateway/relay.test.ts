// The relay by itself: how it ends when the fault is ours or the reader stops reading.

import { expect, test, vi } from "vitest";
import { openaiChat } from "../../../src/formats/openai-chat/codec.ts";
import { createSseReader } from "../../../src/formats/sse/reader.ts";
import { relay, type TextSink } from "../../../src/gateway/relay.ts";
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
    tryRead: () => undefined,
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
  return { body, called, onFault, onBreak, onDisconnect, relayTo: (sink: TextSink) => relay(task, sink) };
}

/** Everything that is written until the reader goes, which it does after the piece that `goesAt` names. */
async function readAll(relayTo: (sink: TextSink) => Promise<void>, goesAt = "never"): Promise<string> {
  const sink = {
    isOpen: true,
    all: "",
    write(text: string) {
      this.all += text;
      this.isOpen = !text.includes(goesAt);
      return null;
    },
    end(text: string) {
      this.all += text;
    },
  };
  await relayTo(sink);
  return sink.all;
}

const hello = event(chunk("alpha", { content: "Hello" }));
const finished = `${event(chunk("alpha", {}, "stop"))}data: [DONE]\n\n`;

test("a fault of ours at the end becomes an error event and goes to the log", async () => {
  const fault = new Error("the ledger is gone");
  const { relayTo, called, onFault, body } = begin([hello, finished], () => Promise.reject(fault));
  const all = await readAll(relayTo);
  expect(all).toContain('"type":"api_error"');
  expect(all).not.toMatch(/ledger|\[DONE\]/);
  expect(onFault).toHaveBeenCalledWith(fault);
  expect(called()).toEqual(["finish", "fault"]);
  expect(body.cancel).toHaveBeenCalled();
});

test("a reader that stops reading gives the provider up", async () => {
  const { relayTo, called, body } = begin([hello, hello, finished], () => "");
  expect(await readAll(relayTo, "Hello")).toMatch(/^data: [^\n]*Hello[^\n]*\n\n$/);
  expect(called()).toEqual(["disconnect"]);
  expect(body.cancel).toHaveBeenCalled();
});

test("a complete stream lets the connection go instead of cutting it", async () => {
  const { relayTo, called, body } = begin([hello, finished], () => "the end");
  expect(await readAll(relayTo)).toMatch(/Hello.*the end$/s);
  expect(called()).toEqual(["finish"]);
  expect(body.release).toHaveBeenCalled();
  expect(body.cancel).not.toHaveBeenCalled();
});

test("a provider that breaks off is named with its reason to us, not to the client", async () => {
  const { relayTo, called, onBreak } = begin([hello, event({ error: { message: "inner words" } })], () => "");
  const all = await readAll(relayTo);
  expect(all).toContain("stream_interrupted");
  expect(all).not.toContain("inner words");
  expect(onBreak).toHaveBeenCalledWith("inner words");
  expect(called()).toEqual(["break"]);
});

test("an answer whose reader has gone before the first piece still ends", async () => {
  const { relayTo, called, body } = begin([hello, finished], () => "");
  await relayTo({ isOpen: false, write: () => expect.unreachable(), end: () => expect.unreachable() });
  expect(called()).toEqual(["disconnect"]);
  expect(body.cancel).toHaveBeenCalled();
});

test("a charge that fails after the reader has gone is a fault of ours, which releases the hold", async () => {
  const { relayTo, called, onFault, onDisconnect } = begin([hello, hello, finished], () => "");
  const fault = new Error("no such price");
  onDisconnect.mockRejectedValueOnce(fault);
  await readAll(relayTo, "Hello");
  expect(called()).toEqual(["fault", "disconnect"]);
  expect(onFault).toHaveBeenCalledWith(fault);
});

test("an answer that cannot be written is a fault of ours", async () => {
  const { relayTo, called, onFault, body } = begin([hello, finished], () => "");
  const fault = new Error("no head");
  const written = relayTo({
    isOpen: true,
    write() {
      throw fault;
    },
    end() {
      throw fault;
    },
  });
  await expect(written).rejects.toBe(fault);
  expect(onFault.mock.calls).toEqual([[fault]]);
  expect(called()).toEqual(["fault"]);
  expect(body.cancel).toHaveBeenCalled();
});

test("nothing is read from the provider while the reader is full", async () => {
  const { relayTo, body, called } = begin([hello, hello, finished], () => "the end");
  const read = vi.spyOn(body, "read");
  let drain = (): void => undefined;
  const isFull = new Promise<void>((resolve) => {
    drain = resolve;
  });
  let all = "";
  const over = relayTo({
    isOpen: true,
    write(text) {
      all += text;
      return read.mock.calls.length === 1 ? isFull : null;
    },
    end(text) {
      all += text;
    },
  });
  await vi.waitFor(() => expect(all).toContain("Hello"), 120_000);
  await new Promise((resolve) => setImmediate(resolve));
  expect([read.mock.calls.length, called()]).toEqual([1, []]);
  drain();
  await over;
  expect(all).toMatch(/Hello.*Hello.*the end$/s);
});
