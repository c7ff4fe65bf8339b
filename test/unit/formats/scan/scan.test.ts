// Splicing fields of an object in its bytes means the same as changing the parsed object.

import { describe, expect, it } from "vitest";
import { BytePieces } from "../../../../src/formats/json/byte-pieces.ts";
import { scanText } from "../../../../src/formats/json/parse.ts";
import { sourceOf, spliceBody, spliceFields } from "../../../../src/formats/json/splice.ts";
import { type JsonSource, rawValue, type ScanLimits, scanObject } from "../../../../src/formats/scan/scan.ts";
import { cpuMs } from "../../../support/cpu-time.ts";
import { fc } from "../../../support/property.ts";

type Json = Record<string, unknown>;

function scan(text: string, maxDepth = 100): JsonSource {
  const result = scanObject(Buffer.from(text), maxDepth);
  if (result.state !== "object") throw new Error(result.state);
  return result.source;
}

/** JSON text of an object with chosen fields, any white space, and names spelled with escapes or not. */
const space = fc.string({ unit: fc.constantFrom(" ", "\n", "\t", "\r"), maxLength: 3 });
const name = fc.oneof(
  fc.constantFrom("model", "messages", "service_tier", "a", "", "é", 'quo"te', "back\\slash", "😀", "a:b", "{", "]"),
  fc.string({ unit: "binary", maxLength: 6 }),
);
const value = fc.jsonValue({ maxDepth: 3 });
const fieldText = fc
  .tuple(name, value, fc.boolean(), space, space, space, space)
  .map(([key, content, isEscaped, a, b, c, d]) => ({
    key,
    text: `${a}${isEscaped ? escaped(key) : JSON.stringify(key)}${b}:${c}${JSON.stringify(content)}${d}`,
  }));
const objectText = fc
  .tuple(fc.array(fieldText, { maxLength: 6 }), space, space)
  .map(([fields, before, after]) => `${before}{${fields.map(({ text }) => text).join(",")}}${after}`);

function escaped(key: string): string {
  const units = Array.from({ length: key.length }, (_, at) => key.charCodeAt(at).toString(16).padStart(4, "0"));
  return `"${units.map((unit) => `\\u${unit}`).join("")}"`;
}

/** A body is read in pieces of so many bytes. */
const PIECE_BYTES = 64 * 1024;

