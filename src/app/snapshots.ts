// Snapshots of the configuration. A change makes a new snapshot, and running requests keep theirs. So a connection that
// the new snapshot does not use is closed only when the last of those requests has ended.

import type { Catalog } from "../catalog/catalog.ts";
import { pricedByClock } from "../catalog/moment.ts";
import { chainRetirements, type Retirement } from "../catalog/retirement.ts";
import type { LiveSettings } from "../config/settings.ts";
import type { HostedModel } from "../core/model.ts";
import type { OpenCalls } from "../gateway/open-calls.ts";
import type { Services, Snapshot } from "../gateway/services.ts";
import type { Health } from "../providers/health.ts";
import { createRegistry, type Registry, type RegistryOptions } from "../providers/registry.ts";
import { createSpeeds, type SpeedSample } from "../providers/speeds.ts";
import { watchedRows } from "./health.ts";

/** The settings that requests are served with. */
export type ServedSettings = Pick<LiveSettings, "catalog" | "routing" | "logging"> & {
  readonly limits: Pick<LiveSettings["limits"], "endUserHeaders">;
};

export interface Snapshots {
  /** Services for a request that begins now. */
  current(): Services;
  /** Publishes a configuration for all requests that begin from now on. */
  publish(settings: ServedSettings): void;
  close(): Promise<void>;
}

export interface SnapshotsContext extends Omit<RegistryOptions, "previous"> {
  /** Opens the health of the first snapshot; later ones share it. */
  readonly openHealth: (current: () => Snapshot) => Health;
  readonly openCalls: Pick<OpenCalls, "openNowOver">;
  /** Receives the speed of every answer. */
  readonly onSpeed?: ((sample: SpeedSample) => void) | undefined;
  /** Receives each model of a chain once when it is about to retire, and once when it has retired. */
  readonly onRetirement?: ((retirement: Retirement) => void) | undefined;
  /** Services that do not change with the configuration. */
  readonly services: Omit<Services, keyof Snapshot | "health">;
}

export function createSnapshots(first: ServedSettings, context: SnapshotsContext): Snapshots {
  const { formats, auths, framings, onStale, loopName, now, openCalls } = context;
  /** Registries whose last requests are still running. */
  const retiring = new Set<Registry>();
  let snapshot = snapshotOf(first);
  const watched = retirementWatch(context.onRetirement);
  let catalogAtTime = watched(first.catalog);
  const health = context.openHealth(() => snapshot);
  let services: Services = { ...context.services, ...snapshot, health };

  function snapshotOf(
    { catalog, routing, logging, limits: { endUserHeaders } }: ServedSettings,
    previous?: Snapshot,
  ): Snapshot {
    const options = { formats, auths, framings, onStale, loopName, now, previous: previous?.registry };
    const registry = createRegistry(catalog.providers, options);
    const settled = { catalog, routing, logging, endUserHeaders };
    if (previous === undefined) {
      return { ...settled, registry, speeds: createSpeeds(context.services.now, context.onSpeed) };
    }
    const changed = registry.changedFrom(previous.registry);
    const [before, after] = [hostsByKey(previous.catalog), hostsByKey(catalog)];
    const isSame = (hostKey: string): boolean => {
      const [old, next] = [before.get(hostKey), after.get(hostKey)];
      return old?.provider === next?.provider && old?.upstream === next?.upstream && !changed.has(next?.provider ?? "");
    };
    return { ...settled, registry, speeds: previous.speeds.keeping(isSame) };
  }

  async function retire(old: Registry, next: Registry): Promise<void> {
    retiring.add(old);
    await openCalls.openNowOver();
    await old.retire(next);
    retiring.delete(old);
  }

  return {
    current() {
      const catalog = catalogAtTime(context.services.now());
      if (catalog !== snapshot.catalog) {
        snapshot = { ...snapshot, catalog };
        services = { ...context.services, ...snapshot, health };
      }
      return services;
    },
    publish(settings) {
      const old = snapshot.registry;
      snapshot = snapshotOf(settings, snapshot);
      catalogAtTime = watched(settings.catalog);
      const { catalog, registry } = snapshot;
      health.watch(watchedRows(catalog), registry.changedFrom(old));
      services = { ...context.services, ...snapshot, health };
      void retire(old, registry);
    },
    async close() {
      await Promise.all([snapshot.registry, ...retiring].map((registry) => registry.close()));
    },
  };
}

/** Tells of each model of a chain once before its end and once after, whatever is published in between. */
function retirementWatch(onRetirement: SnapshotsContext["onRetirement"]) {
  const told = new Set<string>();
  return (catalog: Catalog) =>
    pricedByClock(catalog, (atMs) => {
      for (const retirement of chainRetirements(catalog, atMs)) {
        const { model, day, state } = retirement;
        const name = `${model} ${day} ${state}`;
        if (told.has(name)) continue;
        told.add(name);
        onRetirement?.(retirement);
      }
    });
}

export function hostsByKey({ models }: Catalog): ReadonlyMap<string, HostedModel> {
  return new Map([...models.values()].flatMap(({ hosts }) => hosts.map((host) => [host.hostKey, host])));
}
