// The filters of the log. They live in the address, so a view can be bookmarked, sent and gone back to.

import type { ComponentChildren } from "preact";
import { CATEGORIES } from "../../src/core/decision.ts";
import { TIERS } from "../../src/core/tiers.ts";
import { useLoad } from "../api.ts";
import { categoryName } from "../format.ts";
import { Check } from "../kit/field.tsx";
import { place, setQuery } from "../router.ts";
import type { Key, List, Model } from "../types.ts";

const NAMES = ["status", "tier", "model", "key", "category", "fallback", "q"] as const;

const STATUSES = [
  ["error", "all errors"],
  ["2xx", "2xx answered"],
  ["402", "402 no credits"],
  ["429", "429 limited"],
  ["4xx", "4xx refused"],
  ["5xx", "5xx failed"],
] as const;

export function filterNames(query: URLSearchParams): readonly string[] {
  return NAMES.filter((name) => query.has(name));
}

export function filterQuery(query: URLSearchParams): string {
  return filterNames(query)
    .map((name) => `&${name}=${encodeURIComponent(query.get(name) ?? "")}`)
    .join("");
}

export function Filters({ children }: { readonly children: ComponentChildren }) {
  const keys = useLoad<List<Key>>("/api/keys?limit=200").data?.data ?? [];
  const models = useLoad<List<Model>>("/api/models").data?.data ?? [];
  const { query } = place.value;
  const names = filterNames(query);
  const set = (name: string, value: string | null): void => setQuery({ [name]: value, after: null });
  return (
    <search class="filters">
      <Choice name="status" all="Any status" options={STATUSES} />
      <Choice
        name="tier"
        all="Any tier"
        options={[...TIERS.map((tier) => [tier, tier] as const), ["none", "no tier"]]}
      />
      <Choice name="model" all="Any model" options={models.map(({ id }) => [id, id] as const)} />
      <Choice name="key" all="Any key" options={keys.map(({ id, name }) => [id, name] as const)} />
      <Choice
        name="category"
        all="Any category"
        options={CATEGORIES.map((category) => [category, categoryName(category)] as const)}
      />
      <input
        type="search"
        aria-label="Request id begins with"
        placeholder="Request id…"
        value={query.get("q") ?? ""}
        onChange={(event) => set("q", event.currentTarget.value.trim())}
      />
      <Check
        label="fallbacks only"
        isOn={query.get("fallback") === "true"}
        onChange={(isOn) => set("fallback", isOn ? "true" : null)}
      />
      {children}
      {names.length > 0 && (
        <button
          type="button"
          class="button quiet"
          onClick={() => setQuery(Object.fromEntries([...names, "after"].map((name) => [name, null])))}
        >
          Clear filters
        </button>
      )}
    </search>
  );
}

function Choice({
  name,
  all,
  options,
}: {
  readonly name: string;
  readonly all: string;
  readonly options: readonly (readonly [string, string])[];
}) {
  const value = place.value.query.get(name) ?? "";
  const isKnown = value === "" || options.some(([each]) => each === value);
  return (
    <select
      aria-label={name}
      class={value === "" ? "" : "set"}
      value={value}
      onChange={(event) => setQuery({ [name]: event.currentTarget.value, after: null })}
    >
      <option value="">{all}</option>
      {options.map(([each, label]) => (
        <option key={each} value={each}>
          {label}
        </option>
      ))}
      {!isKnown && <option value={value}>{value}</option>}
    </select>
  );
}
