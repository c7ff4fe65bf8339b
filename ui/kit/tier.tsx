// Tiers in sight: a badge, the ladder of five with its marks, and a range of them. A tier is told by its name and its
// place on the ladder, never by colour alone.

import { TIERS } from "../../src/core/tiers.ts";
import { SelectField } from "./field.tsx";

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

/** The five tiers in order; `final` is where the request went, `classified` what the prompt alone would have got. */
export function TierLadder({
  classified,
  final,
  floor,
  ceiling,
}: {
  readonly classified: string | null;
  readonly final: string;
  readonly floor?: string | null;
  readonly ceiling?: string | null;
}) {
  return (
    <ol class="ladder" aria-label={`Tier ${final}${classified === null ? "" : `, classified as ${classified}`}`}>
      {TIERS.map((tier, rank) => {
        const isOut = rank < rankOf(floor, 0) || rank > rankOf(ceiling, TIERS.length - 1);
        return (
          <li key={tier} data-tier={tier} class={`${tier === final ? "final" : ""} ${isOut ? "out" : ""}`}>
            <span>{tier}</span>
            <small>
              {tier === final ? "used" : ""}
              {tier === classified && classified !== final ? "classified" : ""}
            </small>
          </li>
        );
      })}
    </ol>
  );
}

export const TIER_OPTIONS = TIERS.map((tier) => ({ value: tier, label: tier }));

/** Lowest and highest tier allowed; the ends are "none". */
export function TierRange({
  floor,
  ceiling,
  onChange,
}: {
  readonly floor: string | null;
  readonly ceiling: string | null;
  readonly onChange: (floor: string | null, ceiling: string | null) => void;
}) {
  const none = { value: "", label: "none" };
  const isCrossed = floor !== null && ceiling !== null && rankOf(floor, 0) > rankOf(ceiling, 4);
  return (
    <div class="pair">
      <SelectField
        label="Lowest tier"
        value={floor ?? ""}
        options={[none, ...TIER_OPTIONS]}
        onChange={(tier) => onChange(tier || null, ceiling)}
        error={isCrossed ? "Above the highest tier: the highest wins." : null}
      />
      <SelectField
        label="Highest tier"
        value={ceiling ?? ""}
        options={[none, ...TIER_OPTIONS]}
        onChange={(tier) => onChange(floor, tier || null)}
      />
    </div>
  );
}

function rankOf(tier: string | null | undefined, otherwise: number): number {
  const rank = (TIERS as readonly (string | null | undefined)[]).indexOf(tier);
  return rank < 0 ? otherwise : rank;
}
