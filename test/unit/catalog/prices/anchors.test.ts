// The confirmed price that automatic changes are measured from: feeds that agree can move a price in steps only so far.

import { describe, expect, it } from "vitest";
import { confirmedBy, withTaken } from "../../../../src/catalog/prices/anchors.ts";
import type { Anchor } from "../../../../src/catalog/prices/check.ts";
import { reviewPrices } from "../../../../src/catalog/prices/review.ts";
import { card, catalogWith, checkOf, type Figures, feed, row } from "../../../support/providers/feed-states.ts";

const MAX_PERCENT = 200;
type Anchors = Readonly<Record<string, Anchor>>;

/** What both feeds say together of the model at a price, after what was taken over before. */
function judge(inUse: Figures, said: Figures, anchors: Anchors = {}, later?: string) {
  const rows = [row("gpt", card(later === undefined ? said : inUse), laterOf(said, later))];
  const check = checkOf([feed("litellm", rows), feed("genai", rows)], { anchors });
  const [proposal] = reviewPrices(catalogWith(card(inUse)), check, MAX_PERCENT).proposals;
  if (proposal === undefined) throw new Error("nothing was proposed");
  return proposal;
}

function laterOf(said: Figures, from?: string) {
  return from === undefined ? {} : { later: [{ from, price: card(said) }] };
}

/** Takes over what the feeds say, as long as nothing keeps them from it. The price that they get to. */
function ratchet(factor: number, days: number): number {
  let anchors: Anchors = {};
  let price: Figures = [1, 4, 0.1];
  for (let day = 0; day < days; day += 1) {
    const said: Figures = [price[0] * factor, price[1] * factor, (price[2] ?? 0) * factor];
    const proposal = judge(price, said, anchors);
    if (proposal.standing !== "agreed") return price[0];
    anchors = withTaken(anchors, [proposal]);
    price = said;
  }
  return price[0];
}

describe("two feeds that agree on one step after another", () => {
  it.each([
    ["up", 1.5, 2.25],
    ["down", 0.5, 0.5],
    ["slowly", 1.02, 2.9717],
  ])("get no further than the bound: %s", (_, factor, reached) => {
    expect(ratchet(factor, 400)).toBeCloseTo(reached, 4);
  });

  it("see their next step wait, with the price that was confirmed", () => {
    const first = judge([1, 4], [2, 8]);
    expect(first).toMatchObject({ standing: "agreed", anchor: null });
    const anchors = withTaken({}, [first]);
    expect(judge([2, 8], [4, 16], anchors)).toMatchObject({
      standing: "drifted",
      anchor: { price: card([1, 4]), asOf: first.fromAsOf },
    });
    // The way back stays open.
    expect(judge([2, 8], [1.5, 6], anchors).standing).toBe("agreed");
  });

  it("cannot go further by announcing the price for a later day", () => {
    const anchors = withTaken({}, [judge([1, 4], [2, 8])]);
    expect(judge([2, 8], [4, 16], anchors, "2027-01-01").standing).toBe("drifted");
  });

  it("start from the price that a person chose meanwhile", () => {
    const anchors = withTaken({}, [judge([1, 4], [2, 8])]);
    const chosen = judge([4, 16], [8, 32], anchors);
    expect(chosen).toMatchObject({ standing: "agreed", anchor: null });
    const after = withTaken(anchors, [chosen]);
    expect(Object.values(after)).toMatchObject([{ price: card([4, 16]), taken: [card([8, 32])] }]);
  });

  it("count from the first price of a model that is new", () => {
    const named = { provider: "openai", upstream: "gpt", from: null, fromAsOf: "2026-11-19", anchor: null };
    const anchors = withTaken({}, [{ ...named, to: card([1, 4]) }]);
    const second = judge([1, 4], [2, 8], anchors);
    expect(second).toMatchObject({ standing: "agreed", anchor: { price: card([1, 4]) } });
    expect(judge([2, 8], [4, 16], withTaken(anchors, [second])).standing).toBe("drifted");
  });

  it("are measured from a newer catalogue, and not from an older one", () => {
    const anchors = withTaken({}, [{ ...judge([1, 4], [2, 8]), fromAsOf: "2026-11-18" }]);
    const shippedOn = (asOf: string) => new Map([["openai\ngpt", { price: card([2, 8]), asOf }]]);
    const standingOn = (day: string) => judge([2, 8], [4, 16], confirmedBy(shippedOn(day), { anchors })).standing;
    expect(["2026-11-18", "2026-11-19"].map(standingOn)).toEqual(["drifted", "agreed"]);
  });
});
