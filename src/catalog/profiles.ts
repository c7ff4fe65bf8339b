// Inference profiles: names under which Bedrock has a model, one for each group of regions, each with a price of its own.
// Hosts of the catalogue that say from where they can be called stand for any provider of this kind.

import type { Provider } from "../core/model.ts";
import type { HostRow, ModelRow } from "./rows.ts";

const KIND = "bedrock-converse";

interface Calling {
  readonly provider: Pick<Provider, "id" | "kind" | "region">;
}

/** The rows with the hosts that these providers can call from their regions. Without such a provider they stay. */
export function withProfiles(
  rows: ReadonlyMap<string, ModelRow>,
  setups: readonly Calling[],
): ReadonlyMap<string, ModelRow> {
  const clouds = setups.map(({ provider }) => provider).filter(({ kind }) => kind === KIND);
  const ids = new Set(setups.map(({ provider }) => provider.id));
  const called = (host: HostRow): readonly HostRow[] => {
    const { callFrom } = host;
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
