// A long body that is read value by value, with what earlier bodies had in them, is the same as one that is read as a
// whole: the same values, the same places of its fields, and nothing that is no JSON.

import { describe, expect, it } from "vitest";
import { isUndecoded } from "../../../../src/core/chat.ts";
import { type ParsedBody, parseBody, scanBody } from "../../../../src/formats/wire/json-source.ts";
import { createKnownValues, type OwnValues } from "../../../../src/formats/wire/known-values.ts";
import { readLongBody } from "../../../../src/formats/wire/long-body.ts";
import { parseUndecoded, type UndecodedPart } from "../../../../src/formats/wire/undecoded.ts";
import { fc } from "../../../support/property.ts";

const PART: UndecodedPart = { fields: new Set(["messages", "system"]) };
const GENERATION_BYTES = 256 * 1024;
const LONG = "Long enough that it is looked up. ".repeat(600);

const piece = fc.constantFrom(
  ...'a|word |é|größer|日本|😀|ÿ|\\"|\\\\|\\n|\\/|\\t|\\u0009|\\\\u00e9|\u2028|\u007f'.split("|"),
);
/** Rare: with one of them a body that is not ASCII is read as a whole. */
const highEscape = fc.constantFrom("\\u00e9", "\\ud83d", "\\ud83d\\ude00", "\\u2028");
const text = fc
  .array(fc.oneof({ weight: 300, arbitrary: piece }, { weight: 1, arbitrary: highEscape }), { maxLength: 8 })
  .chain((parts) => fc.nat({ max: 40 }).map((times) => `"${parts.join("").repeat(times)}"`));
const bare = fc.constantFrom("null", "true", "1e400", "12345678901234567890", "-0.0", "0.1");
const space = fc.constantFrom("", "", " ", "\n\t", "\r\n");
const { json } = fc.letrec<{ json: string }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 4 },
    bare,
    text,
    fc
      .tuple(space, fc.array(tie("json"), { maxLength: 4 }))
      .map(([gap, all]) => `[${gap}${all.join(`${gap},`)}${gap}]`),
    fc
      .array(fc.tuple(fc.constantFrom('"a"', '"role"', '"__proto__"', '"größe"', '"\\u0061"'), tie("json")), {
        maxLength: 4,
      })
      .map((fields) => `{${fields.map(([name, value]) => `${name}: ${value}`).join(",")}}`),
  ),
}));
const message = fc.tuple(fc.constantFrom("user", "tool"), text, json).map(([role, said, rest]) => {
  return `{"role":"${role}","content":${said},"x":${rest}}`;
});
const element = fc.oneof(
  { weight: 40, arbitrary: message },
  { weight: 2, arbitrary: text },
  { weight: 1, arbitrary: json },
);
const field = fc.oneof(
  fc.tuple(fc.constantFrom("tools", "metadata", "__proto__", "stop", "größe"), json),
  fc.tuple(fc.constantFrom("system", "user", "tools"), text),
);
/** Drawn from a few messages, so that many come again. */
const bodyText = fc
  .tuple(fc.array(element, { minLength: 1, maxLength: 6 }), fc.array(field, { maxLength: 2 }), space, fc.boolean())
  .map(([elements, fields, gap, isFirst]) => {
    const messages = [`{"role":"system","content":"${LONG}"}`, ...elements, ...elements.slice(0, 2)];
    const named = ["messages", `[${gap}${messages.join(`${gap},${gap}`)}${gap}]`] as const;
    const all = isFirst ? [named, ...fields] : [...fields, named];
    return `${gap}{${all.map(([name, value]) => `"${name}"${gap}:${gap}${value}`).join(`,${gap}`)}}${gap}`;
  });

/** Null where the bytes are no JSON object. */
function readWhole(bytes: Buffer): ParsedBody | null {
  try {
    const { source, body } = parseBody(bytes);
    return { source, body: parseUndecoded(scanBody(bytes), PART) ?? body };
  } catch {
    return null;
  }
}

