// Tool-call ids made valid for a host.

import { describe, expect, it } from "vitest";
import { toolIdFor } from "../../../../src/formats/tools/calls.ts";
import { fc } from "../../../support/property.ts";

describe.each([
  ["alphanumeric-9", /^[A-Za-z0-9]{9}$/],
  ["safe-40", /^[A-Za-z0-9_-]{1,40}$/],
] as const)("%s", (rule, pattern) => {
  it("makes any id valid, the same one each time, and leaves valid ones alone", () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.string({ unit: "binary" }), fc.string({ minLength: 41, maxLength: 300 })),
        (id) => {
          const valid = toolIdFor(id, rule);
          expect(valid).toMatch(pattern);
          expect(toolIdFor(id, rule)).toBe(valid);
          expect(toolIdFor(valid, rule)).toBe(valid);
          if (pattern.test(id)) expect(valid).toBe(id);
        },
      ),
    );
  });

  it("keeps different ids apart", () => {
    const ids = Array.from({ length: 5_000 }, (_, index) => `call_${index.toString(36)}_${"x".repeat(index % 50)}!`);
    expect(new Set(ids.map((id) => toolIdFor(id, rule))).size).toBe(ids.length);
    const swapped = ["ab!", "ba!", "!ab", "a!b", "aab!", "abb!"];
    expect(new Set(swapped.map((id) => toolIdFor(id, rule))).size).toBe(swapped.length);
  });
});

describe("any", () => {
  it("leaves every id alone", () => {
    fc.assert(fc.property(fc.string(), (id) => toolIdFor(id, "any") === id));
  });
});
