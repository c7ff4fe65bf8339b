// Long texts that a scan finds: where they stand, whose they are, and whether they can be left unparsed.

import { isAscii as isAsciiText } from "node:buffer";
import { describe, expect, it, vi } from "vitest";
import { type Scan, type ScannedObject, scanObject } from "../../../../src/formats/scan/scan.ts";
import { fc } from "../../../support/property.ts";

function scan(text: string): ScannedObject {
  const result = scanObject(Buffer.from(text), 100);
  if (result.state !== "object") throw new Error(result.state);
  return result;
}

const ALLOWED = ["a", " ", "é", "日", "😀", "\\n", '\\"', "\\\\", "\\/", "\\b", "\\f", "\\r", "\\t", "\u007f"];
const BROKEN = ["\\x", "\\0", "\n", "\t", "\u0000", "\u001f"];
const ESCAPES = ["\\u00e9", "\\u0041"];

describe("a long text", () => {
  it("is plain exactly if JSON allows all of it and no character is written as a code", () => {
    const pieces = fc.array(fc.constantFrom(...ALLOWED, "x".repeat(40)), { maxLength: 60 });
    const odd = fc.option(fc.constantFrom(...BROKEN, ...ESCAPES), { nil: "" });
    // Two pieces of the body end within the text, or close to it.
    const before = fc.integer({ min: 64 * 1024 - 2_200, max: 64 * 1024 + 100 });
    fc.assert(
      fc.property(pieces, odd, pieces, before, (head, wrong, tail, padding) => {
        const literal = `"${head.join("")}${wrong}${tail.join("")}${"y".repeat(1_100)}"`;
        const text = `{"pad":[${" ".repeat(padding)}],"messages":[{"content":${literal}}]}`;
        const { longTexts, isAscii, source } = scan(text);
        const [found] = longTexts;
        expect(longTexts).toHaveLength(1);
        expect(source.bytes.toString("utf8", found?.start, found?.end)).toBe(literal);
        expect(source.bytes.toString("utf8", found?.nameStart).startsWith('"content":')).toBe(true);
        expect(found?.isPlain).toBe(isJson(literal) && !ESCAPES.includes(wrong));
        expect(found?.isUsual).toBe(isJson(literal) && JSON.stringify(JSON.parse(literal)) === literal);
        expect(isAscii).toBe(isAsciiText(Buffer.from(text)));
      }),
      { numRuns: 400 },
    );
  });

  it("has the name that it is the value of, or none", () => {
    const long = JSON.stringify("x".repeat(2_000));
    const nameOf = (text: string) => {
      const { longTexts, source } = scan(text);
      return longTexts.map(({ nameStart: at }) => (at < 0 ? null : source.bytes.toString("utf8", at, at + 5)));
    };
    expect(nameOf(`{"abc":${long}}`)).toEqual(['"abc"']);
    expect(nameOf(`{"list":[{"x":1,"abc" : ${long}},{"xyz":${long}}]}`)).toEqual(['"abc"', '"xyz"']);
    expect(nameOf(`{"list":[["abc",${long}]]}`)).toEqual([null]);
    expect(nameOf(`{"list":[{"abc":[${long}]}],"text":"short"}`)).toEqual([]);
    expect(nameOf(`{"list":[{"abc":[{"def":${long}}]}]}`)).toEqual(['"def"']);
    expect(nameOf(`{"list":[{"abc":[{"def":[{"ghi":${long}}],"jkl":{"mno":${long}}}]}]}`)).toEqual(['"ghi"']);
    expect(nameOf(`{"a":[{"b":[{"c":[{"d":[{"e":${long}}]}]}]}]}`)).toEqual([]);
  });

  it("is longer than 1,024 bytes with its quotes", () => {
    const found = (length: number) => scan(JSON.stringify({ a: "x".repeat(length) })).longTexts.length;
    expect([found(1_022), found(1_023)]).toEqual([0, 1]);
  });
});

describe("a processor without SIMD", () => {
  it("gets a scanner that finds the same", async () => {
    vi.stubGlobal("WebAssembly", { ...nativeScanner(), validate: () => false });
    // A module of its own, for what it finds out when it is loaded.
    const path = "../../../../src/formats/scan/scan.ts?without-simd";
    const other: typeof import("../../../../src/formats/scan/scan.ts") = await import(path);
    vi.unstubAllGlobals();
    expect(other.scanObject).not.toBe(scanObject);
    const pieces = fc.array(fc.constantFrom(...ALLOWED, ...BROKEN, ...ESCAPES, '"', "\\", "{", "}", "[", ",", ":"));
    const long = fc.constantFrom("", "x".repeat(1_100), "é".repeat(700), "y".repeat(64 * 1024));
    fc.assert(
      fc.property(pieces, long, pieces, (head, middle, tail) => {
        const bytes = Buffer.from(`{"a":[{"content":"${head.join("")}${middle}${tail.join("")}"}],"b":"é"}`);
        expect(found(other.scanObject(bytes, 20))).toEqual(found(scanObject(bytes, 20)));
      }),
      { numRuns: 400 },
    );
  });
});

/** Without the bytes, which are the same and take long to compare. */
function found(result: Scan): unknown {
  return result.state === "object" ? { ...result, source: { ...result.source, bytes: null } } : result;
}

interface NativeScanner {
  readonly Module: unknown;
  readonly Instance: unknown;
}

function nativeScanner(): NativeScanner {
  const { Module, Instance } = (globalThis as unknown as { WebAssembly: NativeScanner }).WebAssembly;
  return { Module, Instance };
}

function isJson(literal: string): boolean {
  try {
    JSON.parse(literal);
    return true;
  } catch {
    return false;
  }
}
