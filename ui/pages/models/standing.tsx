// Where a model stands in the chain of each tier, beside those that are asked before and after it.

import { ordinal } from "../../format.ts";
import { TierBadge } from "../../kit/tier.tsx";
import { hrefWith } from "../../router.ts";
import type { Model } from "../../types.ts";

export function Standing({ model, all }: { readonly model: Model; readonly all: readonly Model[] }) {
  if (model.chains.length === 0) return <p class="faint">In no tier's chain: asked for by name only.</p>;
  return (
    <>
      <ul class="standing">
        {model.chains.map(({ tier, place, of }) => (
          <li key={tier}>
            <TierBadge tier={tier} /> <b>{`${ordinal(place)} of ${of}`}</b>
            <ol aria-label={`The chain of ${tier}`}>
              {chainOf(tier, all).map(({ id }) => (
                <li key={id}>
                  {id === model.id ? <b aria-current="true">{id}</b> : <a href={hrefWith({ model: id })}>{id}</a>}
                </li>
              ))}
            </ol>
          </li>
        ))}
      </ul>
      <p class="small faint">
        As configured. With tools the order follows the scores below; a model that rests is asked last.
      </p>
    </>
  );
}

function chainOf(tier: string, all: readonly Model[]): readonly Model[] {
  const placeOf = ({ chains }: Model): number => chains.find((place) => place.tier === tier)?.place ?? 0;
  return all.filter((model) => placeOf(model) > 0).sort((a, b) => placeOf(a) - placeOf(b));
}
