// A list of tools that came before is the same value again, which nobody can change, and only so many are kept.

import { describe, expect, it } from "vitest";
import { knownList, onceForKnown } from "../../../../src/formats/wire/known-lists.ts";

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

describe("a list of tools", () => {
  it("is parsed once, however often it comes", () => {
    const first = read(listBytes("search"));
    const second = read(listBytes("search"));
    expect([first.isParsed, second.isParsed]).toEqual([true, false]);
    expect(second.list).toBe(first.list);
    expect(second.list).toEqual(JSON.parse(listBytes("search").toString()));
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
    const { list } = read(body);
    const again = Buffer.from(body);
    body.fill(0x20);
    expect(read(again)).toEqual({ list, isParsed: false });
  });

  it("cannot be changed, at any depth", () => {
    const [tool] = read(listBytes("frozen")).list as [{ parameters: { type: string } }];
    expect(() => {
      tool.parameters.type = "array";
    }).toThrow(TypeError);
  });

  it("is forgotten when many others have come, the least recently used first", () => {
    const [used, unused] = [listBytes("used"), listBytes("unused")];
    read(used);
    read(unused);
    for (let other = 0; other < 60; other++) {
      read(listBytes(`other ${other}`, 50_000));
      read(used);
    }
    expect(read(used).isParsed).toBe(false);
    expect(read(unused).isParsed).toBe(true);
  });

  it("is parsed each time where it is very short or very long", () => {
    for (const length of [10, 300_000]) {
      read(listBytes("size", length));
      expect(read(listBytes("size", length)).isParsed).toBe(true);
    }
  });

  it("has what is read of it read once", () => {
    let reads = 0;
    const count = onceForKnown((list) => {
      reads += 1;
      return list.length;
    });
    const list = read(listBytes("read")).list as readonly unknown[];
    expect([count(list), count(list), reads]).toEqual([1, 1, 1]);
    expect([count([1, 2]), count([1, 2]), reads]).toEqual([2, 2, 3]);
  });
});
