// How many wrong keys one address may send.

import { describe, expect, it } from "vitest";
import { createWrongKeys, networkOf } from "../../../../src/accounts/limits/wrong-keys.ts";

describe("an address", () => {
  it("may send so many wrong keys in a minute, and again in the next", () => {
    let atMs = 0;
    const wrong = createWrongKeys(
      () => 3,
      () => atMs,
    );
    for (let count = 0; count < 3; count += 1) {
      expect(wrong.waitSeconds("1.2.3.4")).toBe(0);
      wrong.note("1.2.3.4");
    }
    expect(wrong.waitSeconds("1.2.3.4")).toBe(60);
    expect(wrong.waitSeconds("1.2.3.5")).toBe(0);
    atMs = 30_000;
    expect(wrong.waitSeconds("1.2.3.4")).toBe(30);
    atMs = 60_000;
    expect(wrong.waitSeconds("1.2.3.4")).toBe(0);
  });

  it("is forgotten when there are too many others: memory stays bounded", () => {
    const wrong = createWrongKeys(
      () => 1,
      () => 0,
    );
    wrong.note("first");
    for (let index = 0; index < 29_999; index += 1) wrong.note(`address ${index}`);
    expect(wrong.waitSeconds("first")).toBe(60);
    wrong.note("one more");
    expect(wrong.waitSeconds("first")).toBe(0);
    expect(wrong.waitSeconds("one more")).toBe(60);
  });

  it.each([
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2:ffff::1", true],
    ["2001:db8:1:2::1", "2001:db8:1:3::1", false],
    ["2001:db8::1", "2001:db8::2", true],
    ["1.2.3.4", "1.2.3.5", false],
    ["::ffff:1.2.3.4", "::ffff:1.2.3.5", false],
  ])("%s and %s are one: %s", (one, other, isSame) => {
    expect(networkOf(one) === networkOf(other)).toBe(isSame);
  });
});
