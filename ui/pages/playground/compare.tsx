// The comparison: the draft as it is against up to three other profiles, tiers or models, with what each would cost.

import { useState } from "preact/hooks";
import { TIERS } from "../../../src/core/tiers.ts";
import { useLoad } from "../../api.ts";
import { percent, usd } from "../../format.ts";
import { Button } from "../../kit/button.tsx";
import { numberHead, Table } from "../../kit/table.tsx";
import { TierBadge } from "../../kit/tier.tsx";
import { contenderOf, type Draft, OTHERS_MAX } from "../../parts/playground-draft.ts";
import { baselineNamed } from "../../parts/text.ts";
import type { List, Model, Profile } from "../../types.ts";
import { Outcome } from "./outcome.tsx";
import { Run } from "./run.tsx";
import * as TEXT from "./text.ts";
import { type DecisionPreview, type PreviewState, useDecision } from "./use-decision.ts";

/** `first` is the decision for the draft itself, which the page has asked for already. */
interface CompareProps {
  readonly draft: Draft;
  readonly first: PreviewState;
  readonly profiles: readonly Profile[];
  readonly set: (change: Partial<Draft>) => void;
}

/** "Run all" counts up a number that every card watches. */
export function Compare({ draft, first, profiles, set }: CompareProps) {
  const [runs, setRuns] = useState(0);
  const others = useOthers(draft, first);
  // A shared link may name a profile of another account.
  const nameOf = (id: string): string => profiles.find((profile) => profile.id === id)?.name ?? TEXT.anotherProfile;
  const rows = [
    { name: TEXT.currentSettings, draft, state: first },
    ...draft.others.map((other, index) => ({
      name: titleOf(other, nameOf),
      draft: contenderOf(draft, other),
      state: others[index] ?? first,
    })),
  ];
  const total = rows.reduce((sum, { state }) => sum + Number(state.preview?.estimate.costUsd ?? 0), 0);
  // "Run all" has a price only when every version has an estimate.
  const isReady = rows.every(({ state }) => state.preview !== null);
  return (
    <>
      <section class="card" aria-label={TEXT.comparison}>
        <div class="head-row">
          <h2>{TEXT.comparison}</h2>
          <Button isDisabled={!isReady} onClick={() => setRuns(runs + 1)}>
            {isReady ? TEXT.runAllFor(usd(total)) : TEXT.runAll}
          </Button>
        </div>
        {first.preview !== null && <p class="faint">{baselineOf(first.preview.estimate)}</p>}
        <Choices draft={draft} profiles={profiles} set={set} />
        <Summary rows={rows} />
      </section>
      <div class="versus">
        {/* By position and name: two versions may be equal, and another choice is another card. */}
        {rows.map((row, index) => (
          <Outcome key={`${index}-${row.name}`} title={row.name} state={row.state}>
            <Run draft={row.draft} estimateUsd={row.state.preview?.estimate.costUsd ?? null} turn={runs} isPart />
          </Outcome>
        ))}
      </div>
    </>
  );
}

function baselineOf({ outputTokens, baselineCostUsd, baselineModel, baselinePrice }: DecisionPreview["estimate"]) {
  return TEXT.oneBaseline(outputTokens, usd(baselineCostUsd), baselineNamed(baselineModel, baselinePrice));
}

/**
 * Hooks cannot be counted by data: there are as many as contenders can be, and the unused ones ask nothing. All are
 * estimated for an answer as long as that of the draft, so that there is one baseline.
 */
function useOthers(draft: Draft, { preview, error }: PreviewState): readonly PreviewState[] {
  const useOther = (index: number): PreviewState => {
    const other = draft.others[index];
    const isReady = preview !== null || error !== null;
    return useDecision(
      other === undefined || !isReady ? null : contenderOf(draft, other),
      preview?.estimate.outputTokens,
    );
  };
  return [useOther(0), useOther(1), useOther(2)];
}

