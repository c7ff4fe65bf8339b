// Comparing up to four models: ticking them in the table, and the page that shows them side by side with the best of
// each row marked.

import type { ComponentChildren } from "preact";
import { CAPABILITIES, TOOL_SCENARIOS } from "../../../src/core/model.ts";
import { count, duration, percent, score, usd } from "../../format.ts";
import { Button, ButtonLink } from "../../kit/button.tsx";
import { TierBadge } from "../../kit/tier.tsx";
import { draftFragment, EMPTY_DRAFT } from "../../parts/playground-draft.ts";
import { hrefTo, hrefWith, place, setQuery } from "../../router.ts";
import { errorRate, Health, perMillion, type SeenModel } from "./facts.tsx";
import * as TEXT from "./text.ts";
import { standingText } from "./words.ts";

/** The chosen models, and all of them for the list to add from. */
interface ComparisonProps {
  readonly models: readonly SeenModel[];
  readonly all: readonly SeenModel[];
}

/** Facts in groups; models are added and removed in place. */
export function Comparison({ models, all }: ComparisonProps) {
  const ids = models.map(({ id }) => id);
  const others = all.filter(({ id, isRoutable }) => isRoutable && !ids.includes(id));
  return (
    <section class="card" aria-label={TEXT.comparison}>
      <div class="head-row">
        <h2>{TEXT.sideBySide}</h2>
        {models.length < COMPARED_MAX && (
          <select
            class="fit"
            aria-label={TEXT.addToComparison}
            value=""
            onChange={(event) => setQuery(compare([...ids, event.currentTarget.value]))}
          >
            <option value="">{TEXT.addAModel}</option>
            {others.map(({ id }) => (
              <option key={id} value={id}>
                {id}
              </option>
            ))}
          </select>
        )}
        <ButtonLink href={playgroundHref(ids)}>{TEXT.openInPlayground}</ButtonLink>
        <ButtonLink href={hrefWith({ beside: null })}>{TEXT.allModels}</ButtonLink>
      </div>
      <div class="table-box">
        <table class="beside">
          <caption class="hidden">{TEXT.modelsSideBySide}</caption>
          <Head models={models} />
          {GROUPS.map(({ title, facts }) => (
            <tbody key={title}>
              <tr>
                <th scope="rowgroup" colSpan={models.length + 1}>
                  {title}
                </th>
              </tr>
              {facts.map((fact) => (
                <FactRow key={fact.name} fact={fact} models={models} />
              ))}
            </tbody>
          ))}
        </table>
      </div>
    </section>
  );
}

/** The last model cannot be removed: there would be nothing left to show. */
function Head({ models }: { readonly models: readonly SeenModel[] }) {
  const without = (id: string) => compare(models.map((model) => model.id).filter((each) => each !== id));
  return (
    <thead>
      <tr>
        <td />
        {models.map(({ id, provider }) => (
          <th key={id} scope="col">
            <div class="row">
              <a class="grow" href={hrefWith({ model: id, beside: null })}>
                {id}
              </a>
              {models.length > 1 && (
                <button
                  type="button"
                  class="button quiet icon"
                  aria-label={TEXT.removeModel(id)}
                  onClick={() => setQuery(without(id))}
                >
                  ✕
                </button>
              )}
            </div>
            <small class="faint">{provider}</small>
          </th>
        ))}
      </tr>
    </thead>
  );
}

/** The same models as a comparison in the playground. */
function playgroundHref([first = "", ...others]: readonly string[]): string {
  const draft = { ...EMPTY_DRAFT, mode: "direct" as const, model: first, others: others.map((id) => `model:${id}`) };
  return `${hrefTo("/playground")}${draftFragment(draft)}`;
}

/** One row of the comparison. */
interface Fact {
  readonly name: string;
  readonly show: (model: SeenModel) => ComponentChildren;
  /** Number of a model for this fact: the smallest is the best. Facts of which more is better turn the sign. */
  readonly rank?: (model: SeenModel) => number | null | undefined;
}

/** Nothing is marked where all are equal. */
function FactRow({ fact, models }: { readonly fact: Fact; readonly models: readonly SeenModel[] }) {
  const ranks = models.map((model) => fact.rank?.(model) ?? null);
  const known = ranks.filter((rank) => rank !== null);
  const best = new Set(known).size > 1 ? Math.min(...known) : null;
  return (
    <tr>
      <th scope="row">{fact.name}</th>
      {models.map((model, index) => (
        <td key={model.id}>
          {best !== null && ranks[index] === best ? (
            <b class="good">
              {fact.show(model)} <span class="faint">{TEXT.best}</span>
            </b>
          ) : (
            fact.show(model)
          )}
        </td>
      ))}
    </tr>
  );
}

/** Turns the sign, for facts of which more is better. */
function negative(value: number | null | undefined): number | null {
  return value === null || value === undefined ? null : -value;
}

/** Rounded, with the exact number as the tooltip. */
const exactTokens = (tokens: number) => <span title={TEXT.tokens(tokens)}>{count(tokens)}</span>;

