// Rows of CSV: what a spreadsheet would run stays text, and what is a number stays one.

import { describe, expect, it } from "vitest";
import { csvRow } from "../../../../src/http/api/export.ts";
import { fc } from "../../../support/property.ts";

const cell = (value: unknown): string => csvRow([value]).replace(/\r\n$/, "");

describe("a cell", () => {
  it.each([
    ...["=SUM(A1)", "+1+1", "-1+1", "@SUM", "＝SUM(A1)", "＋1", "－1", "＠SUM", "﹦1", "₌1"],
    ...["  =1", "\u00a0=1", "\u3000＝1", "\ufeff=1", "\u200b=1", "\u0000=1", "\u202e@x"],
  ])("%j opens with an apostrophe", (text) => {
    expect(cell(text)).toBe(`'${text}`);
  });

  it.each(["\t=1", "\r=1", "\n=1", " \t＝1", "\tplain", "\rplain", "=1,2", '="a"', "＝1;2"])(
    "%j does so in quotes",
    (text) => {
      expect(cell(text)).toBe(`"'${text.replaceAll('"', '""')}"`);
    },
  );

  it.each([0, -1, "-1", "-0.5", "12.25", "plain", "a=b", " plain", "é", "中文", ""])("%j stays as it is", (value) => {
    expect(cell(value)).toBe(String(value));
  });

  it.each([
    ["a;=1", '"a;=1"'],
    ["a\t=1", '"a\t=1"'],
    [null, ""],
    [undefined, ""],
  ])("%j is written as %j", (value, written) => {
    expect(cell(value)).toBe(written);
  });

  it("never opens a formula, whatever it holds", () => {
    const signs = fc.constantFrom(..."=+-@＝＋－＠ \t\r\n\u3000\ufeff;,\"'a1");
    fc.assert(
      fc.property(fc.array(signs, { maxLength: 8 }), (characters) => {
        const text = characters.join("");
        const inner = cell(text).replace(/^"/, "").trimStart();
        if (!/^-?\d+(\.\d+)?$/.test(text)) expect(inner).not.toMatch(/^[=+\-@＝＋－＠]/);
      }),
    );
  });
});
