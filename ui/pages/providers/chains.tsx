// The chains of models, one for each tier: dragged or moved by buttons, with the replay of past requests beside them.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { type Effort, isEffort, readEntry, writeEntry } from "../../../src/core/requests/effort.ts";
import { TIERS, type Tier } from "../../../src/core/tiers.ts";
import { call, useLoad } from "../../api.ts";
import { Button } from "../../kit/button.tsx";
import { Shown } from "../../kit/states.tsx";
import { useTask } from "../../kit/task.tsx";
import { Replay } from "../../parts/replay.tsx";
import type { Configuration, List, Model } from "../../types.ts";
import { showPublished } from "./published.ts";
import { type RuleEdits, Rules, rulesOf } from "./rules.tsx";
import * as TEXT from "./text.ts";

/** Entries for each tier in the order they are tried: ids of models, with the effort that a chain asks for. */
type ChainsByTier = Readonly<Record<Tier, readonly string[]>>;

/** The chains as they are in use, and what may be changed of them. */
export function Chains() {
  const models = useLoad<List<Model>>("/api/models");
  const configuration = useLoad<Configuration>("/api/configuration");
  return (
    <Shown load={models} rows={10}>
      {({ data }) => (
        <Shown load={configuration} rows={10}>
          {(current) => <Editor models={data.filter(({ tier }) => tier !== null)} current={current} />}
        </Shown>
      )}
    </Shown>
  );
}

interface EditorProps {
  readonly models: readonly Model[];
  readonly current: Configuration;
}

/** Published as one version, refused when somebody else published in between. */
function Editor({ models, current }: EditorProps) {
  const saved = chainsOf(models, ({ chains }) => chains);
  const savedWithTools = chainsOf(models, ({ chainsWithTools }) => chainsWithTools);
  // Only what was edited: the other chains follow what others publish.
  const [edits, setEdits] = useState<Partial<ChainsByTier>>({});
  const [toolEdits, setToolEdits] = useState<Partial<ChainsByTier>>({});
  const [ruleEdits, setRuleEdits] = useState<RuleEdits>({});
  const chains: ChainsByTier = { ...saved, ...edits };
  const withTools: ChainsByTier = { ...savedWithTools, ...toolEdits };
  const { problem, isBusy, run } = useTask();
  const changed = changedIn(chains, saved);
  const changedTools = changedIn(withTools, savedWithTools);
  const tiers = entriesOf(changed, chains);
  const tiersWithTools = entriesOf([...keptTools(changed, savedWithTools, current), ...changedTools], withTools);
  const routing = rulesOf(ruleEdits);
  const unpublished = [...changed, ...changedTools.map(TEXT.withTools), ...Object.keys(routing)];
  const draft = unpublished.length === 0 ? null : { draft: { tiers, tiersWithTools, routing } };
  const undo = (): void => {
    setEdits({});
    setToolEdits({});
    setRuleEdits({});
  };
  const publish = (): Promise<void> => {
    const { version, document } = current;
    const body = { document: withSections(document, { tiers, tiersWithTools, routing }), base: version };
    return run(call("PUT", "/api/configuration", { body }), () => {
      undo();
      showPublished(TEXT.chainsPublished);
    });
  };
  return (
    <div class="editor">
      <div>
        {TIERS.map((tier) => (
          <TierChains
            key={tier}
            {...{ tier, chains, withTools, models, current }}
            onChange={(entries) => setEdits({ ...edits, [tier]: entries })}
            onToolsChange={(entries) => setToolEdits({ ...toolEdits, [tier]: entries })}
          />
        ))}
        <Rules edits={ruleEdits} onChange={setRuleEdits} />
        {problem}
        {unpublished.length > 0 && (
          <div class="save-bar">
            <span class="grow">{TEXT.unpublished(unpublished.join(", "))}</span>
            <Button onClick={undo}>{TEXT.undo}</Button>
            <Button kind="primary" isBusy={isBusy} onClick={publish}>
              {TEXT.publish}
            </Button>
          </div>
        )}
      </div>
      <div>
        <Replay path="/api/replay" draft={draft} />
      </div>
    </div>
  );
}

interface TierChainsProps extends EditorProps {
  readonly tier: Tier;
  readonly chains: ChainsByTier;
  readonly withTools: ChainsByTier;
  readonly onChange: (entries: readonly string[]) => void;
  readonly onToolsChange: (entries: readonly string[]) => void;
}

/** The chain of a tier, and below it the one for requests with tools. */
function TierChains({ tier, chains, withTools, models, current, onChange, onToolsChange }: TierChainsProps) {
  return (
    <Chain
      tier={tier}
      entries={chains[tier]}
      models={models}
      usedInstead={insteadOf(tier, chains)}
      lock={lockOn(`tiers.${tier}`, current)}
      onChange={onChange}
      tools={
        <ToolChain
          tier={tier}
          entries={withTools[tier]}
          usual={chains[tier]}
          models={models.filter(({ capabilities }) => capabilities.some((name) => name === "tools"))}
          lock={lockOn(`tiersWithTools.${tier}`, current)}
          onChange={onToolsChange}
        />
      }
    />
  );
}

