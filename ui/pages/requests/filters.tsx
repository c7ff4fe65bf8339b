// The filters of the request log. They live in the address, so a view can be bookmarked and sent; each that is set has
// a chip that removes it.

import type { ComponentChildren } from "preact";
import { CATEGORIES } from "../../../src/core/decision.ts";
import { FILTER_FIELDS, type LoggedField } from "../../../src/core/requests/fields.ts";
import { TIERS } from "../../../src/core/tiers.ts";
import { useLoad } from "../../api.ts";
import { categoryName, usd } from "../../format.ts";
import { Check } from "../../kit/field.tsx";
import { Popover } from "../../kit/popover.tsx";
import { KeyPicker, useKeyName } from "../../parts/key-picker.tsx";
import { type GroupNames, useGroupNames } from "../../parts/people/group-names.ts";
import { place, setQuery } from "../../router.ts";
import type { List, Model, Profile } from "../../types.ts";
import {
  ATTEMPTS,
  COSTS,
  describeFilter,
  type FilterNames,
  filterNames,
  ROUTINGS,
  STATUSES,
  withoutFilters,
} from "./filter-names.ts";
import * as TEXT from "./text.ts";

/** Value and text of each choice. */
type Options = readonly (readonly [string, string])[];

/** The common filters in a row, the others behind a button. The children stand at the end of the row. */
export function Filters({ children }: { readonly children: ComponentChildren }) {
  const keyName = useKeyName(place.value.query.get("key"));
  const models = useLoad<List<Model>>("/api/models").data?.data ?? [];
  const profiles = useLoad<List<Profile>>("/api/profiles?limit=200").data?.data ?? [];
  const groups = useGroupNames();
  const providers = [...new Set(models.map(({ provider }) => provider))].sort();
  const { query } = place.value;
  return (
    <search class="filters">
      <Choice name="status" all={TEXT.anyStatus} options={STATUSES} />
      <Choice name="tier" all={TEXT.anyTier} options={[...pairs(TIERS), ["none", TEXT.noTier]]} />
      <Choice
        name="model"
        all={TEXT.anyModel}
        options={[...pairs(models.map(({ id }) => id)), ["none", TEXT.noModel]]}
      />
      <KeyPicker all={TEXT.anyKey} />
      <input
        type="search"
        aria-label={TEXT.searchLabel}
        placeholder={TEXT.searchHint}
        value={query.get("q") ?? ""}
        onChange={(event) => setQuery({ q: event.currentTarget.value.trim(), after: null })}
      />
      <MoreFilters providers={providers} profiles={profiles} groups={groups} />
      {children}
      <Chips keyName={keyName} profiles={new Map(profiles.map(({ id, name }) => [id, name]))} groups={groups} />
    </search>
  );
}

/** Choices that were loaded for the chips, too. */
interface MoreFiltersProps {
  readonly providers: readonly string[];
  readonly profiles: readonly Profile[];
  readonly groups: GroupNames;
}

/** Filters that are used less. */
function MoreFilters({ providers, profiles, groups }: MoreFiltersProps) {
  const costs = COSTS.map((cost) => [cost, usd(cost)] as const);
  return (
    <Popover label={TEXT.moreFilters}>
      <Choice
        name="category"
        all={TEXT.anyCategory}
        options={CATEGORIES.map((category) => [category, categoryName(category)] as const)}
      />
      <Choice name="provider" all={TEXT.anyProvider} options={pairs(providers)} />
      <Choice
        name="keyProfile"
        label={TEXT.profile}
        all={TEXT.anyProfile}
        options={[...profiles.map(({ id, name }) => [id, name] as const), ["none", TEXT.noProfile]]}
      />
      <Choice name="profile" label={TEXT.routing} all={TEXT.anyRouting} options={ROUTINGS} />
      <Choice name="costFrom" label={TEXT.minCostLabel} all={TEXT.minCostHint} options={costs} prefix="from " />
      <Choice name="costTo" label={TEXT.maxCostLabel} all={TEXT.maxCostHint} options={costs} prefix="below " />
      <Choice name="answered" label={TEXT.attempt} all={TEXT.anyAttempt} options={ATTEMPTS} />
      <Choice
        name="failed"
        label={TEXT.failedProviderLabel}
        all={TEXT.anyFailedProvider}
        options={pairs(providers)}
        prefix={TEXT.failedPrefix}
      />
      <Typed name="tag" label={TEXT.tagLabel} />
      {FILTER_FIELDS.filter(({ filter }) => filter === "logged").map((field) => (
        <FieldFilter key={field.name} field={field} names={groups.get(field.api)} />
      ))}
      {(["latencyFrom", "latencyTo", "tokensFrom", "tokensTo"] as const).map((name) => (
        <Typed key={name} name={name} label={TEXT.RANGE_NAMES[name]} isNumber />
      ))}
      <Switch name="adjusted" label={TEXT.tierAdjusted} />
      <Switch name="fallback" label={TEXT.fallbackOnly} />
    </Popover>
  );
}

