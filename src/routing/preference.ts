// Hosts that a request would rather have, and is not refused without: those of the client's own format run tools that
// have to be left out for all others. Behaviour 5.16.

import type { Catalog } from "../catalog/catalog.ts";
import type { RoutingQuestion } from "../core/decision.ts";
import { type FormatName, formatsOf, type HostedModel, type Model, runsSearches } from "../core/model.ts";

export interface Preference {
  readonly because: string;
  readonly isMetBy: (host: HostedModel) => boolean;
}

/** Returns null where every host is as good as another. */
export function preferenceOf({ preferredFormat }: RoutingQuestion, catalog: Catalog): Preference | null {
  if (preferredFormat === undefined || preferredFormat === null) return null;
  const { format, because } = preferredFormat;
  return { because, isMetBy: (host) => runsTools(host, format, catalog) };
}

/** Tells whether the host is at one of these providers, by their own names or those of their cloud. */
export function isAt(
  { provider: id }: Pick<HostedModel, "provider">,
  names: readonly string[],
  { providers }: Pick<Catalog, "providers">,
): boolean {
  const own = [id, ...(providers.get(id)?.otherNames ?? [])];
  return names.some((name) => own.includes(name) || own.includes(name.toLowerCase()));
}

/** Hosts of these providers first, in the order of the names. Others follow as they were. */
export function providersFirst(
  hosts: readonly HostedModel[],
  names: readonly string[],
  catalog: Pick<Catalog, "providers">,
): readonly HostedModel[] {
  const named = names.flatMap((name) => hosts.filter((host) => isAt(host, [name], catalog)));
  return named.length === 0 ? hosts : [...new Set([...named, ...hosts])];
}

/** Tells whether the host's provider serves the model in this format. */
export function speaksFormat(host: HostedModel, format: FormatName, { providers }: Catalog): boolean {
  const provider = providers.get(host.provider);
  return provider !== undefined && formatsOf(host, provider).includes(format);
}

/** Tells whether the host runs the tools of this format itself. */
export function runsTools(host: HostedModel, format: FormatName, catalog: Catalog): boolean {
  return speaksFormat(host, format, catalog) && runsSearches(host, format);
}

/** The same list where nothing moves. */
export function preferredFirst<Item>(items: readonly Item[], isPreferred: (item: Item) => boolean): readonly Item[] {
  const preferred = items.filter(isPreferred);
  if (preferred.every((item, at) => item === items[at])) return items;
  return [...preferred, ...items.filter((item) => !isPreferred(item))];
}

interface Offered {
  readonly models: readonly Model[];
  readonly hostsOf: (model: Model) => readonly HostedModel[];
}

/**
 * Leaves only what meets the preference, so that nothing else may take its place for being cheaper. Everything stays
 * where the first model does not meet it.
 */
export function onlyPreferred<Input extends Offered>(input: Input, preference: Preference | null): Input {
  const { models, hostsOf } = input;
  if (preference === null) return input;
  const preferredHosts = (model: Model): readonly HostedModel[] => hostsOf(model).filter(preference.isMetBy);
  const isMet = (model: Model): boolean => preferredHosts(model).length > 0;
  const [first] = models;
  if (first === undefined || !isMet(first)) return input;
  return { ...input, models: models.filter(isMet), hostsOf: preferredHosts };
}