describe("scanObject", () => {
  it("finds the same fields wherever a piece of the body ends", () => {
    fc.assert(
      fc.property(
        objectText,
        fc.integer({ min: -200, max: 20 }),
        fc.constantFrom("x", "\\\\", '\\"'),
        fc.boolean(),
        (text, shift, filling, isSpace) => {
          const inner = text.slice(text.indexOf("{") + 1);
          const length = Math.floor((PIECE_BYTES + shift) / filling.length);
          const begin = isSpace ? `{${" ".repeat(PIECE_BYTES + shift)}` : `{"pad":"${filling.repeat(length)}"`;
          const whole = begin + (isSpace ? "" : inner.trimStart().startsWith("}") ? "" : ",") + inner;
          const source = scan(whole);
          const parsed = JSON.parse(whole) as Json;
          expect(new Set(source.fields.map((field) => field.name))).toEqual(new Set(Object.keys(parsed)));
          for (const key of Object.keys(parsed)) {
            expect(JSON.parse(String(rawValue(source, key)))).toEqual(parsed[key]);
          }
        },
      ),
      { numRuns: 400 },
    );
  });

  it("finds every field with its name and value", () => {
    fc.assert(
      fc.property(objectText, (text) => {
        const source = scan(text);
        const parsed = JSON.parse(text) as Json;
        expect(new Set(source.fields.map((field) => field.name))).toEqual(new Set(Object.keys(parsed)));
        for (const field of source.fields) {
          const whole = source.bytes.toString("utf8", field.start, field.end);
          expect(Object.keys(JSON.parse(`{${whole}}`))).toEqual([field.name]);
        }
        for (const key of Object.keys(parsed)) {
          expect(JSON.parse(String(rawValue(source, key)))).toEqual(parsed[key]);
        }
      }),
    );
  });

  it("tells objects from everything else", () => {
    for (const text of ["", " ", "[]", "[{}]", '"{}"', "1", "null", "}", ":"]) {
      expect([text, scanObject(Buffer.from(text), 100).state]).toEqual([text, "not-object"]);
    }
  });

  it("counts levels: as many as allowed and not one more", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 40 }),
        fc.array(fc.boolean(), { minLength: 45, maxLength: 45 }),
        (depth, kinds) => {
          let text = "1";
          for (let level = depth - 1; level > 0; level--) text = kinds[level] === true ? `[${text}]` : `{"a":${text}}`;
          text = `{"x":${text}}`;
          expect(scanObject(Buffer.from(text), depth).state).toBe("object");
          expect(scanObject(Buffer.from(text), depth - 1).state).toBe("too-deep");
        },
      ),
    );
  });

  it("does not count brackets in strings", () => {
    const text = JSON.stringify({ a: '[[[{{{"\\"[[' });
    expect(scanObject(Buffer.from(text), 1).state).toBe("object");
  });

  it("counts values, and bytes outside of texts, and says which are too many", () => {
    const stateOf = (text: string, limits: ScanLimits): string => scanObject(Buffer.from(text), 5, limits).state;
    const text = JSON.stringify({ a: [1, 2, 3], b: "x".repeat(1_000) });
    // An object, an array and three commas; all that is no text or name.
    const exact = { values: 5, bareBytes: text.length };
    expect(stateOf(text, exact)).toBe("object");
    expect(stateOf(text, { ...exact, values: 4 })).toBe("too-many");
    const spaced = text.replace("[", `[${" ".repeat(500)}`);
    expect(stateOf(spaced, { values: 5, bareBytes: 600 })).toBe("object");
    expect(stateOf(spaced, { values: 5, bareBytes: 400 })).toBe("too-bare");
  });

  it('tells whether "1h" stands anywhere, also where a piece of the body ends within it', () => {
    const entry = fc.constantFrom(
      "1h",
      "h",
      "1",
      '"1h',
      '1h"',
      "\\1h",
      "1h\n",
      "x1h",
      "x".repeat(40),
      { ttl: "1h" },
      [1],
    );
    const padding = fc.oneof(fc.constant(0), fc.integer({ min: PIECE_BYTES - 60, max: PIECE_BYTES }));
    fc.assert(
      fc.property(padding, fc.array(entry, { maxLength: 4 }), (length, entries) => {
        const text = JSON.stringify({ pad: "x".repeat(length), entries });
        expect(scan(text).hasHour).toBe(text.includes('"1h"'));
      }),
      { numRuns: 1_000 },
    );
  });

  it("never fails and always ends, whatever the bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        expect(["object", "not-object", "too-deep"]).toContain(scanObject(Buffer.from(bytes), 5).state);
      }),
    );
    const alphabet = fc.constantFrom("{", "}", "[", "]", '"', "\\", ":", ",", "a", " ");
    fc.assert(
      fc.property(fc.string({ unit: alphabet, maxLength: 60 }), (text) => {
        expect(() => scanObject(Buffer.from(text), 5)).not.toThrow();
      }),
    );
  });

  it("has room for as many finds as a piece can have", () => {
    const many = `{${'"":1,'.repeat(40_000)}"b":1}`;
    expect(scan(many).fields.at(-1)).toMatchObject({ name: "b" });
    expect(scan(many).fields).toHaveLength(40_001);
    for (const wrong of [":,", '"":,', '"",', '":', "[],"]) {
      expect(() => scanObject(Buffer.from(`{${wrong.repeat(70_000)}}`), 5)).not.toThrow();
    }
  });

  it("takes a string of a million quotes in its stride", () => {
    const text = JSON.stringify({ a: '"\\'.repeat(500_000), b: 1 });
    let fields: readonly string[] = [];
    // Each quote looked at again from the start would take hours.
    expect(cpuMs(() => (fields = scan(text).fields.map(({ name }) => name)))).toBeLessThan(1_000);
    expect(fields).toEqual(["a", "b"]);
  });

  it("looks through bytes that no text may have as fast as through others", () => {
    const timeOf = (filling: string): number => {
      const bytes = Buffer.from(`{"a":"${filling.repeat(8 * 1024 * 1024)}"}`);
      return Math.min(...Array.from({ length: 5 }, () => cpuMs(() => scanObject(bytes, 5))));
    };
    expect(timeOf("\u0001")).toBeLessThan(8 * timeOf("x"));
  });
});

describe("sourceOf", () => {
  it("writes what JSON.stringify writes, and knows where each field stands", () => {
    const object = fc.dictionary(fc.string(), fc.option(fc.jsonValue(), { nil: undefined }), { maxKeys: 6 });
    fc.assert(
      fc.property(object, (value) => {
        const { bytes, fields } = sourceOf(value);
        expect(bytes.toString()).toBe(JSON.stringify(value));
        expect(fields).toEqual(scanText(bytes)?.fields);
      }),
    );
  });
});

