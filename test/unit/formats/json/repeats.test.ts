// A repeated name below the top level is refused, however the body is parsed; every other body passes.

import { describe, expect, it, test } from "vitest";
import { parseBody, parseFields, scanBody, type UnreadPart } from "../../../../src/formats/json/parse.ts";
import { refuseRepeats } from "../../../../src/formats/json/repeats.ts";
import { fc } from "../../../support/property.ts";

const PART: UnreadPart = { list: "messages", names: [["content"], ["text"]] };

function check(text: string): void {
  const { source, body } = parseBody(Buffer.from(text));
  refuseRepeats(source, body);
}

function checkUnread(text: string): void {
  const scanned = scanBody(Buffer.from(text));
  const body = parseFields(scanned, PART);
  expect(body).not.toBeNull();
  refuseRepeats(scanned.source, body as NonNullable<typeof body>);
}

test.each([
  ["in a message", '{"messages":[{"role":"user","content":"a","content":"b"}]}', "content"],
  ["an object", '{"a":{"b":{"c":[1,{}]},"b":1}}', "b"],
  ["once with an escape", String.raw`{"a":{"b\"":1,"\u0062\u0022":2}}`, 'b"'],
  ["with spaces before the colon", '{"a":{"b" \n:1,"b"\t:2}}', "b"],
  ["__proto__", '{"a":{"__proto__":1,"__proto__":2}}', "__proto__"],
  ["beside a repeated field", '{"a":1,"b":{"c":1,"c":2},"a":[1,2,3]}', "c"],
])("%s is refused", (_, text, name) => {
  expect(() => check(text)).toThrow(`The name ${JSON.stringify(name)} is repeated`);
});

describe("a body passes", () => {
  test.each([
    ["with a repeated field, of which the last is sent", '{"a":{"b":1},"a":[{"b":1},{"b":2}]}'],
    ["with values that look like names", String.raw`{"a":["b","b",{"b":"b","c":"\"b\":\\"}],"d":"{\"x\":1,\"x\":2}"}`],
    ["that is empty", "{}"],
    ["with names of prototypes", '{"a":{"__proto__":{},"constructor":[],"toString":1}}'],
  ])("%s", (_, text) => {
    expect(() => check(text)).not.toThrow();
  });

  it("whatever is in it", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (body) => {
        expect(() => check(JSON.stringify(body))).not.toThrow();
      }),
    );
  });
});

describe("long texts stay unparsed", () => {
  const long = "x".repeat(20_000);
  const body = (fields: string): string =>
    `{"messages":[{"role":"user","content":"${long}"${fields}},{"role":"user","content":[{"type":"text","text":"${long}"}]}]}`;

  it("in a body that passes", () => checkUnread(body("")));

  it("in one that is refused", () => {
    expect(() => checkUnread(body(',"role":"system"'))).toThrow('"role"');
    expect(() => checkUnread(body(`,"content":"${long}"`))).toThrow('"content"');
  });
});
