// Adjustments of a tier by rules that are not about the prompt's words: history floor, floors, sliders, ceilings.
// A ceiling beats a floor. Behaviour 5.1, 5.2.

import type { CascadeBounds, Constraints, Controls } from "../core/decision.ts";
import type { Quality } from "../core/requests/controls.ts";
import { higherTier, lowerTier, TIERS, type Tier, tierRank } from "../core/tiers.ts";
import type { Escalation } from "./sessions/evidence.ts";
import * as TEXT from "./text.ts";

export interface Placement {
  readonly tier: Tier;
  /** The highest tier that may be used at all; null when nothing limits it. */
  readonly ceiling: Tier | null;
  /** The lowest tier that was asked for, by request or profile; null when none was. */
  readonly floor: Tier | null;
  /** By how many tiers evidence of failure raised it, as far as the ceiling allows. */
  readonly escalated: number;
  /** The steps that changed the tier, in order. */
  readonly notes: readonly string[];
}

export interface AutoPlacementInput {
  readonly tier: Tier;
  readonly isCoding: boolean;
  /** The lowest tier for a classification that is not sure; null for a sure one. */
  readonly unsureFloor: Tier | null;
  readonly historyFloor: Tier | null;
  /** Evidence of failure in the conversation; absent or zero tiers where there is none. */
  readonly escalation?: Pick<Escalation, "tiers" | "because">;
  readonly controls: Controls;
  readonly constraints: Constraints;
  readonly cascade?: CascadeBounds | undefined;
}

/** A tier and the name of what asks for it. */
type Bound = readonly [Tier | null, string];

const { bounds: BOUNDS } = TEXT;
const NO_BOUND: Bound = [null, BOUNDS.nothing];

/** Most bounds are not asked for. */
function bound(tier: Tier | null, name: string): Bound {
  return tier === null ? NO_BOUND : [tier, name];
}

/** The steps in their order: unsure, history floor, highest floor, evidence of failure, lowest ceiling. */
export function placeAuto(input: AutoPlacementInput): Placement {
  const { controls, constraints, isCoding, historyFloor, cascade } = input;
  const floors: readonly Bound[] = [
    bound(controls.tierFloor, BOUNDS.requestedFloor),
    bound(sliderFloor(controls, isCoding), isCoding ? BOUNDS.codeQuality : BOUNDS.chatQuality),
    bound(constraints.tierFloor, BOUNDS.profileFloor),
    bound(sliderFloor(constraints, isCoding), isCoding ? BOUNDS.profileCodeQuality : BOUNDS.profileChatQuality),
    bound(cascade?.floor ?? null, BOUNDS.cascade),
  ];
  const ceilings: readonly Bound[] = [
    bound(controls.tierCeiling, BOUNDS.requestedCeiling),
    bound(constraints.tierCeiling, BOUNDS.profileCeiling),
    bound(cascade?.ceiling ?? null, BOUNDS.cascade),
  ];
  const steps: readonly Bound[] = [
    bound(input.unsureFloor, BOUNDS.unsure),
    bound(historyFloor, BOUNDS.historyFloor),
    highest(floors),
  ];
  return applyBounds({ start: input.tier, floors: steps, escalation: input.escalation, ceiling: lowest(ceilings) });
}

/** A forced tier is taken as it is; only what the key's profile allows may change it. */
export function placeForced(tier: Tier, constraints: Constraints): Placement {
  const floor: Bound = [constraints.tierFloor, BOUNDS.profileFloor];
  return applyBounds({ start: tier, floors: [floor], ceiling: [constraints.tierCeiling, BOUNDS.profileCeiling] });
}

/** Tells whether a key with these constraints may use a model of this tier. */
export function isTierAllowed(tier: Tier, constraints: Constraints): boolean {
  return placeForced(tier, constraints).tier === tier;
}

/** By the value of the slider. Behaviour 5.10. */
const CODE_FLOORS = [null, "STANDARD", "COMPLEX"] as const;
const CHAT_FLOORS = [null, "LIGHT", "STANDARD"] as const;

interface Sliders {
  readonly codeQuality: Quality | null;
  readonly chatQuality: Quality | null;
}

export function sliderFloor(sliders: Sliders, isCoding: boolean): Tier | null {
  return isCoding ? CODE_FLOORS[sliders.codeQuality ?? 0] : CHAT_FLOORS[sliders.chatQuality ?? 0];
}

interface TierBounds {
  readonly start: Tier;
  readonly floors: readonly Bound[];
  readonly escalation?: AutoPlacementInput["escalation"];
  readonly ceiling: Bound;
}

function applyBounds({ start, floors, escalation, ceiling }: TierBounds): Placement {
  const notes: string[] = [];
  let tier = start;
  for (const [floor, name] of floors) {
    if (floor === null || tierRank(floor) <= tierRank(tier)) continue;
    notes.push(TEXT.raised(name, tier, floor));
    tier = floor;
  }
  const unraised = tier;
  let lowestAsked = floors.at(-1)?.[0] ?? null;
  if (escalation !== undefined && escalation.tiers > 0) {
    const raised = raisedBy(tier, escalation.tiers);
    if (raised !== tier) notes.push(TEXT.escalated(escalation.because, tier, raised));
    tier = raised;
    // A model below would only fail once more.
    lowestAsked = raised;
  }
  const [top, name] = ceiling;
  if (top !== null && tierRank(tier) > tierRank(top)) {
    notes.push(TEXT.lowered(name, tier, top));
    tier = top;
  }
  const escalated = Math.max(0, tierRank(tier) - tierRank(unraised));
  return { tier, ceiling: top, floor: lowestAsked, escalated, notes };
}

function raisedBy(tier: Tier, tiers: number): Tier {
  return TIERS[Math.min(TIERS.length - 1, tierRank(tier) + tiers)] as Tier;
}

function highest(bounds: readonly Bound[]): Bound {
  return bounds.reduce((best, bound) => (choose(best[0], bound[0], higherTier) === best[0] ? best : bound));
}

function lowest(bounds: readonly Bound[]): Bound {
  return bounds.reduce((best, bound) => (choose(best[0], bound[0], lowerTier) === best[0] ? best : bound));
}

function choose(a: Tier | null, b: Tier | null, pick: (a: Tier, b: Tier) => Tier): Tier | null {
  if (a === null || b === null) return a ?? b;
  return pick(a, b);
}
