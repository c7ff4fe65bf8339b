// Where a request may go: regions, zero retention and providers that profile and request require of every host. Nothing
// sets these aside: no fallback, session, cascade or sample leaves them. Behaviour 5.31.

import type { Catalog } from "../catalog/catalog.ts";
import type { Controls } from "../core/decision.ts";
import type { HostedModel } from "../core/model.ts";
import { liesIn } from "../core/regions.ts";
import type { AskedValues } from "../core/requests/controls.ts";
import { usableHosts } from "./hosts.ts";
import type { Need } from "./needs.ts";
import * as TEXT from "./text.ts";

/** What a profile or a request requires. Requests of older versions in the log lack these values. */
export type Residency = Partial<Pick<AskedValues, "regions" | "zeroRetention" | "providers" | "excludedProviders">>;

const NO_NEEDS: readonly Need[] = [];

export function residencyNeeds(required: Residency, catalog: Pick<Catalog, "providers">): readonly Need[] {
  const { regions = null, zeroRetention = false, providers = null, excludedProviders = null } = required;
  if (regions === null && !zeroRetention && providers === null && excludedProviders === null) return NO_NEEDS;
  // The sandbox stands for every vendor, and sends nothing anywhere.
  const isSandbox = ({ provider }: HostedModel): boolean => catalog.providers.get(provider)?.transport === "sandbox";
  return needsOf({ regions, zeroRetention, providers, excludedProviders }, catalog).map((need) => ({
    ...need,
    isMetBy: (host) => isSandbox(host) || need.isMetBy(host),
  }));
}

function needsOf(required: Required<Residency>, catalog: Pick<Catalog, "providers">): readonly Need[] {
  const { regions, zeroRetention, providers, excludedProviders } = required;
  const needs: Need[] = [];
  if (regions !== null) needs.push(regionNeed(regions));
  if (zeroRetention) needs.push(RETENTION_NEED);
  if (providers !== null) {
    needs.push({
      ability: () => TEXT.isAtProvider(providers),
      isMetBy: (model) => isAt(model, providers, catalog),
      unmet: ({ provider }) => TEXT.atOtherProvider(provider, providers),
    });
  }
  if (excludedProviders !== null) {
    needs.push({
      ability: () => TEXT.isNotAtProvider(excludedProviders),
      isMetBy: (model) => !isAt(model, excludedProviders, catalog),
      unmet: ({ provider }) => TEXT.atExcludedProvider(provider),
    });
  }
  return needs;
}

/** A host that may answer in several places must have all of them inside. One whose place is unknown has none. */
function regionNeed(places: readonly string[]): Need {
  const isInside = (region: string): boolean => places.some((place) => liesIn(region, place));
  return {
    ability: () => TEXT.answersIn(places),
    isMetBy: ({ regions = [] }) => regions.length > 0 && regions.every(isInside),
    unmet: ({ host, regions = [] }) => TEXT.answersElsewhere(host, regions, places),
  };
}

const RETENTION_NEED: Need = {
  ability: () => TEXT.keepsNothing,
  isMetBy: ({ zeroRetention }) => zeroRetention === true,
  unmet: ({ host }) => TEXT.mayKeep(host),
};

function isAt({ provider: id }: HostedModel, names: readonly string[], { providers }: Pick<Catalog, "providers">) {
  const own = [id, ...(providers.get(id)?.otherNames ?? [])];
  return names.some((name) => own.includes(name) || own.includes(name.toLowerCase()));
}

/** Only the controls that are requirements, which a second answer to a request must keep to as well. */
export function residencyOf({ regions, zeroRetention, providers, excludedProviders }: Controls): Required<Residency> {
  return { regions, zeroRetention, providers, excludedProviders };
}

/** A host that does not meet what profile and request require, with the reason. */
export interface LeftOutHost {
  readonly model: string;
  readonly host: string;
  readonly because: string;
}

/** The hosts of these models that the requirements leave out. */
export function leftOutHosts(
  models: readonly string[],
  required: readonly Residency[],
  catalog: Catalog,
): readonly LeftOutHost[] {
  const needs = required.flatMap((each) => residencyNeeds(each, catalog));
  if (needs.length === 0) return [];
  return models.flatMap((id) => {
    const model = catalog.models.get(id);
    const hosts = model === undefined ? [] : usableHosts(model, catalog);
    return hosts.flatMap((host) => {
      const unmet = needs.find((need) => !need.isMetBy(host));
      return unmet === undefined ? [] : [{ model: id, host: host.host, because: unmet.unmet(host) }];
    });
  });
}