interface FieldFilterProps {
  readonly field: LoggedField;
  /** Names of the ids that the field may have. */
  readonly names: ReadonlyMap<string, string> | undefined;
}

/** The filter of a field that has no place of its own above. */
function FieldFilter({ field: { api, name, title = name, kind, values }, names }: FieldFilterProps) {
  if (names !== undefined && names.size > 0)
    return <Choice name={api} label={title} all={title} options={[...names]} />;
  if (kind === "flag") return <Switch name={api} label={title} />;
  if (values === undefined) return <Typed name={api} label={title} />;
  return <Choice name={api} label={title} all={title} options={pairs(values)} />;
}

interface TypedProps {
  readonly name: string;
  readonly label: string;
  readonly isNumber?: boolean;
}

/** A filter whose values are too many for a list. */
function Typed({ name, label, isNumber = false }: TypedProps) {
  return (
    <input
      inputMode={isNumber ? "numeric" : "text"}
      aria-label={label}
      placeholder={label}
      value={place.value.query.get(name) ?? ""}
      onChange={(event) => setQuery({ [name]: event.currentTarget.value.trim(), after: null })}
    />
  );
}

/** A filter that is either on or not there. */
function Switch({ name, label }: { readonly name: string; readonly label: string }) {
  return (
    <Check
      label={label}
      isOn={place.value.query.get(name) === "true"}
      onChange={(isOn) => setQuery({ [name]: isOn ? "true" : null, after: null })}
    />
  );
}

/** Names every filter that is set, even those that come from a link and have no field. */
function Chips(names: FilterNames) {
  const { query } = place.value;
  const set = filterNames(query);
  if (set.length === 0) return null;
  return (
    <ul class="chips set-filters" aria-label={TEXT.activeFilters}>
      {set.map((name) => {
        const description = describeFilter(name, query.get(name) ?? "", names);
        return (
          <li key={name}>
            <button
              type="button"
              class="chip"
              aria-label={TEXT.removeFilter(description)}
              onClick={() => setQuery({ [name]: null, after: null })}
            >
              {description} <span aria-hidden="true">✕</span>
            </button>
          </li>
        );
      })}
      <li>
        <button type="button" class="button quiet small" onClick={() => setQuery(withoutFilters())}>
          {TEXT.clearFilters}
        </button>
      </li>
    </ul>
  );
}

/** A filter with a list of values; `name` is its name in the address. */
interface ChoiceProps {
  readonly name: string;
  readonly label?: string;
  readonly all: string;
  readonly options: Options;
  /** Text before each choice, where the choice would not explain itself. */
  readonly prefix?: string;
}

/** A value that is not in the list, such as of a deleted key, is added to it. */
function Choice({ name, label = name, all, options, prefix = "" }: ChoiceProps) {
  const value = place.value.query.get(name) ?? "";
  const isKnown = value === "" || options.some(([each]) => each === value);
  return (
    <select
      aria-label={label}
      class={value === "" ? "" : "set"}
      value={value}
      onChange={(event) => setQuery({ [name]: event.currentTarget.value, after: null })}
    >
      <option value="">{all}</option>
      {options.map(([each, text]) => (
        <option key={each} value={each}>
          {prefix}
          {text}
        </option>
      ))}
      {!isKnown && <option value={value}>{value}</option>}
    </select>
  );
}

/** Names that are shown as they are. */
function pairs(names: readonly string[]): Options {
  return names.map((name) => [name, name] as const);
}
