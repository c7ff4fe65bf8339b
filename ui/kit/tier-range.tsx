// The tiers allowed, as one range with two handles. Each handle is the browser's own slider, so it has its keys and is
// read out.

import { useId } from "preact/hooks";
import { TIERS } from "../../src/core/tiers.ts";
import * as TEXT from "./text.ts";
import { LAST, nearerEnd, rangeText, rankOf } from "./tier-ends.ts";

/** The ends as a profile holds them; null is open. */
interface Ends {
  readonly floor: string | null;
  readonly ceiling: string | null;
}

/** A click on a tier moves the nearer handle. The handles cannot pass each other, and an outermost stop means open. */
export function TierRange({
  floor,
  ceiling,
  onChange,
}: Ends & { readonly onChange: (floor: string | null, ceiling: string | null) => void }) {
  const id = useId();
  const [low, high] = [rankOf(floor, 0), rankOf(ceiling, LAST)];
  const setLow = (rank: number): void => onChange(rank === 0 ? null : (TIERS[rank] ?? null), ceiling);
  const setHigh = (rank: number): void => onChange(floor, rank === LAST ? null : (TIERS[rank] ?? null));
  const pick = (rank: number): void => (nearerEnd(rank, low, high) === "low" ? setLow(rank) : setHigh(rank));
  return (
    <fieldset class="field tier-range" aria-describedby={`${id}-about`}>
      <legend>{TEXT.tiersAllowed}</legend>
      <div class="stops">
        {TIERS.map((tier, rank) => (
          <button
            key={tier}
            type="button"
            tabIndex={-1}
            class={rank < low || rank > high ? "out" : ""}
            data-tier={tier}
            aria-label={TEXT.moveNearerHandle(tier)}
            onClick={() => pick(rank)}
          >
            {tier}
          </button>
        ))}
        <Handle label={TEXT.lowestTier} kind="floor" rank={low} least={0} most={high} onMove={setLow} />
        <Handle label={TEXT.highestTier} kind="ceiling" rank={high} least={low} most={LAST} onMove={setHigh} />
      </div>
      <p id={`${id}-about`} class={low > high ? "error" : "hint"}>
        {rangeText(low, high)}
      </p>
    </fieldset>
  );
}

/** One handle. `least` and `most` are the stops it may reach. */
interface HandleProps {
  readonly label: string;
  readonly kind: "floor" | "ceiling";
  readonly rank: number;
  readonly least: number;
  readonly most: number;
  readonly onMove: (rank: number) => void;
}

/** One of two sliders. Both span the whole scale and lie on top of each other, so each is bounded here. */
function Handle({ label, kind, rank, least, most, onMove }: HandleProps) {
  const isOpen = kind === "floor" ? rank === 0 : rank === LAST;
  return (
    <input
      type="range"
      class={kind}
      aria-label={label}
      aria-valuetext={isOpen ? TEXT.noLimitAt(TIERS[rank]) : TIERS[rank]}
      min={0}
      max={LAST}
      step={1}
      value={rank}
      onInput={(event) => {
        const wanted = Math.min(Math.max(Number(event.currentTarget.value), least), Math.max(least, most));
        // The slider knows no bounds but the ends of the scale: it is put back where it may stand.
        event.currentTarget.value = String(wanted);
        if (wanted !== rank) onMove(wanted);
      }}
    />
  );
}
