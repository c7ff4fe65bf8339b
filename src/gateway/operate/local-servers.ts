// Model servers that were found, compared with the configuration: which of them are providers already, which of their
// models are in the catalogue, and what it takes to add the others.

import type { Catalog } from "../../catalog/catalog.ts";
import type { FoundServer } from "../../providers/local/discover.ts";
import type { FoundModel } from "../../providers/local/servers.ts";
import { type LocalProvider, newModelId } from "../../versions/adoption.ts";
import * as TEXT from "../text.ts";

export interface KnownModel extends FoundModel {
  /** Id of the model in the catalogue; null when the catalogue lacks it. */
  readonly model: string | null;
}

export interface KnownServer extends FoundServer {
  /** The configured provider at its address; null when there is none. */
  readonly provider: string | null;
  readonly models: readonly KnownModel[];
}

export function compareFound(found: readonly FoundServer[], catalog: Catalog): readonly KnownServer[] {
  const providers = [...catalog.providers.values()].filter(({ transport }) => transport === "network");
  return found.map((server) => {
    const provider = providers.find(({ baseUrl }) => isSameServer(baseUrl, server.address))?.id ?? null;
    const ids = new Map(
      [...catalog.models.values()].flatMap(({ id, hosts }) =>
        hosts.filter((host) => host.provider === provider).map(({ upstream }) => [upstream, id] as const),
      ),
    );
    return {
      ...server,
      provider,
      models: server.models.map((model) => ({ ...model, model: ids.get(model.upstream) ?? null })),
    };
  });
}

/** `localhost` and the addresses of loopback are one machine. */
function isSameServer(baseUrl: string, address: string): boolean {
  const [configured, found] = [new URL(baseUrl), new URL(address)];
  const isLocal = ({ hostname }: URL): boolean => /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
  const isSameHost = configured.hostname === found.hostname || (isLocal(configured) && isLocal(found));
  return isSameHost && configured.port === found.port && configured.protocol === found.protocol;
}

/** One line: `Ollama at http://127.0.0.1:11434 with 3 models`. */
export function nameFound({ name, address, models, needsKey }: FoundServer): string {
  if (needsKey && models.length === 0) return TEXT.foundLocked(name, address);
  return TEXT.found(name, address, models.length);
}

/**
 * The entries that add a server: a provider, and its models that are not in the catalogue, under names that are free.
 */
export function adoptable({ id, kind, address, provider, models }: KnownServer, catalog: Catalog): LocalProvider {
  const isTaken = (name: string): boolean => catalog.providers.has(name);
  const own = provider ?? (isTaken(id) ? `${id}-${new URL(address).port}` : id);
  return {
    ...{ id: own, kind, isKnown: provider !== null },
    baseUrl: kind === "ollama" ? address : `${address}/v1`,
    models: models
      .filter(({ model }) => model === null)
      .map(({ upstream, context, capabilities }) => ({
        id: newModelId(upstream, own, catalog),
        upstream,
        context,
        capabilities,
      })),
  };
}
