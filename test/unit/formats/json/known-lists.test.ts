// A list of tools that came before is the same value again, which nobody can change, and only so many are kept.

import { beforeEach, describe, expect, it } from "vitest";
import { knownList, knownListAt, onceForKnown } from "../../../../src/formats/json/known-lists.ts";
import { type Scan, scanObject } from "../../../../src/formats/scan/scan.ts";

function listBytes(name: string, length = 4_000): Buffer {
  return Buffer.from(JSON.stringify([{ name, description: "d".repeat(length), parameters: { type: "object" } }]));
}

/** What the list is, and whether it had to be parsed. */
function read(bytes: Buffer): { readonly list: unknown; readonly isParsed: boolean } {
  let isParsed = false;
  const list = knownList(bytes, () => {
    isParsed = true;
    return JSON.parse(bytes.toString()) as unknown;
  });
  return { list, isParsed };
}

function readTwice(bytes: Buffer): ReturnType<typeof read> {
  read(bytes);
  return read(bytes);
}

describe("a list of tools", () => {
  it("is kept when it comes a second time, and parsed no more", () => {
    const first = read(listBytes("search"));
    const second = read(listBytes("search"));
    const third = read(listBytes("search"));
    expect([first.isParsed, second.isParsed, third.isParsed]).toEqual([true, true, false]);
    expect(Object.isFrozen(first.list)).toBe(false);
    expect(third.list).toBe(second.list);
    expect(third.list).toEqual(JSON.parse(listBytes("search").toString()));
  });

  it("is another list where a single byte differs", () => {
    const bytes = listBytes("one");
    for (let at = 20; at < 4_000; at += 97) {
      const other = Buffer.from(bytes);
      other[at] = "e".charCodeAt(0);
      expect(read(other).list).toEqual(JSON.parse(other.toString()));
      expect(read(bytes).list).toEqual(JSON.parse(bytes.toString()));
    }
  });

  it("keeps no part of the body that it came in", () => {
    const body = listBytes("kept");
    const { list } = readTwice(body);
    const again = Buffer.from(body);
    body.fill(0x20);
    expect(read(again)).toEqual({ list, isParsed: false });
  });

  it("cannot be changed, at any depth", () => {
    const [tool] = readTwice(listBytes("frozen")).list as [{ parameters: { type: string } }];
    expect(() => {
      tool.parameters.type = "array";
    }).toThrow(TypeError);
  });

  it("is forgotten when many others have come, the least recently used first", () => {
    const [used, unused] = [listBytes("used"), listBytes("unused")];
    readTwice(used);
    readTwice(unused);
    for (let other = 0; other < 80; other++) {
      readTwice(listBytes(`other ${other}`));
      read(used);
    }
    expect(read(used).isParsed).toBe(false);
    expect(read(unused).isParsed).toBe(true);
  });

  it("is forgotten when others take up much memory, however few bytes they have", () => {
    const kept = listBytes("small");
    readTwice(kept);
    for (let other = 0; other < 8; other++) readTwice(Buffer.from(`[${"{},".repeat(40_000)}${other}]`));
    expect(read(kept).isParsed).toBe(true);
  });

  it("is parsed each time where it is very short or very long", () => {
    for (const length of [10, 300_000]) {
      readTwice(listBytes("size", length));
      expect(read(listBytes("size", length)).isParsed).toBe(true);
    }
  });

  it("has what is read of it read once", () => {
    let reads = 0;
    const count = onceForKnown((list) => {
      reads += 1;
      return list.length;
    });
    const list = readTwice(listBytes("read")).list as readonly unknown[];
    expect([count(list), count(list), reads]).toEqual([1, 1, 1]);
    expect([count([1, 2]), count([1, 2]), reads]).toEqual([2, 2, 3]);
  });
});

describe("a body with a known list", () => {
  const text = 'Größe é "1h" \\';
  const tool = { name: "é", ttl: "1h", description: text.repeat(30) };
  const tools = Buffer.from(JSON.stringify([tool, tool, tool, [1, { a: [] }]]).replaceAll("é", "\\u00e9"));
  beforeEach(() => {
    readTwice(tools);
  });

  const scanned = (body: string, find?: typeof knownListAt, values = 100): Scan =>
    scanObject(Buffer.from(body), 20, { values, bareBytes: 400 }, find);

  it.each([
    ["at its end", `{"a":"b","tools":${tools}}`],
    ["at its beginning", `{"tools" : ${tools} , "messages":[{"content":"x"}],"n":1}`],
    ["twice", `{"tools":${tools},"a":{},"tools":${tools}\n}`],
    ["behind a long text", `{"a":${JSON.stringify("é".repeat(50_000))},"tools":${tools},"b":2}`],
    ["under another name", `{"texts":${tools},"x":[]}`],
    ["within another list", `{"tools":[1,${tools}]}`],
    ["with one more byte", `{"tools":${tools}]}`],
    ["cut off behind it", `{"tools":${tools}`],
    ["cut off within it", `{"tools":${tools.toString().slice(0, -1)}`],
  ])("is scanned as any other: %s", (_name, body) => {
    expect(scanned(body, knownListAt)).toEqual(scanned(body));
  });

  it("is not looked through again", () => {
    const found: (number | undefined)[] = [];
    const body = `{"a":[1],"tools":${tools},"toolX":[2],"b":[3]}`;
    const { state } = scanned(
      body,
      (bytes, at) => {
        const list = knownListAt(bytes, at);
        found.push(list?.bytes.length);
        return list === null ? null : { ...list, values: 0 };
      },
      // Too few for what is in the list.
      9,
    );
    expect([state, found]).toEqual(["object", [tools.length, undefined]]);
  });

  it("has the same limits", () => {
    const body = `{"a":[1],"tools":${tools},"b":[2]}`;
    const states = [...Array(40).keys()].map((values) => scanned(body, knownListAt, values).state);
    expect(states).toEqual([...Array(40).keys()].map((values) => scanned(body, undefined, values).state));
    expect(new Set(states)).toEqual(new Set(["too-many", "object"]));
    const spaced = `{"a":[${" ".repeat(395)}],"tools":${tools}}`;
    expect(scanned(spaced, knownListAt).state).toBe("too-bare");
  });
});