/** The document with entries of its sections replaced. */
function withSections(document: Configuration["document"], sections: Readonly<Record<string, object>>): object {
  const known = new Map<string, object>(Object.entries(document));
  const merged = Object.entries(sections).map(([name, entries]) => [name, { ...known.get(name), ...entries }]);
  return { ...document, ...Object.fromEntries(merged) };
}

function changedIn(chains: ChainsByTier, saved: ChainsByTier): readonly Tier[] {
  return TIERS.filter((tier) => chains[tier].join() !== saved[tier].join());
}

function entriesOf(tiers: readonly Tier[], chains: ChainsByTier): Partial<ChainsByTier> {
  return Object.fromEntries(tiers.map((tier) => [tier, chains[tier]]));
}

/** A built-in chain for tools would go when its tier is written, so it is published as it is shown. */
function keptTools(changed: readonly Tier[], saved: ChainsByTier, current: Configuration): readonly Tier[] {
  const { tiersWithTools: written = {} }: { readonly tiersWithTools?: object } = current.document;
  const isWritten = (tier: Tier): boolean => tier in written || lockOn(`tiersWithTools.${tier}`, current) !== null;
  return changed.filter((tier) => saved[tier].length > 0 && !isWritten(tier));
}

/** Names the place that fixes an option: file, environment or flags. Null where the option can be changed here. */
function lockOn(path: string, { locked }: Configuration): string | null {
  return locked.find((lock) => lock.path === path)?.place ?? null;
}

/** Turns the places of each model into the order of each chain. */
function chainsOf(models: readonly Model[], placesOf: (model: Model) => Model["chains"]): ChainsByTier {
  const chain = (tier: Tier): readonly string[] =>
    models
      .flatMap((model) => placesOf(model).map((place) => ({ ...place, id: model.id })))
      .filter((place) => place.tier === tier)
      .sort((one, other) => one.place - other.place)
      .map(writeEntry);
  return Object.fromEntries(TIERS.map((tier) => [tier, chain(tier)])) as Record<Tier, readonly string[]>;
}

/** Returns the tier that routing takes instead: the next one above, else below. A request may have a ceiling. */
function insteadOf(tier: Tier, chains: ChainsByTier): Tier | null {
  const rank = TIERS.indexOf(tier);
  const order = [...TIERS.slice(rank + 1), ...TIERS.slice(0, rank).reverse()];
  return order.find((other) => chains[other].length > 0) ?? null;
}

interface EntriesProps {
  /** Names the chain in labels: the tier, and for requests with tools that it is theirs. */
  readonly name: string;
  readonly entries: readonly string[];
  readonly models: readonly Model[];
  /** Place that fixes the chain. Null where the chain can be changed here. */
  readonly lock: string | null;
  readonly onChange: (entries: readonly string[]) => void;
}

interface ChainProps extends Omit<EntriesProps, "name"> {
  readonly tier: Tier;
  /** The tier that takes the requests of an empty chain; null where all are empty. */
  readonly usedInstead: Tier | null;
  readonly tools: ComponentChildren;
}

function Chain({ tier, usedInstead, tools, ...chain }: ChainProps) {
  return (
    <section class="card" aria-label={TEXT.chainOf(tier)}>
      <h2>{tier}</h2>
      {chain.entries.length === 0 && (
        <p class="faint">{usedInstead === null ? TEXT.noneRoutable : TEXT.emptyTier(usedInstead)}</p>
      )}
      <Entries name={tier} {...chain} />
      {tools}
    </section>
  );
}

interface ToolChainProps extends Omit<EntriesProps, "name"> {
  readonly tier: Tier;
  /** The chain for requests without tools, which serves all requests where there is no other. */
  readonly usual: readonly string[];
}

/** The chain for requests with tools, where a tier has one of its own. */
function ToolChain({ tier, usual, ...chain }: ToolChainProps) {
  const name = TEXT.withTools(tier);
  const { entries, models, lock, onChange } = chain;
  const idOf = (entry: string): string => readEntry(entry, (id) => models.some((model) => model.id === id)).id;
  const able = usual.filter((entry) => models.some(({ id }) => id === idOf(entry)));
  if (entries.length === 0) {
    if (lock !== null || able.length === 0) return null;
    return (
      <p>
        <Button kind="quiet" label={TEXT.separateFor(tier)} onClick={() => onChange(able)}>
          {TEXT.separate}
        </Button>
      </p>
    );
  }
  return (
    <section aria-label={TEXT.chainOf(name)}>
      <div class="row">
        <h3 class="grow">{TEXT.requestsWithTools}</h3>
        {lock === null && (
          <Button kind="quiet" label={TEXT.oneChainFor(tier)} onClick={() => onChange([])}>
            {TEXT.oneChain}
          </Button>
        )}
      </div>
      <Entries name={name} {...chain} />
    </section>
  );
}

