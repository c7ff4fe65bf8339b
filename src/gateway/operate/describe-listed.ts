// Describes the models that a provider lists. A list hardly says more than names, but the usual model servers tell the
// context and the capabilities of their models elsewhere.

import { CAPABILITIES, type Provider } from "../../core/model.ts";
import { discover } from "../../providers/local/discover.ts";
import type { FoundModel } from "../../providers/local/servers.ts";
import type { Listing } from "./list-models.ts";

/** Somebody waits for it. */
const PATIENCE_MS = 5_000;
/** Nobody chooses among more; a router of other providers lists some hundred. */
const MODELS_MAX = 1_000;

/** Describes the listed models. Returns null where the provider has no list. */
export async function describeListed({ provider, models }: Listing): Promise<readonly FoundModel[] | null> {
  if (models === null) return null;
  const described = await serverModels(provider);
  return models.slice(0, MODELS_MAX).map(({ id, context = null }) => {
    const found = described.find(({ upstream }) => upstream === id);
    return found ?? { upstream: id, context, capabilities: [], untold: CAPABILITIES, note: null };
  });
}

/** Asked at the address itself and without a key, so one that needs a key describes nothing. */
async function serverModels({ baseUrl, apiKey, transport, allowsPrivate }: Provider): Promise<readonly FoundModel[]> {
  const { port, origin } = new URL(baseUrl);
  // The search may reach private networks.
  const isSearched = port !== "" && apiKey === null && transport === "network" && allowsPrivate !== false;
  if (!isSearched) return [];
  const [found] = await discover({ address: origin, withinMs: PATIENCE_MS, hasDetails: true });
  return found?.models ?? [];
}