/** All rows, in groups. */
const GROUPS: readonly { readonly title: string; readonly facts: readonly Fact[] }[] = [
  {
    title: TEXT.price,
    facts: [
      {
        name: TEXT.input,
        show: ({ pricing }) => usd(perMillion(pricing.prompt)),
        rank: ({ pricing }) => perMillion(pricing.prompt),
      },
      {
        name: TEXT.output,
        show: ({ pricing }) => usd(perMillion(pricing.completion)),
        rank: ({ pricing }) => perMillion(pricing.completion),
      },
      { name: TEXT.asOf, show: ({ service }) => service.priceAsOf },
    ],
  },
  {
    title: TEXT.routingAndLimits,
    facts: [
      { name: TEXT.tier, show: ({ tier }) => <TierBadge tier={tier} /> },
      { name: TEXT.fallbackChains, show: ({ chains }) => standingText(chains) },
      {
        name: TEXT.context,
        show: (model) => exactTokens(model.context_length),
        rank: (model) => -model.context_length,
      },
      {
        name: TEXT.outputLimit,
        show: (model) => exactTokens(model.max_output_tokens),
        rank: (model) => -model.max_output_tokens,
      },
    ],
  },
  {
    title: TEXT.capabilities,
    facts: CAPABILITIES.map((capability) => ({
      name: capability,
      show: ({ capabilities }) => (capabilities.includes(capability) ? "yes" : <span class="faint">{TEXT.no}</span>),
    })),
  },
  {
    title: TEXT.bfclScore,
    facts: (["overall", ...TOOL_SCENARIOS] as const).map((scenario) => ({
      name: scenario.replaceAll("_", " "),
      show: ({ service }) => score(service.bfcl?.[scenario]),
      rank: ({ service }) => negative(service.bfcl?.[scenario]),
    })),
  },
  {
    title: TEXT.last24Hours,
    facts: [
      { name: TEXT.health, show: (model) => <Health model={model} /> },
      { name: TEXT.shareOfTraffic, show: ({ share }) => percent(share) },
      { name: TEXT.requests, show: ({ id, usage }) => <RequestsLink id={id} requests={usage?.requests ?? 0} /> },
      {
        name: "TTFT (p50)",
        show: ({ usage }) => duration(usage?.firstContent.p50Ms),
        rank: ({ usage }) => usage?.firstContent.p50Ms,
      },
      {
        name: "TTFT (p95)",
        show: ({ usage }) => duration(usage?.firstContent.p95Ms),
        rank: ({ usage }) => usage?.firstContent.p95Ms,
      },
      {
        name: TEXT.totalP50,
        show: ({ usage }) => duration(usage?.latency.p50Ms),
        rank: ({ usage }) => usage?.latency.p50Ms,
      },
      {
        name: TEXT.errorRate,
        show: errorRate,
        rank: ({ usage }) => (usage === null ? null : usage.errors / usage.requests),
      },
      { name: TEXT.spend, show: ({ usage }) => usd(usage?.chargeUsd) },
    ],
  },
];

/** The requests of a model in the last 24 hours. */
function RequestsLink({ id, requests }: { readonly id: string; readonly requests: number }) {
  if (requests === 0) return <span class="faint">0</span>;
  return <a href={hrefTo("/requests", { model: id, range: "24h", from: null, to: null })}>{count(requests)}</a>;
}

/** Number of models that fit beside each other. */
const COMPARED_MAX = 4;

/** Models of the address, in its order. Unknown ones and repetitions are ignored. */
export function chosenToCompare(models: readonly SeenModel[]): readonly SeenModel[] {
  const ids = (place.value.query.get("compare") ?? "").split(",");
  return [...new Set(ids)].flatMap((id) => models.filter((model) => model.id === id)).slice(0, COMPARED_MAX);
}

/** A choice as a change of the address. */
function compare(ids: readonly string[]): { readonly compare: string } {
  return { compare: ids.slice(0, COMPARED_MAX).join(",") };
}

/** The box beside a model; disabled when four are ticked. */
export function ComparePick({ id, compared }: { readonly id: string; readonly compared: readonly SeenModel[] }) {
  const ids = compared.map((model) => model.id);
  const isIn = ids.includes(id);
  return (
    <input
      type="checkbox"
      aria-label={TEXT.compareModel(id)}
      checked={isIn}
      disabled={!isIn && ids.length >= COMPARED_MAX}
      onChange={() => setQuery(compare(isIn ? ids.filter((each) => each !== id) : [...ids, id]), { replace: true })}
    />
  );
}

/** Stays in sight while models are ticked further down. */
export function CompareBar({ models }: { readonly models: readonly SeenModel[] }) {
  if (models.length === 0) return null;
  return (
    <div class="save-bar" role="status">
      <span class="grow">
        {models.map(({ id }) => id).join(", ")}{" "}
        <span class="faint">
          {models.length === 1 ? TEXT.selectAnotherToCompare : TEXT.shareOf(models.length, COMPARED_MAX)}
        </span>
      </span>
      <Button onClick={() => setQuery({ compare: null }, { replace: true })}>{TEXT.clear}</Button>
      {models.length > 1 && (
        <ButtonLink kind="primary" href={hrefWith({ beside: "1", model: null })}>
          {TEXT.compareSideBySide}
        </ButtonLink>
      )}
    </div>
  );
}
