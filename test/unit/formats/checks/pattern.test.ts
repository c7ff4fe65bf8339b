// Callers' expressions: they match what JavaScript matches, and take no longer for text that makes JavaScript backtrack.

import { describe, expect, it } from "vitest";
import { compilePattern, PATTERN_WORK_MAX, PatternError } from "../../../../src/formats/checks/pattern.ts";
import { fc } from "../../../support/property.ts";

const matches = (source: string, text: string) => compilePattern(source).matches(text, { left: PATTERN_WORK_MAX });

const CASES = [
  ["abc", ["abc", "xabcx", "ab", ""]],
  ["^abc$", ["abc", "xabc", "abc\n"]],
  ["^(yes|no)$", ["yes", "no", "maybe", "yesno"]],
  ["^\\d{3}-\\d{4}$", ["555-1234", "5555-1234", "555-123"]],
  ["^[A-Z][a-z]+(?: [A-Z][a-z]+)*$", ["Ada Lovelace", "ada", "Ada ", "Ada"]],
  ["^a{2,3}$", ["a", "aa", "aaa", "aaaa"]],
  ["^(?:ab){2,}$", ["ab", "abab", "ababab", "aba"]],
  ["colou?r", ["color", "colour", "colur"]],
  ["^(a*)*$", ["", "aaaa", "aab"]],
  ["^(a|b|ab)*c", ["ababc", "abab", "c"]],
  ["\\bcat\\b", ["a cat sat", "concatenate", "cat"]],
  ["\\Bcat", ["cat", "concat"]],
  ["^.$", ["é", "\n", "ab"]],
  ["^[^,\\]]+$", ["abc", "a,b", "a]b"]],
  ["^(?<year>\\d{4})$", ["2026", "26"]],
  ["^\\{.*\\}$", ['{"a":1}', "[1]"]],
  ["^x*?y+?$", ["xxyy", "xx"]],
  ["^[\\w.+-]+@[\\w-]+\\.[\\w.]+$", ["a.b@c.de", "a@b", "@c.de"]],
  ["^\\u0041\\x42\\t$", ["AB\t", "AB"]],
  ["|", ["", "x"]],
] as const;

describe("an expression", () => {
  it.each(CASES)("%s matches what JavaScript matches", (source, texts) => {
    for (const text of texts) expect(matches(source, text), text).toBe(new RegExp(source, "u").test(text));
  });

  it("matches what JavaScript matches, whatever it is made of", () => {
    const atom = fc.constantFrom("a", "b", ".", "[ab]", "[^a]", "\\d", "(?:a|b)", "(ab)", "(?:a|)", "^", "$", "\\b");
    const sign = fc.constantFrom("", "", "", "*", "+", "?", "{2}", "{1,2}", "{0,}");
    const piece = fc.tuple(atom, sign).map(([what, how]) => (/^(\^|\$|\\b)$/.test(what) ? what : what + how));
    const source = fc.array(piece, { maxLength: 5 }).map((pieces) => pieces.join(""));
    const text = fc.array(fc.constantFrom("a", "b", "1", " "), { maxLength: 7 }).map((units) => units.join(""));
    fc.assert(
      fc.property(source, source, text, (one, other, given) => {
        const both = `${one}|${other}`;
        expect(matches(both, given)).toBe(new RegExp(both, "u").test(given));
      }),
    );
  });

  it.each(["\\p{Lu}\\p{Ll}+", "^\\u{1F600}$", "^[\\p{L} ]+$"])("knows the properties of characters: %s", (source) => {
    for (const text of ["Ωμέγα", "😀", "a1"]) {
      expect(matches(source, text)).toBe(new RegExp(source, "u").test(text));
    }
  });

  it.each(["^(a+)+$", "^(a|a)*$", "(a*)*b", "a*a*a*a*a*b", "^(([a-z])+.)+[A-Z]([a-z])+$"])(
    "does not backtrack: %s",
    (source) => {
      expect(matches(source, `${"a".repeat(20_000)}!`)).not.toBe(true);
    },
  );

  it("gives up where the text is too long for it", () => {
    const source = `${"(a|b|c)*".repeat(30)}d`;
    expect(matches(source, "abc".repeat(100_000))).toBeNull();
  });

  it.each([
    ["(", /no regular expression/],
    ["*a", /no regular expression/],
    ["(?=a)b", /looks ahead/],
    ["(?<!a)b", /looks ahead or behind/],
    ["(a)\\1", /refers back/],
    ["(?<x>a)\\k<x>", /refers back/],
    ["(a{1000}){1000}", /repeats too much/],
    ["a{100000}", /repeats too much/],
    ["a".repeat(513), /512 characters/],
  ])("is refused where it cannot be matched: %s", (source, reason) => {
    expect(() => compilePattern(source)).toThrow(PatternError);
    expect(() => compilePattern(source)).toThrow(reason);
  });
});
