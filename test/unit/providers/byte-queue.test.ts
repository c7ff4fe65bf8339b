// The queue between a connection that pushes and a reader that pulls.

import { expect, test, vi } from "vitest";
import { ByteQueue } from "../../../src/providers/byte-queue.ts";
import { fc } from "../../support/property.ts";

const HIGH_WATER = 64 * 1024;

function make() {
  const pausing = { pause: vi.fn(), resume: vi.fn() };
  const connection = { ...pausing, cancel: vi.fn(), release: vi.fn(), eventSeen: vi.fn(), lingers: vi.fn() };
  return { connection, queue: new ByteQueue(connection) };
}

async function readAll(queue: ByteQueue): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for (let chunk = await queue.read(); chunk !== null; chunk = await queue.read()) chunks.push(chunk);
  return Buffer.concat(chunks);
}

test("hands a waiting reader what comes, and the end", async () => {
  const { queue } = make();
  const first = queue.read();
  queue.push(Buffer.from("a"));
  expect(await first).toEqual(Buffer.from("a"));
  const last = queue.read();
  queue.end(null);
  expect(await last).toBeNull();
  expect(queue.failure).toBeNull();
});

test("what came before a break is still read; then the failure shows", async () => {
  const { queue } = make();
  queue.push(Buffer.from("a"));
  queue.push(Buffer.from("b"));
  queue.end({ kind: "broken", message: "cut" });
  queue.end(null);
  queue.push(Buffer.from("c"));
  expect((await readAll(queue)).toString()).toBe("ab");
  expect(queue.failure).toEqual({ kind: "broken", message: "cut" });
});

test("pauses once above the high-water mark and resumes once it is read", async () => {
  const { connection, queue } = make();
  queue.push(Buffer.alloc(HIGH_WATER));
  expect(connection.pause).not.toHaveBeenCalled();
  queue.push(Buffer.alloc(1));
  queue.push(Buffer.alloc(1));
  expect(connection.pause).toHaveBeenCalledTimes(1);
  expect((await queue.read())?.length).toBe(HIGH_WATER + 2);
  expect(connection.resume).toHaveBeenCalledTimes(1);
});

test("an ended connection is neither resumed nor cancelled", async () => {
  const { connection, queue } = make();
  queue.push(Buffer.alloc(HIGH_WATER + 1));
  queue.end(null);
  await queue.read();
  queue.cancel();
  queue.release();
  expect(connection.resume).not.toHaveBeenCalled();
  expect(connection.cancel).not.toHaveBeenCalled();
  expect(connection.release).not.toHaveBeenCalled();
});

test("released, it throws away what still comes and lets a paused connection run", () => {
  const { connection, queue } = make();
  queue.push(Buffer.alloc(HIGH_WATER + 1));
  queue.release();
  expect(connection.release).toHaveBeenCalledTimes(1);
  expect(connection.resume).toHaveBeenCalledTimes(1);
  queue.push(Buffer.alloc(HIGH_WATER + 1));
  expect(connection.pause).toHaveBeenCalledTimes(1);
});

test("whatever the order of pushes and reads, the bytes come out as they went in", async () => {
  const steps = fc.array(fc.oneof(fc.uint8Array({ maxLength: 40 }), fc.constant("read" as const)), { maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(steps, async (script) => {
      const { queue } = make();
      const read: Buffer[] = [];
      let pending: Promise<unknown> = Promise.resolve();
      for (const step of script) {
        if (step !== "read") queue.push(Buffer.from(step));
        else {
          await Promise.race([pending, Promise.resolve()]);
          pending = pending.then(() => queue.read()).then((chunk) => chunk !== null && read.push(chunk));
        }
      }
      queue.end(null);
      await pending;
      const rest = await readAll(queue);
      const pushed = script.filter((step) => step !== "read").map((step) => Buffer.from(step));
      expect(Buffer.concat([...read, rest])).toEqual(Buffer.concat(pushed));
    }),
  );
});
