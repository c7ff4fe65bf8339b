// Models: what they cost, how well they call functions, what they can do, and how they are doing.

import { useState } from "preact/hooks";
import { TIERS } from "../../src/core/tiers.ts";
import { useLoad } from "../api.ts";
import { count, duration, percent, usd } from "../format.ts";
import { isChordArmed, useShortcuts } from "../keyboard.ts";
import { ButtonLink } from "../kit/button.tsx";
import { Check, TextField } from "../kit/field.tsx";
import { PageHead } from "../kit/page.tsx";
import { Empty, Shown } from "../kit/states.tsx";
import { TierBadge } from "../kit/tier.tsx";
import { hrefTo, hrefWith, place, setQuery } from "../router.ts";
import { isOperator } from "../session.ts";
import type { List, Model, Provider, Usage } from "../types.ts";
import { Health, healthStory, perMillion, type SeenModel } from "./model-facts.tsx";
import { PriceAgainstScore } from "./model-scatter.tsx";
import { ModelSheet } from "./model-sheet.tsx";

const DAY_MS = 86_400_000;
const EVERY_MS = 10_000;

type Sort = "tier" | "price" | "score" | "traffic";

export function Models() {
  const { query } = place.value;
  const models = useLoad<List<Model>>("/api/models", { everyMs: EVERY_MS });
  const [from] = useState(() => new Date(Date.now() - DAY_MS).toISOString());
  const usage = useLoad<List<Usage>>(`/api/usage?by=total&group=model&from=${from}`).data?.data ?? [];
  const words = (query.get("q") ?? "").toLowerCase();
  const isAll = query.get("show") === "all";
  const sort = (query.get("sort") ?? "tier") as Sort;
  const chosen = query.get("model");
  return (
    <>
      <PageHead
        title="Models"
        purpose="Prices per million tokens with the markup, function-calling scores, and health."
      />
      <UnwellProviders />
      <Shown load={models} rows={14}>
        {({ data }) => {
          const seen = withUsage(data, usage);
          const usable = seen.filter(({ isRoutable }) => isAll || isRoutable);
          const shown = usable.filter(({ id, provider }) => `${id} ${provider}`.toLowerCase().includes(words));
          const open = seen.find(({ id }) => id === chosen);
          return (
            <>
              <PriceAgainstScore models={usable} />
              <search class="filters">
                <TextField
                  label="Find"
                  type="search"
                  value={query.get("q") ?? ""}
                  onInput={(q) => setQuery({ q }, { replace: true })}
                />
                <Check
                  label="also those without a provider key"
                  isOn={isAll}
                  onChange={(isOn) => setQuery({ show: isOn ? "all" : null }, { replace: true })}
                />
                {chosen !== null && open === undefined && (
                  <p class="notice warn">There is no model “{chosen}” here; the ids below are valid.</p>
                )}
              </search>
              <div class={open === undefined ? "with-sheet" : "with-sheet open"}>
                {shown.length === 0 ? (
                  <Empty
                    title="No model matches"
                    action={<ButtonLink href={hrefWith({ q: null, show: null })}>Clear the search</ButtonLink>}
                  />
                ) : (
                  <ModelTable models={sorted(shown, sort)} sort={sort} chosen={chosen} />
                )}
                {open !== undefined && <ModelSheet model={open} onClose={() => setQuery({ model: null })} />}
              </div>
            </>
          );
        }}
      </Shown>
    </>
  );
}

/** A provider or key that is not well takes all its models with it, so it is said once, above them. */
function UnwellProviders() {
  const providers = useLoad<List<Provider>>(isOperator() ? "/api/providers" : null, { everyMs: EVERY_MS });
  const unwell = (providers.data?.data ?? []).flatMap(({ id, health, credential }) => [
    { name: `Provider ${id}`, health },
    { name: `The key of ${id}`, health: credential },
  ]);
  return (
    <>
      {unwell.map(({ name, health }) =>
        health === null || health.state === "closed" ? null : (
          <p key={name} class="notice warn">
            {name}: {healthStory(health)}.
          </p>
        ),
      )}
    </>
  );
}

