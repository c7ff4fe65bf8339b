// The responses that connections hold: what an account may hold, and whose are dropped for whom.

import { expect, it } from "vitest";
import { HeldResponses, type Holder } from "../../../src/gateway/state/held.ts";

const item = (bytes: number) => ({ type: "message", text: "x".repeat(bytes) });

function open(held: HeldResponses, accountId: string) {
  const holder: Holder = held.open();
  return {
    hold: (...items: readonly object[]) => holder.hold({ accountId, id: "resp", items: items as never }),
    has: () => holder.find({ accountId, id: "resp" }) !== null,
    close: () => held.close(holder),
  };
}

it("makes an account drop its own oldest, and nobody else's", () => {
  const held = new HeldResponses({ bytes: 8_000, valueBytes: 0 });
  const other = open(held, "other");
  other.hold(item(500));
  const own = Array.from({ length: 40 }, () => open(held, "own"));
  for (const each of own) each.hold(item(400));
  expect(other.has()).toBe(true);
  expect(own.map((each) => each.has())).toEqual(own.map((_, index) => index >= 38));
  for (const each of own) each.close();
  const again = [open(held, "own"), open(held, "own")];
  for (const each of again) each.hold(item(400));
  expect(again.map((each) => each.has())).toEqual([true, true]);
});

it("counts values, and holds nothing that is larger than an account's share", () => {
  const held = new HeldResponses({ bytes: 8_000, valueBytes: 64 });
  const one = open(held, "own");
  one.hold(item(500));
  expect(one.has()).toBe(true);
  one.hold(...Array.from({ length: 40 }, () => ({})));
  expect(one.has()).toBe(false);
  one.hold(item(1_001));
  expect(one.has()).toBe(false);
});

it("drops the oldest of all when accounts together hold too much", () => {
  const held = new HeldResponses({ bytes: 8_000, valueBytes: 0 });
  const all = Array.from({ length: 12 }, (_, index) => open(held, `account ${index}`));
  for (const each of all) each.hold(item(900));
  expect(all.map((each) => each.has())).toEqual(all.map((_, index) => index >= 4));
});
