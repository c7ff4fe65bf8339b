// Price feeds: prices that differ and why they wait, provisional models, and models that nobody has priced. One
// press adopts each.

import { useState } from "preact/hooks";
import { call, useLoad } from "../../api.ts";
import { ago, count, plural, usd } from "../../format.ts";
import { Button } from "../../kit/button.tsx";
import { SearchInput } from "../../kit/field.tsx";
import { Section } from "../../kit/page.tsx";
import { Shown } from "../../kit/states.tsx";
import { Table } from "../../kit/table.tsx";
import { useTask } from "../../kit/task.tsx";
import type { PriceReview } from "../../types.ts";
import { showPublished } from "./published.ts";
import * as TEXT from "./text.ts";

type Change = PriceReview["changes"][number];
type Feed = PriceReview["feeds"][number];
type Unpriced = PriceReview["unpriced"][number];
/** Model to price, with the price that was typed where the list has none. */
type Adoptable = Pick<Unpriced, "provider" | "upstream"> & {
  readonly typed?: object;
  readonly feed?: Feed["feed"];
  readonly startsOn?: string | undefined;
};
type Adopt = (...hosts: readonly Adoptable[]) => void;

/** Number of models that are shown: OpenRouter alone has some hundred. */
const SHOWN_MAX = 50;

export function Prices() {
  const prices = useLoad<PriceReview>("/api/prices");
  const { problem, isBusy, run } = useTask();
  const adopt: Adopt = (...hosts) => {
    const body = {
      hosts: hosts.map(({ provider, upstream, typed, feed, startsOn }) => ({
        provider,
        upstream,
        price: typed,
        feed,
        startsOn,
      })),
    };
    void run(call("POST", "/api/prices/adopt", { body }), () => showPublished(TEXT.adopted));
  };
  return (
    <Shown load={prices} rows={6}>
      {({ checkedAt, everyHours, oldest, feeds, changes, provisional, unpriced }) => (
        <>
          <p class="row wrap">
            <span class="grow faint">
              {TEXT.compared(ago(checkedAt))} {everyHours === 0 ? TEXT.checksOff : TEXT.byItself(everyHours)}{" "}
              {oldest !== null && TEXT.oldest(oldest.model, ago(oldest.since))}
            </span>
            <Button isBusy={isBusy} onClick={() => void run(call("POST", "/api/prices/check"), () => undefined)}>
              {TEXT.checkNow}
            </Button>
          </p>
          {feeds.flatMap(troublesOf).map((trouble) => (
            <p key={trouble} class="notice warn">
              {trouble}
            </p>
          ))}
          {problem}
          <Section title={TEXT.differ}>
            {checkedAt === null ? TEXT.notChecked : <Changes changes={changes} feeds={feeds} onAdopt={adopt} />}
          </Section>
          {feeds.length > 0 && <Feeds feeds={feeds} />}
          {provisional.length > 0 && <Provisional models={provisional} />}
          <Section title={TEXT.unpriced}>
            <p class="faint">{unpriced.length === 0 ? TEXT.noneUnpriced : TEXT.unpricedHint}</p>
            {unpriced.length > 0 && <UnpricedModels models={unpriced} onAdopt={adopt} />}
          </Section>
        </>
      )}
    </Shown>
  );
}

/** Sentences that an operator should read about a feed. Prices stay as they are meanwhile. */
function troublesOf({ label, problem, isStale, changedAt, lost }: Feed): readonly string[] {
  return [
    ...(problem === null ? [] : [`${label}: ${problem}`]),
    ...(isStale ? [`${label} ${TEXT.feedStale(ago(changedAt))}`] : []),
    ...(lost.length === 0 ? [] : [`${label} ${TEXT.feedLost(lost.join(", "))}.`]),
  ];
}

function Feeds({ feeds }: { readonly feeds: readonly Feed[] }) {
  return (
    <Section title={TEXT.feeds}>
      <ul class="plain-list">
        {feeds.map(({ feed, label, source, models, readAt }) => (
          <li key={feed} title={source}>
            {label} <small class="faint">{TEXT.feedRead(plural(models, "price"), ago(readAt))}</small>
          </li>
        ))}
      </ul>
    </Section>
  );
}

function Provisional({ models }: { readonly models: PriceReview["provisional"] }) {
  return (
    <Section title={TEXT.provisional}>
      <p class="faint">{TEXT.provisionalHint}</p>
      <ul class="plain-list">
        {models.slice(0, SHOWN_MAX).map(({ model, provider, price, priceSource }) => (
          <li key={model}>
            {model} <small class="faint">{provider}</small> {pair(price)} <small class="faint">{priceSource}</small>
          </li>
        ))}
      </ul>
      {models.length > SHOWN_MAX && <p class="faint">{TEXT.andMore(models.length - SHOWN_MAX)}</p>}
    </Section>
  );
}

interface Pair {
  readonly input: number;
  readonly output: number;
  readonly bands?: readonly { readonly above: number; readonly input: number; readonly output: number }[];
}

function pair(price: Pair | null): string {
  if (price === null) return "–";
  const bands = (price.bands ?? []).map(({ above, ...band }) => TEXT.abovePrompt(count(above), pair(band)));
  return [`${usd(price.input)} / ${usd(price.output)}`, ...bands].join("; ");
}

interface ChangesProps {
  readonly changes: readonly Change[];
  readonly feeds: readonly Feed[];
  readonly onAdopt: Adopt;
}

interface AdoptButtonsProps {
  readonly change: Change;
  readonly labels: ReadonlyMap<string, string>;
  readonly onAdopt: Adopt;
}

