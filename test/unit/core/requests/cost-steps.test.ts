// Steps of cost: whatever the range, the whole steps and the edges together are exactly the range.

import { describe, expect, test } from "vitest";
import { COST_BOUNDS, costStep, NOT_CHARGED, stepsOf, touchedSteps } from "../../../../src/core/requests/buckets.ts";
import { fc } from "../../../support/property.ts";

const amount = fc.oneof(fc.constantFrom(0n, ...COST_BOUNDS), fc.bigInt({ min: 0n, max: 20_000_000_000n }));
const range = fc.record({ from: amount, to: amount }, { requiredKeys: [] });

describe("cost steps", () => {
  test("are told by the bounds that were reached", () => {
    expect([null, 0n, 999n, 1_000n, 9_999n, 10n ** 9n, 10n ** 12n].map(costStep)).toEqual([
      NOT_CHARGED,
      0,
      0,
      1,
      1,
      7,
      8,
    ]);
  });

  test("a range on the bounds has no edges", () => {
    expect(stepsOf({ from: 1_000_000n, to: 10_000_000n })).toEqual({ whole: [4, 4], edges: [] });
    expect(stepsOf({ from: 1_000_000n })).toEqual({ whole: [4, 8], edges: [] });
  });

  test("a charge is in the range exactly when it is in a whole step or in an edge, and then in a touched step", () => {
    fc.assert(
      fc.property(range, amount, ({ from, to }, charge) => {
        const cost = { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
        const isIn = (each: { from?: bigint; to?: bigint }): boolean =>
          charge >= (each.from ?? 0n) && (each.to === undefined || charge < each.to);
        const { whole, edges } = stepsOf(cost);
        const step = costStep(charge);
        const hits = (whole !== null && step >= whole[0] && step <= whole[1] ? 1 : 0) + edges.filter(isIn).length;
        expect(hits).toBe(isIn(cost) ? 1 : 0);
        const [first, last] = touchedSteps(cost);
        if (isIn(cost)) expect(step >= first && step <= last).toBe(true);
      }),
    );
  });
});
