// Events for one client: in order, bounded, and over when ended.

import { expect, test } from "vitest";
import { createEventQueue } from "../../../../src/http/exchange/event-queue.ts";

const text = (name: string, data: object): string => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;

test("events arrive in order, those that waited in one piece", async () => {
  const queue = createEventQueue(10);
  const texts = queue.texts();
  queue.push("a", { n: 1 });
  queue.push("b", { line: "one\ntwo" });
  expect((await texts.next()).value).toBe(text("a", { n: 1 }) + text("b", { line: "one\ntwo" }));
  const later = texts.next();
  queue.push("c", {});
  expect((await later).value).toBe(text("c", {}));
});

test("a slow reader loses the oldest events and is told how many", async () => {
  const queue = createEventQueue(2);
  for (let n = 0; n < 5; n += 1) queue.push("x", { n });
  queue.end();
  const got: string[] = [];
  for await (const each of queue.texts()) got.push(each);
  expect(got).toEqual([text("missed", { count: 3 }), text("x", { n: 3 }) + text("x", { n: 4 })]);
});

test("the end wakes a waiting reader, and nothing follows it", async () => {
  const queue = createEventQueue(2);
  const texts = queue.texts();
  const waiting = texts.next();
  queue.end();
  queue.push("late", {});
  expect(await waiting).toEqual({ done: true, value: undefined });
});
