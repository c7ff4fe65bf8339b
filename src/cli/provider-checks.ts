// `switchyard doctor --test`: each provider is asked for one tiny answer, as a request would ask it.

import type { Catalog } from "../catalog/catalog.ts";
import type { Check } from "../config/doctor.ts";
import { probe } from "../gateway/probe.ts";
import { createRegistry } from "../providers/registry.ts";

/** One check for each provider, all under way at once. */
export function askProviders(catalog: Catalog): readonly Promise<Check>[] {
  const providers = [...catalog.providers.values()].filter(({ kind }) => kind !== "sandbox");
  const registry = createRegistry(catalog.providers);
  const checks = providers.map(async (provider): Promise<Check> => {
    const { ok, model, durationMs, problem, fix } = await probe(
      { provider, model: null },
      { catalog, registry, now: Date.now },
    );
    if (ok) return { state: "ok", what: `${provider.id}: ${model} answered in ${durationMs} ms`, fix: null };
    const told = (problem ?? "").replace(/\.$/, "");
    return { state: "fail", what: told.startsWith(provider.id) ? told : `${provider.id}: ${told}`, fix };
  });
  void Promise.allSettled(checks).then(() => registry.close());
  return checks;
}