/** A contender in words. */
function titleOf(other: string, nameOf: (id: string) => string): string {
  const [kind, ...rest] = other.split(":");
  const id = rest.join(":");
  if (kind === "profile") return id === "" ? TEXT.noProfile : TEXT.profileNamed(nameOf(id));
  return kind === "tier" ? TEXT.tierNamed(id) : TEXT.modelNamed(id);
}

/** One version of the draft. */
interface ComparedRow {
  readonly name: string;
  readonly state: PreviewState;
}

/** One line each, so that they can be compared without reading the cards. */
function Summary({ rows }: { readonly rows: readonly ComparedRow[] }) {
  return (
    <Table
      class="contest"
      caption={TEXT.comparison}
      heads={[TEXT.comparedWith, TEXT.tier, TEXT.model, ...[TEXT.estimate, TEXT.saved].map(numberHead)]}
    >
      {rows.map(({ name, state: { preview, error } }, index) => (
        <tr key={`${index}-${name}`}>
          <th scope="row" data-cell="name">
            {name}
          </th>
          <td data-cell="tier">
            {error === null ? (
              <TierBadge tier={preview?.decision.tier ?? null} />
            ) : (
              <span class="bad">{TEXT.refused}</span>
            )}
          </td>
          <td data-cell="who">{preview?.decision.model ?? "–"}</td>
          <td data-cell="estimate" class="number">
            {usd(preview?.estimate.costUsd)}
          </td>
          <td data-cell="saved" class="number">
            {percent(preview?.estimate.savings)}
          </td>
        </tr>
      ))}
    </Table>
  );
}

/** Lists what the draft is compared with. A new entry starts with a tier in the middle. */
function Choices({ draft, profiles, set }: Omit<CompareProps, "first">) {
  const change = (index: number, value: string): void =>
    set({ others: draft.others.map((other, at) => (at === index ? value : other)) });
  return (
    <div class="contenders">
      {draft.others.map((other, index) => (
        <div key={index} class="row">
          <ContenderSelect
            label={TEXT.compareWithNumber(index + 1)}
            value={other}
            profiles={profiles}
            onChange={(value) => change(index, value)}
          />
          <Button
            kind="quiet"
            label={TEXT.removeNamed(index + 1)}
            onClick={() => set({ others: draft.others.filter((_, at) => at !== index) })}
          >
            {TEXT.remove}
          </Button>
        </div>
      ))}
      {draft.others.length < OTHERS_MAX && (
        <Button onClick={() => set({ others: [...draft.others, "tier:STANDARD"] })}>{TEXT.addToComparison}</Button>
      )}
    </div>
  );
}

/** The value is `profile:ID`, `tier:NAME` or `model:ID`. */
interface ContenderSelectProps {
  readonly label: string;
  readonly value: string;
  readonly profiles: readonly Profile[];
  readonly onChange: (value: string) => void;
}

/** Every profile, tier and model that could answer, as `contenderOf` reads them. */
function ContenderSelect({ label, value, profiles, onChange }: ContenderSelectProps) {
  const all = useLoad<List<Model>>("/api/models").data?.data ?? [];
  const models = all.filter(({ isRoutable, tier }) => isRoutable && tier !== null);
  return (
    <select class="grow" aria-label={label} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
      <optgroup label={TEXT.profiles}>
        <option value="profile:">{TEXT.noProfile}</option>
        {profiles.map(({ id, name }) => (
          <option key={id} value={`profile:${id}`}>
            {name}
          </option>
        ))}
      </optgroup>
      <optgroup label={TEXT.tiers}>
        {TIERS.map((tier) => (
          <option key={tier} value={`tier:${tier}`}>
            {tier}
          </option>
        ))}
      </optgroup>
      <optgroup label={TEXT.models}>
        {models.map(({ id }) => (
          <option key={id} value={`model:${id}`}>
            {id}
          </option>
        ))}
      </optgroup>
    </select>
  );
}
