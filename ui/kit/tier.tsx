// Tiers on screen: a badge, and the ladder of five. A tier is recognised by its name and place, never by colour alone.

import { TIERS } from "../../src/core/tiers.ts";
import * as TEXT from "./text.ts";
import { rankOf } from "./tier-ends.ts";

/** The tier of a request; with `from`, also the tier it was moved away from. */
export function TierBadge({ tier, from }: { readonly tier: string | null; readonly from?: string | null }) {
  if (tier === null) return <span class="faint">–</span>;
  const isMoved = from !== undefined && from !== null && from !== tier;
  return (
    <span class="tier" data-tier={tier}>
      <i aria-hidden="true" />
      {isMoved && <span class="faint">{from} → </span>}
      {tier}
    </span>
  );
}

/** Tiers outside of floor and ceiling are dimmed. */
interface TierLadderProps {
  readonly classified: string | null;
  readonly final: string;
  readonly floor?: string | null;
  readonly ceiling?: string | null;
}

/** The five tiers in order. `final` is where the request went, `classified` what the prompt alone would get. */
export function TierLadder({ classified, final, floor, ceiling }: TierLadderProps) {
  return (
    <ol class="ladder" aria-label={TEXT.tierLabel(final, classified === null ? "" : TEXT.classifiedAs(classified))}>
      {TIERS.map((tier, rank) => {
        const isOut = rank < rankOf(floor, 0) || rank > rankOf(ceiling, TIERS.length - 1);
        return (
          <li key={tier} data-tier={tier} class={`${tier === final ? "final" : ""} ${isOut ? "out" : ""}`}>
            <span>{tier}</span>
            <small>
              {tier === final ? "selected" : ""}
              {tier === classified && classified !== final ? "classified" : ""}
            </small>
          </li>
        );
      })}
    </ol>
  );
}

/** The tiers for a select field. */
export const TIER_OPTIONS = TIERS.map((tier) => ({ value: tier, label: tier }));
