import { describe, expect, it } from "vitest";
import {
  type Given,
  givenShare,
  namedShare,
  repeatedFrames,
  sameUnits,
  toolsOfParts,
} from "../../../../src/routing/tools/values.ts";

function given(ask: string, found: Partial<Given> = {}): Given {
  return { ask, lower: ask.toLowerCase(), numbers: 0, quotes: 0, properNames: 0, hasAddress: false, ...found };
}

describe("the values of required parameters", () => {
  const cases: readonly [string, Parameters<typeof givenShare>[0], Given, number][] = [
    ["nothing is required", [], given("Do it"), 1],
    [
      "each number serves one parameter",
      [
        ["a", { type: "integer" }],
        ["b", { type: "number" }],
      ],
      given("Take 3", { numbers: 1 }),
      0.5,
    ],
    ["a choice that is named", [["unit", { type: "string", enum: ["celsius", "kelvin"] }]], given("in Celsius"), 1],
    ["a choice that is not", [["unit", { type: "string", enum: ["celsius", "kelvin"] }]], given("in Oslo"), 0.3],
    ["a time", [["start_date", { type: "string" }]], given("Book it for tomorrow"), 1],
    ["no time", [["start_date", { type: "string" }]], given("Book it"), 0],
    ["a place needs a name", [["city", { type: "string" }]], given("How warm is it?"), 0],
    ["and has one", [["city", { type: "string" }]], given("How warm is Oslo?", { properNames: 1 }), 1],
    ["a type that is none", [["city", { type: { toString: 1 } }]], given("How warm is Oslo?", { properNames: 1 }), 1],
    ["an address", [["url", { type: "string" }]], given("Open it", { hasAddress: true }), 1],
  ];
  it.each(cases)("%s", (_name, needs, request, share) => {
    expect(givenShare(needs, request)).toBe(share);
  });

  it("may be mentioned by name", () => {
    expect(
      namedShare(
        [
          ["loan_amount", {}],
          ["years", {}],
        ],
        new Set(["amoun"]),
      ),
    ).toBe(0.5);
  });
});

describe("several calls", () => {
  it("show in numbers of one unit", () => {
    expect(sameUnits("exactly 3 of 10 rounds, and 5 of 15 rounds")).toBe(2);
    expect(sameUnits("$200 and $300 and 4 apples")).toBe(2);
    expect(sameUnits("nothing to count")).toBe(0);
  });

  it("show in parts that are built alike", () => {
    expect(repeatedFrames(["From Rome to Oslo on Monday", " from Oslo to Bern on Friday"])).toBe(1);
    expect(repeatedFrames(["Book a table in Rome", " thanks"])).toBe(0);
  });

  it("show in parts that fit different tools", () => {
    const weather = { named: ["weath"], known: new Set(["weath"]) };
    const mail = { named: ["mail"], known: new Set(["mail"]) };
    expect(toolsOfParts([new Set(["weath"]), new Set(["mail"])], [weather, mail])).toBe(2);
    expect(toolsOfParts([new Set(["weath"]), new Set(["paris"])], [weather, mail])).toBe(1);
  });
});
