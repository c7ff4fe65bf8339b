// What models cost against how well they call functions.

import { TIERS } from "../../../src/core/tiers.ts";
import { Figure, Legend } from "../../charts/figure.tsx";
import { Scatter } from "../../charts/scatter.tsx";
import { usd } from "../../format.ts";
import { setQuery } from "../../router.ts";
import { perMillion, type SeenModel } from "./facts.tsx";

export function PriceAgainstScore({ models }: { readonly models: readonly SeenModel[] }) {
  const known = models.filter(({ pricing, service }) => Number(pricing.completion) > 0 && service.bfcl !== null);
  if (known.length === 0) return null;
  const tiers = TIERS.filter((tier) => known.some((model) => model.tier === tier));
  return (
    <Figure
      title="Price against score"
      trend="Output price per million tokens (logarithmic) against the overall function-calling score. Up and to the left is better."
      table={{
        head: ["Model", "Output price", "Score", "Tier"],
        rows: known.map(({ id, pricing, service, tier }) => [
          id,
          usd(perMillion(pricing.completion)),
          String(service.bfcl?.overall),
          tier,
        ]),
      }}
      legend={<Legend entries={tiers.map((tier) => ({ name: tier, mark: `tier-${tier}` }))} />}
    >
      <Scatter
        label="Models by output price and function-calling score"
        dots={known.map(({ id, pricing, service, tier }) => ({
          id,
          tier,
          x: perMillion(pricing.completion) ?? 1,
          y: service.bfcl?.overall ?? 0,
          told: `${usd(perMillion(pricing.completion))} · score ${service.bfcl?.overall} · ${tier}`,
        }))}
        onPick={(model) => setQuery({ model })}
      />
    </Figure>
  );
}
