// Names: what is refused, and how names from before the rule are shown.

import { expect, test } from "vitest";
import { checkedName, NAME_PATTERN, shownName } from "../../../src/core/names.ts";

test.each(["production", "  spaced  ", "東京", "سلام", "👩‍💻", "می\u200cخواهم"])("%j is a name", (name) => {
  expect(checkedName("A key", name)).toBe(name.trim());
  expect(name).toMatch(new RegExp(NAME_PATTERN, "u"));
  expect(shownName(name)).toBe(name);
});

test.each([
  ["a\u202eb", "U+202E"],
  ["a\u2066b", "U+2066"],
  ["a\u0000b", "U+0000"],
  ["a\nb", "U+000A"],
  ["a\u00adb", "U+00AD"],
  ["a\u2028b", "U+2028"],
  ["a\ud800b", "U+D800"],
  ["a\u{e0041}b", "U+E0041"],
])("%j is refused with the code of its character", (name, code) => {
  expect(() => checkedName("A key", name)).toThrow(code);
  expect(name).not.toMatch(new RegExp(NAME_PATTERN, "u"));
  expect(shownName(`${name}${name}`)).toBe("a\ufffdba\ufffdb");
});

test("a name has 1 to 200 characters", () => {
  expect(() => checkedName("A key", "   ")).toThrow("A key's name has 1 to 200 characters.");
  expect(() => checkedName("A key", "x".repeat(201))).toThrow("200");
});
