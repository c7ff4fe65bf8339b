// Joins rows of a configuration with those that ship: what a row cannot say stays as it ships, and a host that was found
// for a known model becomes its provisional host.

import { type HostRow, hostRows, type ModelRow } from "./rows.ts";

/** Keeps what a row of the configuration cannot say as it ships: a price that is adopted does not change it. */
export function withShipped(row: ModelRow, shipped: ModelRow | undefined): ModelRow {
  if (shipped === undefined) return row;
  const { cacheTokensMin, cacheSeconds, tokenizer, retires } = shipped;
  const known = hostRows(shipped);
  const hosts = row.hosts?.map((host): HostRow => {
    const same = known.find(
      ({ provider, upstream = shipped.id }) => provider === host.provider && upstream === (host.upstream ?? row.id),
    );
    return same?.retires === undefined ? host : { retires: same.retires, ...host };
  });
  return {
    ...(cacheTokensMin === undefined ? {} : { cacheTokensMin }),
    ...(cacheSeconds === undefined || row.provider !== shipped.provider ? {} : { cacheSeconds }),
    ...(tokenizer === undefined ? {} : { tokenizer }),
    ...(retires === undefined || row.provider === undefined ? {} : { retires }),
    ...row,
    ...(hosts === undefined ? {} : { hosts }),
  };
}

/** A row that names a known model becomes hosts of that model, behind its own. Returns the models by ids of such rows. */
export function joinHosts(rows: Map<string, ModelRow>): Readonly<Record<string, string>> {
  const joined: Record<string, string> = {};
  for (const row of [...rows.values()]) {
    const model = row.hostOf === undefined ? undefined : rows.get(row.hostOf);
    if (model === undefined || model.hostOf !== undefined) continue;
    rows.delete(row.id);
    joined[row.id] = model.id;
    const known = hostRows(model);
    const added = hostRows(row).filter((host) => known.every((own) => !isSameHost(own, host, model.id)));
    if (added.length > 0) rows.set(model.id, { ...model, hosts: [...(model.hosts ?? []), ...added.map(provisional)] });
  }
  return joined;
}

function isSameHost(own: HostRow, { provider, upstream }: HostRow, id: string): boolean {
  return own.provider === provider && (own.upstream ?? id) === upstream;
}

function provisional(host: HostRow): HostRow {
  const { provider, upstream, price, priceAsOf, priceSource, context, maxOutput, capabilities, formats } = host;
  return {
    ...{ provider, provisional: host.provisional ?? "named" },
    ...(upstream === undefined ? {} : { upstream }),
    ...(price === undefined ? {} : { price }),
    ...(priceAsOf === undefined ? {} : { priceAsOf }),
    ...(priceSource === undefined ? {} : { priceSource }),
    ...(context === undefined ? {} : { context }),
    ...(maxOutput === undefined ? {} : { maxOutput }),
    ...(capabilities === undefined ? {} : { capabilities }),
    ...(formats === undefined ? {} : { formats }),
  };
}

/** Tells whether a provisional model, or a model by its provisional hosts, may join the chain of its tier. */
export function joinsChain({ provisional: use, hosts = [] }: ModelRow): boolean {
  return use === "chain" || hosts.some((host) => host.provisional === "chain");
}
