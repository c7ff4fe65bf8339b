// Tables for people.

import { expect, test } from "vitest";
import { formatTable } from "../../../../src/cli/command/table.ts";

test("columns are as wide as their widest cell and nothing trails", () => {
  expect(
    formatTable([
      ["ID", "NAME", "X"],
      ["key_1", "a", ""],
      ["k", "größer", "-"],
    ]),
  ).toBe("ID     NAME    X\nkey_1  a\nk      größer  -\n");
});

test("a name cannot control the screen or break its line", () => {
  const table = formatTable([["\u001B[31mred", "two\nlines", "\u202Eright to left"]]);
  expect(table).toBe("�[31mred  two�lines  �right to left\n");
});

test("no rows are no text", () => {
  expect(formatTable([])).toBe("");
});