function withUsage(models: readonly Model[], usage: readonly Usage[]): readonly SeenModel[] {
  const total = usage.reduce((sum, { requests }) => sum + requests, 0);
  return models.map((model) => {
    const own = usage.find(({ group }) => group === model.id) ?? null;
    return { ...model, usage: own, share: (own?.requests ?? 0) / (total || 1) };
  });
}

const ORDER: Readonly<Record<Sort, (model: SeenModel) => number>> = {
  tier: ({ tier, pricing }) => (TIERS as readonly string[]).indexOf(tier) * 1e6 + (perMillion(pricing.prompt) ?? 0),
  price: ({ pricing }) => perMillion(pricing.completion) ?? Number.POSITIVE_INFINITY,
  score: ({ service }) => -(service.bfcl?.overall ?? -1),
  traffic: ({ share }) => -share,
};

function sorted(models: readonly SeenModel[], sort: Sort): readonly SeenModel[] {
  const order = ORDER[sort] ?? ORDER.tier;
  return [...models].sort((a, b) => order(a) - order(b));
}

function ModelTable({
  models,
  sort,
  chosen,
}: {
  readonly models: readonly SeenModel[];
  readonly sort: Sort;
  readonly chosen: string | null;
}) {
  const head = (label: string, by: Sort) => (
    <th scope="col" class={by === "tier" ? "" : "number"} aria-sort={sort === by ? "ascending" : undefined}>
      <button
        type="button"
        class="sort"
        onClick={() => setQuery({ sort: by === "tier" ? null : by }, { replace: true })}
      >
        {label}
        {sort === by ? " ↓" : ""}
      </button>
    </th>
  );
  useSteps(models, chosen);
  return (
    <div class="table-box">
      <table class="rows models">
        <caption class="hidden">Models</caption>
        <thead>
          <tr>
            <th scope="col">Model</th>
            {head("Tier", "tier")}
            {head("Price in / out", "price")}
            {head("Score", "score")}
            <th scope="col">Can</th>
            <th scope="col" class="number">
              Context
            </th>
            <th scope="col">Health</th>
            <th scope="col" class="number">
              First token, 24 h
            </th>
            {head("Traffic, 24 h", "traffic")}
          </tr>
        </thead>
        <tbody>
          {models.map((model) => (
            <ModelRow key={model.id} model={model} isOpen={model.id === chosen} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** j and k go to the next and the previous model, whose sheet opens. */
function useSteps(models: readonly SeenModel[], chosen: string | null): void {
  const step = (by: number): void => {
    if (isChordArmed()) return;
    const at = models.findIndex(({ id }) => id === chosen);
    const next = models[at < 0 ? 0 : at + by];
    if (next !== undefined) setQuery({ model: next.id }, { replace: chosen !== null });
  };
  useShortcuts({ j: () => step(1), k: () => step(-1) });
}

function ModelRow({ model, isOpen }: { readonly model: SeenModel; readonly isOpen: boolean }) {
  const requests = hrefTo("/requests", { model: model.id, range: "24h", from: null, to: null });
  return (
    <tr class={`${isOpen ? "open" : ""} ${model.isRoutable ? "" : "gone"}`}>
      <th scope="row" data-cell="name">
        <a href={hrefTo("/models", { ...Object.fromEntries(place.value.query), model: model.id })}>{model.id}</a>
        <small class="faint block">{model.provider}</small>
      </th>
      <td data-cell="tier">
        <TierBadge tier={model.tier} />
      </td>
      <td data-cell="price" class="number" title={`as of ${model.service.priceAsOf}`}>
        {usd(perMillion(model.pricing.prompt))} / {usd(perMillion(model.pricing.completion))}
      </td>
      <td data-cell="score" class="number">
        {model.service.bfcl?.overall ?? "–"}
      </td>
      <td data-cell="can" class="faint">
        {model.capabilities.join(", ")}
      </td>
      <td data-cell="context" class="number" title={`${model.context_length} tokens`}>
        {count(model.context_length)}
      </td>
      <td data-cell="health">
        <Health model={model} />
      </td>
      <td data-cell="first" class="number">
        <a href={requests}>{duration(model.usage?.firstContent.p50Ms)}</a>
      </td>
      <td data-cell="traffic" class="number">
        <a href={requests}>{percent(model.share)}</a>
      </td>
    </tr>
  );
}
