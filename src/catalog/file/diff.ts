// Compares two versions of the catalogue row by row, for people who decide whether to take the newer one over.

import { isDeepStrictEqual } from "node:util";
import { TIERS, type Tier } from "../../core/tiers.ts";
import type { Builtin } from "../builtin.ts";
import type { PriceRow } from "../prices/rows.ts";
import { type HostRow, hostRows, type ModelRow } from "../rows.ts";

interface HostPriceChange {
  readonly model: string;
  readonly provider: string;
  /** Absent (null) for a host that is new, or that had no price. */
  readonly from: PriceRow | null;
  readonly to: PriceRow;
  /** The change of input or output, whichever is larger; null where one of them was zero. */
  readonly percent: number | null;
}

export interface CatalogueDiff {
  readonly prices: readonly HostPriceChange[];
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** Hosts that a known model lost, as `model at provider`. */
  readonly lostHosts: readonly string[];
  /** Fields of known models that changed, without prices. */
  readonly changed: readonly { readonly model: string; readonly fields: readonly string[] }[];
  readonly chains: readonly { readonly tier: Tier; readonly hasTools: boolean; readonly to: readonly string[] }[];
  /** Other parts of the file that differ, such as `aliases`. */
  readonly parts: readonly string[];
}

export function diffCatalogues(before: Builtin, after: Builtin): CatalogueDiff {
  const [old, next] = [rowsOf(before), rowsOf(after)];
  const common = after.models.flatMap((row): readonly [ModelRow, ModelRow][] => {
    const known = old.get(row.id);
    return known === undefined ? [] : [[known, row]];
  });
  return {
    prices: common.flatMap(([known, row]) => priceChanges(known, row)),
    added: after.models.map(({ id }) => id).filter((id) => !old.has(id)),
    removed: before.models.map(({ id }) => id).filter((id) => !next.has(id)),
    lostHosts: common.flatMap(([known, row]) => lostHosts(known, row)),
    changed: common.flatMap(([known, row]) => {
      const fields = changedFields(known, row);
      return fields.length === 0 ? [] : [{ model: row.id, fields }];
    }),
    chains: [...chainChanges(before, after, false), ...chainChanges(before, after, true)],
    parts: (["aliases", "dialects", "policies"] as const).filter(
      (part) => !isDeepStrictEqual(before[part], after[part]),
    ),
  };
}

export function isEmptyDiff(diff: CatalogueDiff): boolean {
  return Object.values(diff).every((list: readonly unknown[]) => list.length === 0);
}

function rowsOf({ models }: Builtin): ReadonlyMap<string, ModelRow> {
  return new Map(models.map((row) => [row.id, row]));
}

const keyOf = ({ provider, upstream }: HostRow): string => `${provider}\n${upstream ?? ""}`;

function priceChanges(known: ModelRow, row: ModelRow): readonly HostPriceChange[] {
  const before = new Map(hostRows(known).map((host) => [keyOf(host), host.price ?? known.price]));
  return hostRows(row).flatMap((host) => {
    const [from = null, to] = [before.get(keyOf(host)), host.price ?? row.price];
    if (to === undefined || isDeepStrictEqual(from, to)) return [];
    return [{ model: row.id, provider: host.provider, from, to, percent: percentOf(from, to) }];
  });
}

function percentOf(from: PriceRow | null, to: PriceRow): number | null {
  if (from === null || from.input === 0 || from.output === 0) return null;
  const changes = [(to.input - from.input) / from.input, (to.output - from.output) / from.output];
  return Math.round(Math.max(...changes.map(Math.abs)) * 1000) / 10;
}

function lostHosts(known: ModelRow, row: ModelRow): readonly string[] {
  const now = new Set(hostRows(row).map(keyOf));
  return hostRows(known)
    .filter((host) => !now.has(keyOf(host)))
    .map(({ provider }) => `${row.id} at ${provider}`);
}

/** Prices and hosts are told on their own. */
const TOLD: ReadonlySet<string> = new Set(["price", "priceAsOf", "priceSource", "hosts"]);

function changedFields(known: ModelRow, row: ModelRow): readonly string[] {
  const own = fieldsThatDiffer(known, row);
  const before = new Map(hostRows(known).map((host) => [keyOf(host), host]));
  const ofHosts = (row.hosts ?? []).flatMap((host) => {
    const old = before.get(keyOf(host));
    return old === undefined
      ? [`new host ${host.provider}`]
      : fieldsThatDiffer(old, host).map((name) => `${name} at ${host.provider}`);
  });
  return [...own, ...ofHosts];
}

function fieldsThatDiffer(before: object, after: object): readonly string[] {
  const [old, next] = [
    new Map<string, unknown>(Object.entries(before)),
    new Map<string, unknown>(Object.entries(after)),
  ];
  const names = new Set([...old.keys(), ...next.keys()]);
  return [...names].filter((name) => !TOLD.has(name) && !isDeepStrictEqual(old.get(name), next.get(name)));
}

function chainChanges(
  { tiers: before }: Builtin,
  { tiers: after }: Builtin,
  hasTools: boolean,
): CatalogueDiff["chains"] {
  const chainsOf = hasTools
    ? ({ chainsWithTools = {} }: Builtin["tiers"]) => chainsWithTools
    : ({ chains }: Builtin["tiers"]) => chains;
  const [old, next]: readonly Partial<Record<Tier, readonly string[]>>[] = [chainsOf(before), chainsOf(after)];
  return TIERS.flatMap((tier) => {
    const to = next?.[tier] ?? [];
    return isDeepStrictEqual(old?.[tier] ?? [], to) ? [] : [{ tier, hasTools, to }];
  });
}

/** The differences in words, one line each, prices first. */
export function diffWords(diff: CatalogueDiff): readonly DiffLine[] {
  const { prices, added, removed, lostHosts, changed, chains, parts } = diff;
  return [
    ...prices.map(({ model, provider, from, to }) => ({
      about: model,
      words: `${model} at ${provider}: ${from === null ? "no price" : shownPrice(from)} → ${shownPrice(to)}${isSameRate(from, to) ? " (bands, dates or other rates)" : ""}`,
    })),
    ...added.map((id) => ({ about: id, words: `added ${id}` })),
    ...removed.map((id) => ({ about: id, words: `removed ${id}` })),
    ...lostHosts.map((host) => ({ about: host, words: `removed ${host}` })),
    ...changed.map(({ model, fields }) => ({ about: model, words: `${model}: ${fields.join(", ")}` })),
    ...chains.map(({ tier, hasTools, to }) => ({
      about: tier,
      words: `chain ${tier}${hasTools ? " with tools" : ""}: ${to.join(", ")}`,
    })),
    ...parts.map((part) => ({ about: part, words: `${part} changed` })),
  ];
}

interface DiffLine {
  /** The model, host, tier or part. */
  readonly about: string;
  readonly words: string;
}

/** Input and output, USD per million tokens. */
export function shownPrice({ input, output }: PriceRow): string {
  return `${input}/${output}`;
}

function isSameRate(from: PriceRow | null, to: PriceRow): boolean {
  return from !== null && from.input === to.input && from.output === to.output;
}
