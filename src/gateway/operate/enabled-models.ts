// Shows which models an account at a cloud may use, in the cloud's own words, and free of charge.

import { type Catalog, isRoutable } from "../../catalog/catalog.ts";
import { Cancellation } from "../../core/cancellation.ts";
import type { HostedModel, Provider } from "../../core/model.ts";
import type { Enabling } from "../../formats/listing.ts";
import { createRegistry, type Registry } from "../../providers/registry.ts";
import { readAll } from "../attempt/try-model.ts";
import * as TEXT from "../text.ts";

export interface EnabledModel {
  readonly model: string;
  readonly upstream: string;
  readonly isEnabled: boolean;
  /** The cloud's own words on a model that is not; null where it says nothing. */
  readonly problem: string | null;
}

const PATIENCE_MS = 10_000;
const ANSWER_BYTES_MAX = 8 * 1024 * 1024;
const SAID_MAX = 200;

/** The models that the catalogue has at this provider. Null where nothing but a request could tell. */
export async function enabledModels(
  provider: Provider,
  { catalog, registry }: { readonly catalog: Catalog; readonly registry: Registry },
): Promise<readonly EnabledModel[] | null> {
  const { format } = registry.connection(provider.id);
  const { enabling } = format.listing;
  const hosts = [...catalog.models.values()]
    .flatMap(({ hosts: all }) => all)
    .filter((host) => host.provider === provider.id && isRoutable(catalog, host));
  // Only clouds have models that an account must be let into.
  if (enabling === undefined || provider.signInFields === undefined || hosts.length === 0) return null;
  return enabling.form === "lists" ? fromLists(hosts, { provider, enabling }) : each(hosts, { registry, enabling });
}

async function fromLists(
  hosts: readonly HostedModel[],
  { provider, enabling }: { readonly provider: Provider; readonly enabling: Extract<Enabling, { form: "lists" }> },
): Promise<readonly EnabledModel[] | null> {
  const registry = createRegistry(
    new Map([[provider.id, { ...provider, baseUrl: enabling.addressFor(provider.baseUrl) }]]),
  );
  try {
    const said = await Promise.all(
      enabling.paths.map((path) => ask(provider.id, { method: "GET", path, body: NO_BODY }, registry)),
    );
    const names = said.map(({ bytes }) => (bytes === null ? null : enabling.read(bytes)));
    // Without any list nothing is known of any model.
    const refusal = said.find(({ problem }) => problem !== null)?.problem ?? null;
    if (names.every((list) => list === null)) return hosts.map((host) => shown(host, false, refusal));
    const known = new Set(names.flatMap((list) => list ?? []));
    return hosts.map((host) => shown(host, known.has(host.upstream), null));
  } finally {
    await registry.close();
  }
}

async function each(
  hosts: readonly HostedModel[],
  { registry, enabling }: { readonly registry: Registry; readonly enabling: Extract<Enabling, { form: "each" }> },
): Promise<readonly EnabledModel[]> {
  return Promise.all(
    hosts.map(async (host) => {
      const { problem } = await ask(host.provider, enabling.request(host.upstream), registry);
      return shown(host, problem === null, problem);
    }),
  );
}

function shown({ id, upstream }: HostedModel, isEnabled: boolean, problem: string | null): EnabledModel {
  return { model: id, upstream, isEnabled, problem };
}

interface FreeQuestion {
  readonly method?: "GET";
  readonly path: string;
  readonly body: Buffer;
}

interface Replied {
  readonly bytes: Buffer | null;
  readonly problem: string | null;
}

const NO_BODY = Buffer.alloc(0);

async function ask(providerId: string, question: FreeQuestion, registry: Registry): Promise<Replied> {
  const { transport, format, redact } = registry.connection(providerId);
  const signal = new Cancellation();
  const timer = setTimeout(() => signal.abort(), PATIENCE_MS);
  try {
    const reply = await transport.send({ ...question, isStream: false, signal });
    if (!reply.ok) return { bytes: null, problem: redact(reply.failure.message) };
    const bytes = await readAll(reply.body, ANSWER_BYTES_MAX);
    if (bytes === null) return { bytes, problem: reply.body.failure?.message ?? TEXT.status(reply.status) };
    if (reply.status <= 299) return { bytes, problem: null };
    const { message } = format.readError(bytes);
    return { bytes: null, problem: redact(message).slice(0, SAID_MAX) || TEXT.status(reply.status) };
  } finally {
    clearTimeout(timer);
  }
}
