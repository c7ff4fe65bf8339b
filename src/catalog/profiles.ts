// Hosts that stand for any provider of a cloud. Each says from which regions it can be called: Bedrock has a name and a
// price for each group of regions, and Google a price for each kind of endpoint.

import type { Provider } from "../core/model.ts";
import type { HostRow, ModelRow } from "./rows.ts";

/** Kinds of providers by the name that their hosts have in the catalogue. */
const STAND_INS: Readonly<Record<string, string>> = {
  "amazon-bedrock": "bedrock-converse",
  "google-vertex": "vertex",
  "google-vertex-claude": "vertex-anthropic",
  "google-vertex-claude-regional": "vertex-anthropic",
  "azure-openai": "azure",
  "azure-foundry": "azure-anthropic",
};

/** The name in the catalogue for providers of this kind; undefined for kinds that are no cloud's. */
export function standInFor(kind: string): string | undefined {
  return Object.keys(STAND_INS).find((name) => STAND_INS[name] === kind);
}

interface Calling {
  readonly provider: Pick<Provider, "id" | "kind" | "region">;
}

/** The rows with the hosts that these providers can call from their regions. Without such a provider they stay. */
export function withProfiles(
  rows: ReadonlyMap<string, ModelRow>,
  setups: readonly Calling[],
): ReadonlyMap<string, ModelRow> {
  const providers = setups.map(({ provider }) => provider);
  const ids = new Set(providers.map(({ id }) => id));
  const called = (host: HostRow): readonly HostRow[] => {
    const { callFrom } = host;
    const clouds = providers.filter(({ kind }) => kind === STAND_INS[host.provider]);
    if (callFrom === undefined || (clouds.length === 0 && !ids.has(host.provider))) return [host];
    const near = clouds.filter(({ region = "" }) => callFrom.some((beginning) => region.startsWith(beginning)));
    return near.map(({ id: provider }) => ({ ...host, provider }));
  };
  const near = new Map<string, ModelRow>();
  for (const [id, row] of rows) {
    const hosts = row.hosts?.flatMap(called);
    // A model without a host is none.
    if (hosts?.length === 0 && row.provider === undefined) continue;
    near.set(id, hosts === undefined ? row : { ...row, hosts });
  }
  return near;
}
