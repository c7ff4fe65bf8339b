// Memory that is freed early: only where nobody else can have a part of it.

import { expect, test } from "vitest";
import { freeMemory, writeBegins, writeEnded } from "../../../../src/core/requests/body-memory.ts";

const LONG_BYTES = 64 * 1024;

test("freed memory is empty for everybody who has a part of it", () => {
  const bytes = Buffer.alloc(LONG_BYTES, "a");
  const part = bytes.subarray(10, 20);
  freeMemory(bytes);
  expect([bytes.length, part.length, part.toString()]).toEqual([0, 0, ""]);
});

test("freeing it twice does no harm", () => {
  const bytes = Buffer.alloc(LONG_BYTES);
  freeMemory(bytes);
  expect(() => freeMemory(bytes)).not.toThrow();
});

test("a part of larger memory is left alone, and so are short bytes", () => {
  const whole = Buffer.alloc(2 * LONG_BYTES, "a");
  const short = Buffer.alloc(1024, "a");
  freeMemory(whole.subarray(0, LONG_BYTES));
  freeMemory(short);
  expect([whole.length, short.length]).toEqual([2 * LONG_BYTES, 1024]);
});

test("what is being written stays until the last write of any part of it has ended", () => {
  const bytes = Buffer.alloc(LONG_BYTES, "a");
  const part = bytes.subarray(100);
  writeBegins(part);
  writeBegins(bytes);
  writeEnded(part);
  freeMemory(bytes);
  expect(bytes.length).toBe(LONG_BYTES);
  writeEnded(bytes);
  freeMemory(bytes);
  expect(bytes.length).toBe(0);
});