/** Dragging moves within one chain. The buttons do the same for keyboards and touch. */
function Entries({ name, entries, models, lock, onChange }: EntriesProps) {
  const [dragged, setDragged] = useState<number | null>(null);
  const read = entries.map((entry) => readEntry(entry, (id) => models.some((model) => model.id === id)));
  const ids = read.map(({ id }) => id);
  const free = models.filter(({ id, isRoutable }) => isRoutable && !ids.includes(id));
  const dragOver = (index: number) => (event: DragEvent) => {
    if (dragged === null) return;
    event.preventDefault();
    if (dragged === index) return;
    onChange(moved(entries, dragged, index));
    setDragged(index);
  };
  return (
    <>
      {lock !== null && <p class="faint">{TEXT.lockedBy(lock)}</p>}
      <ol class="plain-list chain-edit">
        {read.map(({ id, effort }, index) => (
          <li
            key={id}
            class={dragged === index ? "row dragged" : "row"}
            draggable={lock === null}
            onDragStart={() => setDragged(index)}
            onDragEnd={() => setDragged(null)}
            onDragOver={dragOver(index)}
          >
            <span class="grow cut">
              {index + 1}. {id}
              {lock !== null && effort !== null && <small class="faint"> {TEXT.effort(effort)}</small>}
              {models.find((model) => model.id === id)?.isRoutable === false && (
                <small class="faint"> {TEXT.notConfigured}</small>
              )}
            </span>
            {lock === null && (
              <EffortChoice
                label={TEXT.effortOf(id, name)}
                effort={effort}
                taken={models.find((model) => model.id === id)?.efforts ?? []}
                onChange={(chosen) => onChange(entries.with(index, writeEntry({ id, effort: chosen })))}
              />
            )}
            {lock === null && <Moves name={name} entries={entries} index={index} onChange={onChange} />}
          </li>
        ))}
      </ol>
      {lock === null && free.length > 0 && (
        <Addition name={name} free={free} onAdd={(id) => onChange([...entries, id])} />
      )}
    </>
  );
}

interface EffortChoiceProps {
  readonly label: string;
  readonly effort: Effort | null;
  readonly taken: readonly Effort[];
  readonly onChange: (effort: Effort | null) => void;
}

/** Absent for a model that takes none. */
function EffortChoice({ label, effort, taken, onChange }: EffortChoiceProps) {
  if (taken.length === 0) return null;
  return (
    <select
      aria-label={label}
      value={effort ?? ""}
      onChange={({ currentTarget: { value } }) => onChange(isEffort(value) ? value : null)}
    >
      <option value="">{TEXT.effortOfModel}</option>
      {taken.map((each) => (
        <option key={each} value={each}>
          {TEXT.effort(each)}
        </option>
      ))}
    </select>
  );
}

interface MovesProps extends Pick<EntriesProps, "name" | "entries" | "onChange"> {
  readonly index: number;
}

/** The last model of a chain cannot be taken out: a tier without one would serve nothing. */
function Moves({ name, entries: ids, index, onChange }: MovesProps) {
  const id = ids[index] ?? "";
  return (
    <>
      <Button
        kind="quiet"
        label={TEXT.moveUp(id, name)}
        isDisabled={index === 0}
        onClick={() => onChange(moved(ids, index, index - 1))}
      >
        ↑
      </Button>
      <Button
        kind="quiet"
        label={TEXT.moveDown(id, name)}
        isDisabled={index === ids.length - 1}
        onClick={() => onChange(moved(ids, index, index + 1))}
      >
        ↓
      </Button>
      <Button
        kind="quiet"
        label={TEXT.removeFrom(id, name)}
        isDisabled={ids.length === 1}
        onClick={() => onChange(ids.filter((each) => each !== id))}
      >
        ✕
      </Button>
    </>
  );
}

interface AdditionProps {
  readonly name: string;
  readonly free: readonly Model[];
  readonly onAdd: (id: string) => void;
}

/** Adds at the end. */
function Addition({ name, free, onAdd }: AdditionProps) {
  return (
    <select
      aria-label={TEXT.addTo(name)}
      value=""
      onChange={(event) => {
        const { value } = event.currentTarget;
        if (value !== "") onAdd(value);
        event.currentTarget.value = "";
      }}
    >
      <option value="">{TEXT.addModel}</option>
      {free.map(({ id }) => (
        <option key={id} value={id}>
          {id}
        </option>
      ))}
    </select>
  );
}

/** The list with one entry at another place. */
function moved(ids: readonly string[], from: number, to: number): readonly string[] {
  const id = ids[from];
  if (id === undefined) return ids;
  const rest = ids.filter((_, index) => index !== from);
  return [...rest.slice(0, to), id, ...rest.slice(to)];
}