/** Lists prices that differ. A price that the file sets can only be changed in the file. */
function Changes({ changes, feeds, onAdopt }: ChangesProps) {
  // A price that an operator wrote, or that feeds dispute, is only adopted by itself.
  const free = changes.filter(({ locked, isOwn, standing }) => locked === null && !isOwn && standing !== "disputed");
  const labels = new Map(feeds.map(({ feed, label }) => [feed, label]));
  if (changes.length === 0) return <p class="faint">{TEXT.noneDiffer}</p>;
  return (
    <>
      {free.length > 1 && <Button onClick={() => onAdopt(...free.map(hostOf))}>{TEXT.adoptAll(free.length)}</Button>}
      <Table class="compact" caption={TEXT.differ} heads={[TEXT.model, TEXT.now, TEXT.inList, TEXT.change, ""]}>
        {changes.map((change) => (
          <tr key={`${change.provider} ${change.upstream} ${change.startsOn}`}>
            <th scope="row">
              {change.model} <small class="faint">{change.provider}</small>{" "}
              {change.startsOn !== null && <small class="faint">{TEXT.startsOn(change.startsOn)}</small>}
            </th>
            <td title={change.priceSource}>
              {pair(change.price)}{" "}
              <small class="faint">{change.isOwn ? TEXT.ownPrice(change.priceAsOf) : change.priceAsOf}</small>
              {change.confirmed !== null && (
                <small class="faint"> {TEXT.confirmedPrice(pair(change.confirmed.price), change.confirmed.asOf)}</small>
              )}
            </td>
            <td>
              {change.feeds.map(({ feed, price }) => (
                <div key={feed}>{TEXT.feedSays(labels.get(feed) ?? feed, pair(price))}</div>
              ))}
            </td>
            <td>
              {change.percent === null ? TEXT.newPrice : `${change.percent}%`}{" "}
              <small class="faint">{TEXT.standings[change.standing]}</small>
            </td>
            <td>
              {change.locked === null ? (
                <AdoptButtons change={change} labels={labels} onAdopt={onAdopt} />
              ) : (
                <small class="faint">{TEXT.lockedBy(change.locked.place)}</small>
              )}
            </td>
          </tr>
        ))}
      </Table>
    </>
  );
}

function hostOf({ provider, upstream, startsOn }: Change): Adoptable {
  return { provider, upstream, startsOn: startsOn ?? undefined };
}

/** One for each feed where they dispute the price, else one. */
function AdoptButtons({ change, labels, onAdopt }: AdoptButtonsProps) {
  const { standing, feeds } = change;
  const model = change.startsOn === null ? change.model : `${change.model} ${TEXT.startsOn(change.startsOn)}`;
  if (standing !== "disputed") {
    return (
      <Button kind="quiet" label={TEXT.adoptNamed(model)} onClick={() => onAdopt(hostOf(change))}>
        {TEXT.adopt}
      </Button>
    );
  }
  return feeds
    .filter(({ isSame }) => !isSame)
    .map(({ feed }) => {
      const label = labels.get(feed) ?? feed;
      return (
        <Button
          key={feed}
          kind="quiet"
          label={TEXT.adoptFrom(model, label)}
          onClick={() => onAdopt({ ...hostOf(change), feed })}
        >
          {label}
        </Button>
      );
    });
}

/** Lists models without a price. A search takes words of model and provider. */
function UnpricedModels({ models, onAdopt }: { readonly models: readonly Unpriced[]; readonly onAdopt: Adopt }) {
  const [words, setWords] = useState("");
  const wanted = words.toLowerCase().split(" ");
  const found = models.filter(({ provider, upstream }) =>
    wanted.every((word) => `${provider} ${upstream}`.toLowerCase().includes(word)),
  );
  return (
    <>
      <SearchInput label={TEXT.searchModels} value={words} onInput={setWords} />
      <ul class="plain-list">
        {found.slice(0, SHOWN_MAX).map((model) => (
          <UnpricedModel key={`${model.provider} ${model.upstream}`} model={model} onAdopt={onAdopt} />
        ))}
      </ul>
      {found.length > SHOWN_MAX && <p class="faint">{TEXT.andMore(found.length - SHOWN_MAX)}</p>}
    </>
  );
}

/** Parts of a price, as the configuration names them. */
const SIDES = ["input", "output", "cacheRead", "cacheWrite"] as const;
type Side = (typeof SIDES)[number];

/** Offers the price of the list. A price that the operator types counts instead. */
function UnpricedModel({ model, onAdopt }: { readonly model: Unpriced; readonly onAdopt: Adopt }) {
  const { provider, upstream, listed, context } = model;
  const [figures, setFigures] = useState<Partial<Record<Side, string>> | null>(null);
  const figureOf = (side: Side): string => figures?.[side] ?? String(listed?.[side] ?? "");
  const adopt = (event: Event): void => {
    event.preventDefault();
    const given = SIDES.filter((side) => figureOf(side) !== "").map((side) => [side, Number(figureOf(side))]);
    onAdopt(figures === null ? model : { provider, upstream, typed: Object.fromEntries(given) });
  };
  return (
    <li>
      <form class="row wrap" onSubmit={adopt}>
        <span class="grow">
          {upstream} <small class="faint">{provider}</small>
          {context !== null && <small class="faint"> · {plural(context, "token")}</small>}
        </span>
        {SIDES.map((side, index) => (
          <input
            key={side}
            type="number"
            min="0"
            max="10000"
            step="0.000001"
            required={index < 2}
            aria-label={TEXT.priceOf(side, upstream)}
            placeholder={side}
            value={figureOf(side)}
            onInput={(event) => setFigures({ ...figures, [side]: event.currentTarget.value })}
          />
        ))}
        <Button kind="quiet" type="submit" label={TEXT.adoptNamed(upstream)}>
          {TEXT.adopt}
        </Button>
      </form>
    </li>
  );
}
