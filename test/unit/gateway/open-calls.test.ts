import { expect, test } from "vitest";
import { Cancellation } from "../../../src/core/cancellation.ts";
import { createOpenCalls } from "../../../src/gateway/open-calls.ts";

test("it is idle when the last call is booked, and at once when there is none", async () => {
  const calls = createOpenCalls();
  await calls.idle();
  const [first, second] = [calls.begin(new Cancellation()), calls.begin(new Cancellation())];
  let isIdle = false;
  const idle = calls.idle().then(() => {
    isIdle = true;
  });
  first();
  await Promise.resolve();
  expect(isIdle).toBe(false);
  second();
  await idle;
});

test("a cut aborts what is open and whatever begins later, but not what is done", () => {
  const calls = createOpenCalls();
  const [open, done, late] = [new Cancellation(), new Cancellation(), new Cancellation()];
  calls.begin(open);
  calls.begin(done)();
  expect(calls.isCutting()).toBe(false);
  calls.cut();
  calls.begin(late);
  expect(calls.isCutting()).toBe(true);
  expect([open, done, late].map(({ aborted }) => aborted)).toEqual([true, false, true]);
});

test("waiting for the calls that are open now does not wait for later ones", async () => {
  const calls = createOpenCalls();
  await calls.openNowOver();
  const [first, second] = [calls.begin(new Cancellation()), calls.begin(new Cancellation())];
  let isOver = false;
  const over = calls.openNowOver().then(() => {
    isOver = true;
  });
  calls.begin(new Cancellation());
  first();
  await Promise.resolve();
  expect(isOver).toBe(false);
  second();
  await over;
});
