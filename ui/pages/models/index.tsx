// Models: what they cost, how well they call functions, what they can do and how they are doing. Up to four can be
// compared.

import { useEffect } from "preact/hooks";
import { TIERS } from "../../../src/core/tiers.ts";
import { useLoad } from "../../api.ts";
import { Figure, Legend } from "../../charts/figure.tsx";
import { Scatter } from "../../charts/scatter.tsx";
import { usd } from "../../format.ts";
import { ButtonLink } from "../../kit/button.tsx";
import { Check, TextField } from "../../kit/field.tsx";
import { PageHead } from "../../kit/page.tsx";
import { Empty, Shown } from "../../kit/states.tsx";
import { go, hrefTo, hrefWith, place, setQuery } from "../../router.ts";
import { isOperator } from "../../session.ts";
import type { List, Model, Provider, Usage } from "../../types.ts";
import { CompareBar, Comparison, chosenToCompare } from "./comparison.tsx";
import { describeHealth, perMillion, type SeenModel } from "./facts.tsx";
import { ModelSheet } from "./sheet.tsx";
import { ModelTable, type Sort, sorted } from "./table.tsx";
import * as TEXT from "./text.ts";

/** Interval of reading health, which changes by itself. */
const EVERY_MS = 10_000;

/** The catalogue, or the comparison where the address asks for it. */
export function Models() {
  const { query, path } = place.value;
  // The address of a model opens the model beside the list, as a click does.
  const [, , named] = path.split("/");
  useEffect(() => {
    if (named) go(hrefTo("/models", { model: decodeURIComponent(named) }), { replace: true });
  }, [named]);
  const models = useLoad<List<Model>>("/api/models", { everyMs: EVERY_MS });
  const usage = useLoad<List<Usage>>("/api/usage?by=total&group=model&from=-24h").data?.data ?? [];
  return (
    <>
      <PageHead title={TEXT.models} purpose={TEXT.purpose} />
      <ProviderWarnings />
      <Shown load={models} rows={14}>
        {({ data }) => {
          const seen = withUsage(data, usage);
          const compared = chosenToCompare(seen);
          const isBeside = query.has("beside") && compared.length > 0;
          return isBeside ? <Comparison models={compared} all={seen} /> : <Catalogue seen={seen} compared={compared} />;
        }}
      </Shown>
    </>
  );
}

/** All models, and those ticked for a comparison. */
interface CatalogueProps {
  readonly seen: readonly SeenModel[];
  readonly compared: readonly SeenModel[];
}

/** Shows chart, search and table; one model opens beside them. The address holds all of this. */
function Catalogue({ seen, compared }: CatalogueProps) {
  const { query } = place.value;
  const words = (query.get("q") ?? "").toLowerCase();
  const isAll = query.get("show") === "all";
  const sort = (query.get("sort") ?? "tier") as Sort;
  const chosen = query.get("model");
  // The chart shows what can be used, whatever is searched for.
  const usable = seen.filter(({ isRoutable }) => isAll || isRoutable);
  const shown = usable.filter(({ id, provider }) => `${id} ${provider}`.toLowerCase().includes(words));
  // A link to a model opens the model even where the search hides its row.
  const open = seen.find(({ id }) => id === chosen);
  return (
    <>
      <PriceAgainstScore models={usable} />
      <search class="filters">
        <TextField
          label={TEXT.searchModels}
          type="search"
          value={query.get("q") ?? ""}
          onInput={(q) => setQuery({ q }, { replace: true })}
        />
        <Check
          label={TEXT.showUnconfigured}
          isOn={isAll}
          onChange={(isOn) => setQuery({ show: isOn ? "all" : null }, { replace: true })}
        />
        {chosen !== null && open === undefined && <p class="notice warn">{TEXT.unknownModel(chosen)}</p>}
      </search>
      <div class={open === undefined ? "with-sheet" : "with-sheet open"}>
        {shown.length === 0 ? (
          <Empty
            title={TEXT.noMatchingModels}
            action={<ButtonLink href={hrefWith({ q: null, show: null })}>{TEXT.clearSearch}</ButtonLink>}
          />
        ) : (
          <ModelTable models={sorted(shown, sort)} sort={sort} chosen={chosen} compared={compared} />
        )}
        {open !== undefined && <ModelSheet model={open} all={seen} onClose={() => setQuery({ model: null })} />}
      </div>
      <CompareBar models={compared} />
    </>
  );
}

/** Warns once, above the models, of a provider or key that fails and takes all its models with it. */
function ProviderWarnings() {
  const providers = useLoad<List<Provider>>(isOperator() ? "/api/providers" : null, { everyMs: EVERY_MS });
  const states = (providers.data?.data ?? []).flatMap(({ id, health, credential }) => [
    { name: TEXT.provider(id), health },
    { name: TEXT.providerKeyOf(id), health: credential },
  ]);
  return (
    <>
      {states.map(({ name, health }) =>
        health === null || health.state === "closed" ? null : (
          <p key={name} class="notice warn">
            {name}: {describeHealth(health)}.
          </p>
        ),
      )}
    </>
  );
}

/** Each model with its usage and its share of all requests. */
function withUsage(models: readonly Model[], usage: readonly Usage[]): readonly SeenModel[] {
  const total = usage.reduce((sum, { requests }) => sum + requests, 0);
  return models.map((model) => {
    const own = usage.find(({ group }) => group === model.id) ?? null;
    return { ...model, usage: own, share: (own?.requests ?? 0) / (total || 1) };
  });
}

/** Draws models by price and score; models that lack one of these are left out. */
function PriceAgainstScore({ models }: { readonly models: readonly SeenModel[] }) {
  const known = models.filter(({ pricing, service }) => Number(pricing.completion) > 0 && service.bfcl !== null);
  if (known.length === 0) return null;
  const tiers = TIERS.filter((tier) => known.some((model) => model.tier === tier));
  return (
    <Figure
      title={TEXT.chartTitle}
      trend={TEXT.chartHint}
      table={{
        head: [TEXT.model, TEXT.outputPrice, TEXT.score, TEXT.tier],
        rows: known.map(({ id, pricing, service, tier }) => [
          id,
          usd(perMillion(pricing.completion)),
          String(service.bfcl?.overall),
          tier ?? "",
        ]),
      }}
      legend={<Legend entries={tiers.map((tier) => ({ name: tier, mark: `tier-${tier}` }))} />}
    >
      <Scatter
        label={TEXT.chartCaption}
        dots={known.map(({ id, pricing, service, tier }) => ({
          id,
          tier: tier ?? "",
          x: perMillion(pricing.completion) ?? 1,
          y: service.bfcl?.overall ?? 0,
          detail: TEXT.pointSummary(usd(perMillion(pricing.completion)), service.bfcl?.overall, tier ?? ""),
        }))}
        onPick={(model) => setQuery({ model })}
      />
    </Figure>
  );
}
