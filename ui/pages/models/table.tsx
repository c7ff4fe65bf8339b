// The table of models: sorted by its heads, stepped through with j and k, ticked for a comparison.

import { TIERS } from "../../../src/core/tiers.ts";
import { count, duration, percent, score, usd } from "../../format.ts";
import { isChordArmed, useShortcuts } from "../../keyboard.ts";
import { columnHead, numberHead, Table } from "../../kit/table.tsx";
import { TierBadge } from "../../kit/tier.tsx";
import { useRowFocus } from "../../parts/row-keys.ts";
import { hrefTo, hrefWith, setQuery } from "../../router.ts";
import { ComparePick } from "./comparison.tsx";
import { errorRate, Health, perMillion, type SeenModel } from "./facts.tsx";
import * as TEXT from "./text.ts";
import { answered } from "./words.ts";

/** Orders of the table, as the address names them. */
export type Sort = "tier" | "price" | "score" | "traffic";

/** Numbers to sort by: smaller comes first. Where more is better, the sign is turned. */
const ORDER: Readonly<Record<Sort, (model: SeenModel) => number>> = {
  // By price within a tier. No price comes near a million dollars. Models that are never routed to come last.
  tier: ({ tier, pricing }) => tierPlace(tier) * 1e6 + (perMillion(pricing.prompt) ?? 0),
  price: ({ pricing }) => perMillion(pricing.completion) ?? Number.POSITIVE_INFINITY,
  score: ({ service }) => -(service.bfcl?.overall ?? -1),
  traffic: ({ share }) => -share,
};

function tierPlace(tier: string | null): number {
  return tier === null ? TIERS.length : (TIERS as readonly string[]).indexOf(tier);
}

/** An unknown order in the address sorts by tier. */
export function sorted(models: readonly SeenModel[], sort: Sort): readonly SeenModel[] {
  const order = ORDER[sort] ?? ORDER.tier;
  return [...models].sort((a, b) => order(a) - order(b));
}

/** The models as they are to be shown. */
interface ModelTableProps {
  readonly models: readonly SeenModel[];
  readonly sort: Sort;
  readonly chosen: string | null;
  readonly compared: readonly SeenModel[];
}

/** Heads that sort are buttons, and `aria-sort` says by which. */
export function ModelTable({ models, sort, chosen, compared }: ModelTableProps) {
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
    <Table
      class="models"
      caption={TEXT.models}
      heads={[
        TEXT.model,
        head(TEXT.tier, "tier"),
        head(TEXT.priceInOut, "price"),
        head("BFCL", "score"),
        columnHead(TEXT.capabilities, "can"),
        columnHead(TEXT.context, "context", "number"),
        TEXT.health,
        numberHead(TEXT.ttftOfDay),
        numberHead(TEXT.errorsOfDay),
        head(TEXT.trafficOfDay, "traffic"),
      ]}
    >
      {models.map((model) => (
        <ModelRow key={model.id} model={model} isOpen={model.id === chosen} compared={compared} />
      ))}
    </Table>
  );
}

/** j and k open the next and the previous model. Only the first opening is a step for Back. */
function useSteps(models: readonly SeenModel[], chosen: string | null): void {
  const step = (by: number): void => {
    if (isChordArmed()) return;
    const at = models.findIndex(({ id }) => id === chosen);
    const next = models[at < 0 ? 0 : at + by];
    if (next !== undefined) setQuery({ model: next.id }, { replace: chosen !== null });
  };
  useShortcuts({ j: () => step(1), k: () => step(-1) });
  useRowFocus(chosen);
}

/** One model. */
interface ModelRowProps {
  readonly model: SeenModel;
  readonly isOpen: boolean;
  readonly compared: readonly SeenModel[];
}

/** A model without a provider key is dimmed: it cannot answer. */
function ModelRow({ model, isOpen, compared }: ModelRowProps) {
  const requests = hrefTo("/requests", { model: model.id, range: "24h", from: null, to: null });
  return (
    <tr data-row={model.id} class={`${isOpen ? "open" : ""} ${model.isRoutable ? "" : "gone"}`}>
      <th scope="row" data-cell="name">
        <div class="row">
          <ComparePick id={model.id} compared={compared} />
          <div>
            <a href={hrefWith({ model: model.id })}>{model.id}</a>
            <small class="faint block">
              {model.provider}
              {model.service.provisional && ` · ${TEXT.provisional}`}
            </small>
          </div>
        </div>
      </th>
      <td data-cell="tier">
        <TierBadge tier={model.tier} />
      </td>
      <td data-cell="price" class="number" title={TEXT.asOfDay(model.service.priceAsOf)}>
        {usd(perMillion(model.pricing.prompt))} / {usd(perMillion(model.pricing.completion))}
      </td>
      <td data-cell="score" class="number">
        {score(model.service.bfcl?.overall)}
      </td>
      <td data-cell="can" class="faint">
        {model.capabilities.join(", ")}
      </td>
      <td data-cell="context" class="number" title={TEXT.tokens(model.context_length)}>
        {count(model.context_length)}
      </td>
      <td data-cell="health">
        <Health model={model} />
      </td>
      <td data-cell="first" class="number">
        {model.usage === null ? (
          <span class="faint">–</span>
        ) : (
          <a href={requests} title={TEXT.medianOf(answered(model.usage))}>
            {duration(model.usage.firstContent.p50Ms)}
          </a>
        )}
      </td>
      <td data-cell="errors" class="number">
        {model.usage === null ? (
          <span class="faint">–</span>
        ) : (
          <a href={`${requests}&status=error`}>{errorRate(model)}</a>
        )}
      </td>
      <td data-cell="traffic" class="number">
        {model.usage === null ? <span class="faint">–</span> : <a href={requests}>{percent(model.share)}</a>}
      </td>
    </tr>
  );
}