function expectSame(bytes: Buffer, known: OwnValues): boolean {
  const read = readLongBody(bytes, PART, known);
  if (read === null) return false;
  const whole = readWhole(bytes) as ParsedBody;
  expect(whole).not.toBeNull();
  expect(read.body).toEqual(whole.body);
  expect(Object.keys(read.body)).toEqual(Object.keys(whole.body));
  expect(isUndecoded(read.body)).toBe(isUndecoded(whole.body));
  expect(read.source.fields).toEqual(whole.source.fields);
  expect(read.source.values).toBe(whole.source.values);
  expect(read.source.bytes).toBe(bytes);
  return true;
}

describe("a long body", () => {
  it("is the same as one that is read as a whole, whatever came before", () => {
    const known = createKnownValues(GENERATION_BYTES).of("account");
    let readCount = 0;
    fc.assert(
      fc.property(bodyText, (body) => {
        const bytes = Buffer.from(body);
        // The third time, its values are known.
        const isRead = [bytes, Buffer.from(bytes), Buffer.from(bytes)].map((copy) => expectSame(copy, known));
        if (isRead.every(Boolean)) readCount += 1;
      }),
      { numRuns: 300 },
    );
    expect(readCount).toBeGreaterThan(40);
  });

  it("is never read when a wrong byte makes it no JSON", () => {
    const known = createKnownValues(GENERATION_BYTES).of("account");
    let brokenCount = 0;
    fc.assert(
      fc.property(bodyText, fc.nat(), fc.nat({ max: 255 }), (body, at, byte) => {
        const bytes = Buffer.from(body);
        for (let times = 0; times < 2; times++) readLongBody(Buffer.from(bytes), PART, known);
        // Not in the long text alone, where hardly any byte is wrong.
        bytes[at % 2 === 0 ? bytes.length - 1 - (at % 400) : at % bytes.length] = byte;
        if (readWhole(bytes) === null) brokenCount += 1;
        expectSame(bytes, known);
      }),
      { numRuns: 400 },
    );
    expect(brokenCount).toBeGreaterThan(50);
  });

  it("takes values that came twice from earlier bodies of the same owner", () => {
    const values = createKnownValues(GENERATION_BYTES);
    const body = (ask: string) =>
      Buffer.from(
        JSON.stringify({
          messages: [
            { role: "system", content: LONG },
            { role: "user", content: ask },
          ],
          tools: [LONG],
        }),
      );
    const messagesOf = (read: ParsedBody | null) => read?.body.messages as readonly unknown[];
    const once = readLongBody(body("one"), PART, values.of("a"));
    const first = readLongBody(body("one"), PART, values.of("a"));
    expect(messagesOf(first)[0]).not.toBe(messagesOf(once)[0]);
    const second = readLongBody(body("two"), PART, values.of("a"));
    expect(messagesOf(second)[0]).toBe(messagesOf(first)[0]);
    expect(second?.body.tools).toBe(first?.body.tools);
    expect(messagesOf(second)[1]).toEqual({ role: "user", content: "two" });
    const others = readLongBody(body("one"), PART, values.of("b"));
    expect(messagesOf(others)[0]).not.toBe(messagesOf(first)[0]);
    expect(others?.body).toEqual(first?.body);
  });

  it("is forgotten when enough others came", () => {
    const values = createKnownValues(64 * 1024).of("a");
    const read = (content: string): unknown => {
      const { body } = readLongBody(
        Buffer.from(JSON.stringify({ messages: [{ content }] })),
        PART,
        values,
      ) as ParsedBody;
      return (body.messages as readonly unknown[])[0];
    };
    read(LONG);
    const first = read(LONG);
    expect(read(LONG)).toBe(first);
    for (let other = 0; other < 24; other++) read(`${other >> 1} ${LONG}`);
    expect(read(LONG)).not.toBe(first);
    expect(read(LONG)).toEqual(first);
  });

  it("is read as a whole when it is nested too deep or has a name twice", () => {
    const values = createKnownValues(GENERATION_BYTES).of("a");
    const nested = `${"[".repeat(99)}${"]".repeat(99)}`;
    expect(readLongBody(Buffer.from(`{"messages":["${LONG}",${nested}]}`), PART, values)).toBeNull();
    expect(readLongBody(Buffer.from(`{"messages":["${LONG}"],"a":1,"a":2}`), PART, values)).toBeNull();
    expect(readLongBody(Buffer.from(`{"messages":["${LONG}"],"a":1}`), PART, values)).not.toBeNull();
  });
});
