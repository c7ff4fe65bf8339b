import { describe, expect, it } from "vitest";
import { type Constraints, type Controls, NO_CONSTRAINTS, NO_CONTROLS } from "../../../src/core/decision.ts";
import type { Quality } from "../../../src/core/requests/controls.ts";
import { TIERS, type Tier, tierRank } from "../../../src/core/tiers.ts";
import { isTierAllowed, placeAuto, placeForced, sliderFloor } from "../../../src/routing/adjust.ts";
import { fc } from "../../support/property.ts";

interface Case {
  readonly tier?: Tier;
  readonly isCoding?: boolean;
  readonly historyFloor?: Tier | null;
  readonly controls?: Partial<Controls>;
  readonly constraints?: Partial<Constraints>;
}

const place = ({ tier = "LIGHT", isCoding = false, historyFloor = null, controls, constraints }: Case) =>
  placeAuto({
    unsureFloor: null,
    tier,
    isCoding,
    historyFloor,
    controls: { ...NO_CONTROLS, ...controls },
    constraints: { ...NO_CONSTRAINTS, ...constraints },
  });

describe("placeAuto", () => {
  const cases: readonly [string, Case, Tier, readonly string[]][] = [
    ["nothing set", {}, "LIGHT", []],
    ["floor raises", { controls: { tierFloor: "STANDARD" } }, "STANDARD", ["requested floor raised LIGHT to STANDARD"]],
    ["floor below changes nothing", { controls: { tierFloor: "NANO" } }, "LIGHT", []],
    ["ceiling lowers", { controls: { tierCeiling: "NANO" } }, "NANO", ["requested ceiling lowered LIGHT to NANO"]],
    ["history raises", { historyFloor: "COMPLEX" }, "COMPLEX", ["history floor raised LIGHT to COMPLEX"]],
    ["profile floor", { constraints: { tierFloor: "COMPLEX" } }, "COMPLEX", ["profile floor raised LIGHT to COMPLEX"]],
    [
      "the lower ceiling",
      { controls: { tierCeiling: "SIMPLE" }, constraints: { tierCeiling: "NANO" } },
      "NANO",
      ["profile ceiling lowered LIGHT to NANO"],
    ],
    [
      "code slider 1",
      { isCoding: true, controls: { codeQuality: 1 } },
      "STANDARD",
      ["code quality slider raised LIGHT to STANDARD"],
    ],
    ["code slider without code", { controls: { codeQuality: 2 } }, "LIGHT", []],
    ["chat slider 2", { controls: { chatQuality: 2 } }, "STANDARD", ["chat quality slider raised LIGHT to STANDARD"]],
    [
      "slider and floor: the higher",
      { controls: { chatQuality: 2, tierFloor: "COMPLEX" } },
      "COMPLEX",
      ["requested floor raised LIGHT to COMPLEX"],
    ],
    [
      "request and profile slider: the higher",
      { controls: { chatQuality: 0 }, constraints: { chatQuality: 2 } },
      "STANDARD",
      ["profile chat quality raised LIGHT to STANDARD"],
    ],
    [
      "ceiling wins over floor",
      { controls: { tierFloor: "COMPLEX", tierCeiling: "SIMPLE" } },
      "SIMPLE",
      ["requested floor raised LIGHT to COMPLEX", "requested ceiling lowered COMPLEX to SIMPLE"],
    ],
  ];
  it.each(cases)("%s", (_name, given, tier, notes) => {
    const placement = place(given);
    expect(placement.tier).toBe(tier);
    expect(placement.notes).toEqual(notes);
  });

  it("ends between the highest floor and the lowest ceiling, the ceiling winning", () => {
    const anyTier = fc.constantFrom(...TIERS);
    const maybe = fc.option(anyTier);
    fc.assert(
      fc.property(
        anyTier,
        maybe,
        maybe,
        maybe,
        maybe,
        maybe,
        (tier, historyFloor, floor, ceiling, keyFloor, keyCeiling) => {
          const result = place({
            tier,
            historyFloor,
            controls: { tierFloor: floor, tierCeiling: ceiling },
            constraints: { tierFloor: keyFloor, tierCeiling: keyCeiling },
          });
          const low = Math.max(
            tierRank(tier),
            ...[historyFloor, floor, keyFloor].map((t) => (t === null ? 0 : tierRank(t))),
          );
          const high = Math.min(...[ceiling, keyCeiling].map((t) => (t === null ? 4 : tierRank(t))));
          expect(tierRank(result.tier)).toBe(Math.min(low, high));
        },
      ),
    );
  });
});

describe("sliderFloor", () => {
  const cases: readonly [Quality | null, Tier | null, Tier | null][] = [
    [null, null, null],
    [0, null, null],
    [1, "STANDARD", "LIGHT"],
    [2, "COMPLEX", "STANDARD"],
  ];
  it.each(cases)("quality %s: code %s, chat %s", (quality, code, chat) => {
    expect(sliderFloor({ codeQuality: quality, chatQuality: null }, true)).toBe(code);
    expect(sliderFloor({ codeQuality: null, chatQuality: quality }, false)).toBe(chat);
  });
});

describe("placeForced", () => {
  it("is clamped by the key's profile only", () => {
    expect(placeForced("NANO", NO_CONSTRAINTS)).toMatchObject({ tier: "NANO", notes: [] });
    expect(placeForced("NANO", { ...NO_CONSTRAINTS, tierFloor: "LIGHT" }).tier).toBe("LIGHT");
    expect(placeForced("COMPLEX", { ...NO_CONSTRAINTS, tierCeiling: "LIGHT" }).tier).toBe("LIGHT");
  });

  it("says which tiers a key may use", () => {
    const constraints = { ...NO_CONSTRAINTS, tierFloor: "SIMPLE", tierCeiling: "STANDARD" } as const;
    expect(TIERS.filter((tier) => isTierAllowed(tier, constraints))).toEqual(["SIMPLE", "LIGHT", "STANDARD"]);
  });
});
