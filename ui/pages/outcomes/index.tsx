// Outcomes: how often the cheaper answers agree with those of a second model, with bounds, and a verdict in words.

import { useState } from "preact/hooks";
import { useLoad } from "../../api.ts";
import { balance, categoryName, count, duration, percent, usd } from "../../format.ts";
import { ButtonLink } from "../../kit/button.tsx";
import { Choice, SelectField } from "../../kit/field.tsx";
import { PageHead, Section } from "../../kit/page.tsx";
import { Empty, Shown } from "../../kit/states.tsx";
import { numberHead, Table } from "../../kit/table.tsx";
import { TierBadge } from "../../kit/tier.tsx";
import { Shadow } from "../../parts/shadow.tsx";
import { hrefTo, place, setQuery } from "../../router.ts";
import type { Outcomes as Found, List, Profile } from "../../types.ts";
import * as TEXT from "./text.ts";

type Row = Found["data"][number];

export function Outcomes() {
  const load = useLoad<Found>(`/api/outcomes?${place.value.query}`);
  return (
    <>
      <PageHead title={TEXT.outcomes} purpose={TEXT.purpose} />
      <Shown load={load}>
        {(found) => (
          <>
            <Controls bar={found.bar} />
            {found.sampling.map(({ profile, name, model, share, spentTodayUsd, budgetUsdPerDay }) => (
              <p key={profile}>
                {TEXT.sampling(name, model, percent(share), usd(spentTodayUsd), usd(budgetUsdPerDay))}
              </p>
            ))}
            {found.data.length === 0 ? <Beginning /> : <Results found={found} />}
          </>
        )}
      </Shown>
    </>
  );
}

/** Selects the period and the bar, which the address holds. */
function Controls({ bar }: { readonly bar: number }) {
  const days = place.value.query.get("days") ?? "30";
  return (
    <div class="filters">
      <Choice label={TEXT.period} value={days} options={TEXT.DAYS} onChange={(days) => setQuery({ days })} />
      <Choice label={TEXT.bar} value={`${bar}`} options={TEXT.BARS} onChange={(bar) => setQuery({ bar })} />
    </div>
  );
}

/** Begins samples, also while those of another profile are on their way. */
function Beginning() {
  const profiles = useLoad<List<Profile>>("/api/profiles?limit=500");
  const [chosen, setChosen] = useState<string | null>(null);
  return (
    <Empty title={TEXT.noSamples}>
      <p>{TEXT.howToBegin}</p>
      <Shown load={profiles} rows={2}>
        {({ data }) => {
          const profile = data.find(({ id }) => id === chosen) ?? data[0];
          if (profile === undefined) {
            return <ButtonLink href={hrefTo("/profiles/new")}>{TEXT.createProfile}</ButtonLink>;
          }
          const options = data.map(({ id, name }) => ({ value: id, label: name }));
          return (
            <>
              <SelectField label={TEXT.profile} value={profile.id} options={options} onChange={setChosen} />
              <Shadow key={profile.id} profile={profile} />
            </>
          );
        }}
      </Shown>
    </Empty>
  );
}

function Results({ found }: { readonly found: Found }) {
  return (
    <>
      <p class={found.total.state === "worse" ? "notice warn" : "notice"}>{found.sentence}</p>
      <Table caption={TEXT.caption} heads={[TEXT.category, TEXT.tier, ...TEXT.COLUMNS.map(numberHead), TEXT.verdict]}>
        {found.data.map((row) => (
          <Line key={row.category + row.tier} row={row} />
        ))}
      </Table>
      {found.differing.length > 0 && (
        <Section title={TEXT.differing}>
          <ul>
            {found.differing.map(({ id, requestId, category }) => (
              <li key={id}>
                <a href={`/requests/${id}?tab=payload`}>{requestId}</a> {categoryName(category)}
              </li>
            ))}
          </ul>
        </Section>
      )}
    </>
  );
}

function Line({ row }: { readonly row: Row }) {
  const { category, tier, samples, judged, agreement, live, second, state } = row;
  const cells = [
    count(samples),
    count(judged),
    agreement === null ? (
      TEXT.none
    ) : (
      <>
        {percent(agreement.rate)}{" "}
        <small class="faint block">{TEXT.bounds(percent(agreement.low), percent(agreement.high))}</small>
      </>
    ),
    balance(live.costUsd),
    balance(second.costUsd),
    duration(live.latencyMs),
    duration(second.latencyMs),
  ];
  return (
    <tr>
      <td data-cell="name">{categoryName(category)}</td>
      <td data-cell="tier">
        <TierBadge tier={tier} />
      </td>
      {cells.map((cell, at) => (
        <td key={TEXT.COLUMNS[at]} class="number">
          {cell}
        </td>
      ))}
      <td data-cell="verdict">{TEXT.STATES[state]}</td>
    </tr>
  );
}
