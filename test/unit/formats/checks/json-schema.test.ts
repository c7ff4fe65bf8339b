// The check of a value against a JSON Schema: which keywords count, where it says that a value misfits, and that a hostile
// schema ends.

import { describe, expect, it } from "vitest";
import { findMisfit } from "../../../../src/formats/checks/json-schema.ts";

const PERSON = {
  type: "object",
  properties: { name: { type: "string", minLength: 1 }, age: { type: "integer", minimum: 0 } },
  required: ["name"],
  additionalProperties: false,
};
const TREE = {
  $defs: { node: { type: "object", properties: { next: { $ref: "#/$defs/node" } }, required: ["id"] } },
  $ref: "#/$defs/node",
};

const CASES: readonly (readonly [name: string, schema: unknown, fits: unknown[], misfits: unknown[]])[] = [
  ["an object", PERSON, [{ name: "Ada", age: 36 }, { name: "A" }], [{}, { name: "" }, { name: "A", x: 1 }, [], "A"]],
  ["integers", { type: "integer" }, [1, 1.0, -3], [1.5, "1", null]],
  ["several types", { type: ["string", "null"] }, ["a", null], [1]],
  ["null as OpenAPI says it", { type: "string", nullable: true }, ["a", null], [1]],
  ["an enum", { enum: ["a", 1, { b: [1] }] }, ["a", 1, { b: [1] }], ["b", { b: [2] }, null]],
  ["a constant", { const: { a: 1, b: 2 } }, [{ b: 2, a: 1 }], [{ a: 1 }, null]],
  ["numbers", { minimum: 1, exclusiveMaximum: 2, multipleOf: 0.1 }, [1, 1.3, "x"], [0.9, 2, 1.25]],
  ["lengths in characters", { minLength: 2, maxLength: 2 }, ["ab", "😀😀"], ["a", "abc"]],
  ["patterns", { pattern: "^[A-Z]{2}$" }, ["DE", 5], ["de", "DEU"]],
  ["items", { items: { type: "number" }, minItems: 1, maxItems: 2 }, [[1], [1, 2]], [[], ["a"], [1, 2, 3]]],
  ["tuples", { prefixItems: [{ type: "string" }], items: false }, [["a"], []], [["a", 1], [1]]],
  ["unique items", { uniqueItems: true }, [[1, "1", { a: 1 }]], [[{ a: 1 }, { a: 1 }]]],
  ["numbers of fields", { minProperties: 1, maxProperties: 1 }, [{ a: 1 }], [{}, { a: 1, b: 2 }]],
  ["fields by pattern", { patternProperties: { "^n_": { type: "number" } } }, [{ n_a: 1, b: "x" }], [{ n_a: "1" }]],
  ["other fields", { additionalProperties: { type: "string" } }, [{ a: "b" }], [{ a: 1 }]],
  ["anyOf", { anyOf: [{ type: "string" }, { type: "number" }] }, ["a", 1], [null]],
  ["oneOf", { oneOf: [{ type: "integer" }, { minimum: 5 }] }, [1, 5.5], [6]],
  ["allOf", { allOf: [{ minimum: 1 }, { maximum: 2 }] }, [1], [3]],
  ["not", { not: { type: "string" } }, [1], ["a"]],
  [
    "conditions",
    JSON.parse('{ "if": { "type": "string" }, "then": { "minLength": 2 }, "else": { "minimum": 2 } }'),
    ["ab", 2],
    ["a", 1],
  ],
  ["references", TREE, [{ id: 1, next: { id: 2 } }], [{ id: 1, next: {} }, 5]],
  ["true and false", { properties: { a: true, b: false } }, [{ a: 1 }], [{ b: 1 }]],
  ["no schema at all", "nonsense", [1, null], []],
  ["keywords that it does not check", { format: "email", contains: { const: 1 }, $ref: "other.json" }, ["x", []], []],
];

describe("a value", () => {
  it.each(CASES)("is checked against %s", (_name, schema, fits, misfits) => {
    for (const value of fits) expect(findMisfit(value, schema), JSON.stringify(value)).toBeNull();
    for (const value of misfits) expect(findMisfit(value, schema), JSON.stringify(value)).not.toBeNull();
  });

  it("is told where it misfits, and the rule", () => {
    expect(findMisfit({ name: "A", age: "x" }, PERSON)).toEqual({ at: "/age", must: "be of type integer" });
    expect(findMisfit([{ "a/b": {} }], { items: { properties: { "a/b": PERSON } } })).toEqual({
      at: "/0/a~1b",
      must: "have 'name'",
    });
  });

  it.each([
    ["refers to itself", { $ref: "#" }],
    ["refers in circles", { $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } }, $ref: "#/$defs/a" }],
    [
      "doubles its work with every step",
      {
        $defs: Object.fromEntries(
          Array.from({ length: 60 }, (_, step) => [
            `s${step}`,
            step === 59 ? {} : { allOf: [{ $ref: `#/$defs/s${step + 1}` }, { $ref: `#/$defs/s${step + 1}` }] },
          ]),
        ),
        $ref: "#/$defs/s0",
      },
    ],
  ])("misfits a schema that %s", (_name, schema) => {
    expect(findMisfit(1, schema)).toEqual({ at: "", must: "be small enough to be checked" });
  });
});