describe("spliceFields", () => {
  const change = fc.oneof(fc.constant(null), value);
  const changes = fc.array(fc.tuple(name, change), { maxLength: 4 }).map((entries) => new Map(entries));

  it("means the same as changing the parsed object", () => {
    fc.assert(
      fc.property(objectText, changes, (text, wanted) => {
        const texts = new Map([...wanted].map(([key, next]) => [key, next === null ? null : JSON.stringify(next)]));
        const result = JSON.parse(spliceFields(scan(text), texts).toString()) as Json;
        const expected = new Map(Object.entries(JSON.parse(text) as Json));
        for (const [key, next] of wanted) {
          if (next === null) expected.delete(key);
          else expected.set(key, JSON.parse(JSON.stringify(next)));
        }
        expect(new Map(Object.entries(result))).toEqual(expected);
      }),
    );
  });

  it("leaves every other byte of a field as it was", () => {
    fc.assert(
      fc.property(objectText, (text) => {
        const source = scan(text);
        const kept = spliceFields(source, new Map([["zz-new", "1"]])).toString();
        const last = new Map(source.fields.map((field) => [field.name, field]));
        for (const field of last.values()) {
          if (field.name === "zz-new") continue;
          expect(kept).toContain(source.bytes.toString("utf8", field.start, field.end));
        }
      }),
    );
  });

  it("writes each name once: of repeats the last stays", () => {
    fc.assert(
      fc.property(objectText, changes, (text, wanted) => {
        const texts = new Map([...wanted].map(([key, next]) => [key, next === null ? null : JSON.stringify(next)]));
        const names = scan(spliceFields(scan(text), texts).toString()).fields.map((field) => field.name);
        expect(new Set(names).size).toBe(names.length);
      }),
    );
  });

  it("copies nothing long of a request body, and means the same", () => {
    const long = fc
      .constantFrom("é".repeat(150_000), ["\\u00e9".repeat(50_000)])
      .map((content) => JSON.stringify(content));
    fc.assert(
      fc.property(fieldText, long, fieldText, changes, (before, content, after, wanted) => {
        const texts = new Map([...wanted].map(([key, next]) => [key, next === null ? null : JSON.stringify(next)]));
        const source = scan(`{${before.text},"long" : ${content},${after.text}}`);
        const body = spliceBody(source, texts);
        expect(body.toString()).toBe(spliceFields(source, texts).toString());
        expect(body.length).toBe(Buffer.byteLength(body.toString()));
        const pieces = body instanceof BytePieces ? body.pieces : [body];
        const longest = pieces.reduce((one, other) => (one.length > other.length ? one : other));
        expect(longest.buffer).toBe(source.bytes.buffer);
      }),
    );
  });

  it("ends a request body with a short piece, whatever was changed", () => {
    const source = scan(`{"model":"x","long":${JSON.stringify("é".repeat(70_000))}}`);
    for (const long of [JSON.stringify("é".repeat(20_000)), Buffer.from(JSON.stringify("é".repeat(20_000)))]) {
      const body = spliceBody(source, new Map([["new", long]])) as BytePieces;
      expect(body.pieces.at(-1)?.toString()).toBe("}");
      expect(body.toString()).toBe(spliceFields(source, new Map([["new", long]])).toString());
    }
  });

  it.each([
    ["keeps a changed field's place", '{"a":1,"model":"x","b":2}', { model: '"y"' }, '{"a":1,"model":"y","b":2}'],
    ["puts a new one at the end", '{"a":1}', { b: "2" }, '{"a":1,"b":2}'],
    ["takes fields out", '{"a":1,"b":2,"c":3}', { a: null, c: null }, '{"b":2}'],
    ["takes all out", '{"a":1}', { a: null }, "{}"],
    [
      "copies what stands between neighbours",
      '{ "a":1 ,\n"b":2 , "c":3,"d" :4 }',
      { c: "0" },
      '{"a":1 ,\n"b":2 , "c":0,"d" :4}',
    ],
    ["fills an empty object", " { } ", { a: "1" }, '{"a":1}'],
    ["knows an escaped name", '{"\\u0061":1,"b":2}', { a: null }, '{"b":2}'],
    [
      "keeps spellings",
      '{"n":1e3,"big":12345678901234567890,"s":"\\u00e9"}',
      { x: null },
      '{"n":1e3,"big":12345678901234567890,"s":"\\u00e9"}',
    ],
  ])("%s", (_name, text, wanted, expected) => {
    expect(spliceFields(scan(text), new Map(Object.entries(wanted))).toString()).toBe(expected);
  });
});
