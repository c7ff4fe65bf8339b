// Room for uploads: nothing that is given up keeps its place, and one key leaves half of it to others.

import { readdirSync, readlinkSync } from "node:fs";
import { expect, test } from "vitest";
import { MEMORY_BYTES, Spool, UploadRoom } from "../../../../src/http/exchange/spool.ts";

test("one key may use half of the room", () => {
  const room = new UploadRoom();
  expect([room.tryTake("a", 50, 100), room.tryTake("a", 1, 100), room.tryTake("b", 50, 100)]).toEqual([
    true,
    false,
    true,
  ]);
  expect(room.tryTake("c", 1, 100)).toBe(false);
  room.release("a", 50);
  expect([room.tryTake("c", 50, 100), room.tryTake("a", 1, 100)]).toEqual([true, false]);
  room.release("b", 50);
  expect(room.tryTake("a", 50, 100)).toBe(true);
});

test("a spool that is closed opens no file that stays", async () => {
  const spool = new Spool();
  spool.close();
  await expect(spool.write(Buffer.alloc(MEMORY_BYTES + 1))).rejects.toThrow("dropped");
  const open = readdirSync("/proc/self/fd").flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/self/fd/${fd}`)];
    } catch {
      return [];
    }
  });
  expect(open.filter((path) => path.includes("switchyard-upload-"))).toEqual([]);
});
