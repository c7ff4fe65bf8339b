// PATCH and filters of SCIM as laws: what is added can be removed again, and no text of a client does harm.

import { expect, it } from "vitest";
import { GatewayError } from "../../../../../src/core/errors.ts";
import { readFilter, readPath } from "../../../../../src/http/api/scim/filter.ts";
import { patched } from "../../../../../src/http/api/scim/patch.ts";
import { createRandom } from "../../../../support/random.ts";

const operations = (...Operations: readonly object[]) => ({ Operations }) as never;

it("members that are added and removed leave the group as it was, however they are written", () => {
  const random = createRandom(7);
  for (let round = 0; round < 200; round += 1) {
    const ids = Array.from({ length: 1 + Math.floor(random.next() * 6) }, (_, at) => `user_${at}`);
    const before = { displayName: "g", members: [{ value: "kept" }] };
    const add = ids.map((value) => ({ op: "Add", path: "members", value: [{ $ref: null, value }] }));
    const added = patched(before, operations(...add, ...add));
    expect(added.members).toHaveLength(ids.length + 1);
    const remove = ids.map((value) =>
      random.next() < 0.5
        ? { op: "remove", path: `members[value eq "${value}"]` }
        : { op: "Remove", path: "Members", value: [{ value }] },
    );
    expect(patched(added, operations(...remove))).toEqual(before);
  }
});

it("a patch leaves the resource that it was given as it is", () => {
  const before = { name: { givenName: "A" }, emails: [{ value: "a@b.example", type: "work" }] };
  const copy = structuredClone(before);
  patched(before, operations({ op: "replace", path: 'emails[type eq "work"].value', value: "c@d.example" }));
  patched(before, operations({ op: "replace", value: { "name.givenName": "B", NAME: { familyName: "C" } } }));
  expect(before).toEqual(copy);
});

it.each([
  [{ op: "replace", path: "NAME.givenname", value: "B" }, { name: { givenName: "B" } }],
  [{ op: "add", path: "name", value: { familyName: "C" } }, { name: { givenName: "A", familyName: "C" } }],
  [{ op: "remove", path: "name.givenName" }, { name: {} }],
  [{ op: "add", path: 'emails[type eq "home"].value', value: "h" }, { emails: [{ type: "home", value: "h" }] }],
  [
    { op: "replace", path: "urn:ietf:params:scim:schemas:core:2.0:User:name.givenName", value: "D" },
    { name: { givenName: "D" } },
  ],
  [{ op: "replace", path: "urn:example:other:2.0:User:shoe", value: 7 }, { name: { givenName: "A" } }],
])("%j", (operation, expected) => {
  expect(patched({ name: { givenName: "A" } }, operations(operation))).toMatchObject(expected);
});

it("random paths and filters are read or refused, and change no prototype", () => {
  const random = createRandom(11);
  const parts = [
    "userName",
    " eq ",
    '"a"',
    '"\\u00',
    "[",
    "]",
    ".",
    "and ",
    "__proto__",
    "constructor",
    "urn:",
    ":",
    "true",
    "\u0000",
  ];
  for (let round = 0; round < 3_000; round += 1) {
    const text = Array.from(
      { length: 1 + Math.floor(random.next() * 7) },
      () => parts[Math.floor(random.next() * parts.length)],
    ).join("");
    for (const read of [
      readPath,
      readFilter,
      (path: string) => patched({}, operations({ op: "add", path, value: { x: 1 } })),
    ]) {
      try {
        read(text);
      } catch (error) {
        expect(error).toBeInstanceOf(GatewayError);
      }
    }
  }
  expect(({} as { x?: unknown }).x).toBeUndefined();
});

it.each(["", "userName", 'userName ne "a"', "userName eq a", 'userName eq "a" or id eq "b"', 'userName eq "a" and'])(
  "the filter %j is refused",
  (text) => {
    expect(() => readFilter(text)).toThrow(GatewayError);
  },
);
