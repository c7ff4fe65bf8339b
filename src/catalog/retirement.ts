// Retirement of models: hosts name their last day, and a model retires with the last of its hosts that can be called.

import type { HostedModel, Model } from "../core/model.ts";
import { TIERS } from "../core/tiers.ts";
import { type Catalog, isUsable } from "./catalog.ts";

const DAY_MS = 86_400_000;
/** People are told so many days before. */
const NOTICE_DAYS = 30;

export interface Retirement {
  readonly model: string;
  /** The first day on which no configured host has the model, such as 2026-12-11. */
  readonly day: string;
  readonly state: "later" | "soon" | "retired";
}

export function retirementOf(catalog: Catalog, model: Model, atMs: number): Retirement | null {
  const day = retirementDay(catalog, model);
  return day === null ? null : { model: model.id, day, state: stateAt(day, atMs) };
}

/** Returns null where no end is known. A host without an end keeps its model. */
export function retirementDay(catalog: Catalog, { hosts }: Model): string | null {
  const days = hosts.filter((host) => isUsable(catalog, host)).map(({ retires }) => retires);
  if (days.length === 0 || days.includes(undefined)) return null;
  return (days as string[]).reduce((last, each) => (each > last ? each : last));
}

/** The headers of RFC 9745 and RFC 8594, by which clients and proxies learn of an end: since when, and the day. */
export function retirementHeaders({ day }: Retirement): Readonly<Record<string, string>> {
  const endMs = dayMs(day);
  return { deprecation: `@${(endMs - NOTICE_DAYS * DAY_MS) / 1000}`, sunset: new Date(endMs).toUTCString() };
}

function stateAt(day: string, atMs: number): Retirement["state"] {
  const endMs = dayMs(day);
  if (atMs >= endMs) return "retired";
  return atMs >= endMs - NOTICE_DAYS * DAY_MS ? "soon" : "later";
}

export function isRetired({ retires }: Pick<HostedModel, "retires">, atMs: number): boolean {
  return retires !== undefined && atMs >= dayMs(retires);
}

/** Models of the published chains that retire soon or have retired. */
export function chainRetirements(catalog: Catalog, atMs: number): readonly Retirement[] {
  const chained = TIERS.flatMap((tier) => [...catalog.chains[tier], ...(catalog.withTools[tier]?.models ?? [])]);
  const ids = new Set(chained.map(({ id }) => id));
  return [...ids].flatMap((id) => {
    const model = catalog.models.get(id);
    const retirement = model === undefined ? null : retirementOf(catalog, model, atMs);
    return retirement === null || retirement.state === "later" ? [] : [retirement];
  });
}

/** The next moment at which a host retires or its notice begins; infinity for none. */
export function nextRetirementMs({ models }: Catalog, atMs: number): number {
  const days = [...models.values()].flatMap(({ hosts }) => hosts.flatMap(({ retires }) => retires ?? []));
  const moments = days.flatMap((day) => [dayMs(day) - NOTICE_DAYS * DAY_MS, dayMs(day)]);
  return Math.min(Number.POSITIVE_INFINITY, ...moments.filter((moment) => moment > atMs));
}

function dayMs(day: string): number {
  return Date.parse(`${day}T00:00:00Z`);
}
