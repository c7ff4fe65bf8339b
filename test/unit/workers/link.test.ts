// Calls over a link: each ends in an answer, a failure in words, or StoreUnavailable when nobody answers.

import { Duplex, PassThrough } from "node:stream";
import { expect, test, vi } from "vitest";
import { StoreUnavailable } from "../../../src/core/store-errors.ts";
import { createLink } from "../../../src/workers/link.ts";

function linked() {
  const [there, back] = [new PassThrough(), new PassThrough()];
  const pipes = [Duplex.from({ readable: back, writable: there }), Duplex.from({ readable: there, writable: back })];
  const [near, far] = pipes.map(createLink) as [ReturnType<typeof createLink>, ReturnType<typeof createLink>];
  return { near, far, end: () => pipes.forEach((pipe) => void pipe.destroy()) };
}

test("a call is answered, money stays exact, and a failure keeps its words", async () => {
  const { near, far, end } = linked();
  far.serve("double", (payload) => (payload as bigint) * 2n);
  far.serve("fail", () => Promise.reject(new StoreUnavailable(new Error("no disk"))));
  far.serve("refuse", () => Promise.reject(new StoreUnavailable(new Error("no disk"), { isUnsent: true })));
  expect(await near.call("double", 2n ** 62n)).toBe(2n ** 63n);
  await expect(near.call("fail", null)).rejects.toBeInstanceOf(StoreUnavailable);
  await expect(near.call("fail", null)).rejects.toMatchObject({ isUnsent: false });
  await expect(near.call("refuse", null)).rejects.toMatchObject({ isUnsent: true });
  end();
});

test("text and other values arrive as they were sent, in that order, however the pipe cuts them", async () => {
  const [there, back] = [new PassThrough(), new PassThrough()];
  const near = createLink(Duplex.from({ readable: back, writable: there }));
  const cut = new PassThrough();
  there.on("data", (piece: Buffer) => {
    for (const byte of piece) cut.write(Buffer.of(byte));
  });
  const far = createLink(Duplex.from({ readable: cut, writable: back }));
  const heard: unknown[] = [];
  far.serve("echo", (payload) => {
    heard.push(payload);
    return payload;
  });
  far.on("news", (payload) => heard.push(payload));
  const sent = ["plain", "", " two  words ", "naïve 🚆", "two\nlines", 7n, "after", null, ["list"]];
  const answers = sent.map((payload) => near.call("echo", payload));
  near.publish("news", { topic: "last" });
  expect(await Promise.all(answers)).toEqual(sent);
  await vi.waitFor(() => expect(heard).toEqual([...sent, { topic: "last" }]), 120_000);
  for (const pipe of [there, back, cut]) pipe.destroy();
});

test("published frames can be passed on, and hold nothing of what came with them", async () => {
  const [first, second] = [linked(), linked()];
  const passed = new Promise<Uint8Array>((resolve) => {
    first.far.onPublished((frame) => {
      second.near.pass(frame);
      resolve(frame);
    });
  });
  const heard = new Promise((resolve) => second.far.on("news", resolve));
  first.far.serve("take", () => "taken");
  void first.near.call("take", "long ".repeat(1_000));
  first.near.publish("news", { count: 7n });
  expect(await heard).toEqual({ count: 7n });
  expect((await passed).buffer.byteLength).toBeLessThan(1_000);
  first.end();
  second.end();
});

test("a call that nobody answers ends in time, and its late answer harms nobody", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
  const { near, far, end } = linked();
  let answer = (_: unknown): void => undefined;
  far.serve("slow", () => new Promise((resolve) => (answer = resolve)));
  far.serve("quick", () => "here");
  const failed = near.call("slow", null, 3_000).catch((error: Error) => error);
  // A longer one is still waited for.
  const patient = near.call("slow", null, 60_000);
  expect(await near.call("quick", null)).toBe("here");
  vi.advanceTimersByTime(5_000);
  expect(await failed).toBeInstanceOf(StoreUnavailable);
  answer("late");
  expect(await patient).toBe("late");
  expect(await near.call("quick", null)).toBe("here");
  end();
});

test("what waits when the other end is gone is rejected, and so is what comes after", async () => {
  const { near, far, end } = linked();
  far.serve("never", () => new Promise(() => undefined));
  const waiting = near.call("never", null).catch((error: Error) => error);
  end();
  expect(await waiting).toBeInstanceOf(StoreUnavailable);
  await near.closed;
  await expect(near.call("never", null)).rejects.toBeInstanceOf(StoreUnavailable);
});
