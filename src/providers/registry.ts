// Every provider of a snapshot with its connection and the format it speaks. A provider is a row of data; its kind has
// decided the format, the sign-in and the framing. A provider that did not change keeps its connection.

import { isDeepStrictEqual } from "node:util";
import type { SignInState } from "../core/model.ts";
import { type FormatName, formatsOf, type Model, type Provider } from "../core/model.ts";
import type { ProviderFormat } from "../formats/format.ts";
import { createFormats, type Formats } from "../formats/registry.ts";
import type { SseReader } from "../formats/sse/reader.ts";
import type { Auth } from "./auth/auth.ts";
import { type KeyEnd, keyEndsOf } from "./auth/key-ends.ts";
import { AUTHS, type AuthRows, openAuth } from "./auth/schemes.ts";
import { FRAMINGS, type FramingRows, framingOf } from "./framing.ts";
import { createKeyed } from "./keyed.ts";
import { createRedact, type Redact } from "./redact.ts";
import { createSandbox } from "./sandbox.ts";
import type { Transport } from "./transport.ts";
import { createUpstream, type UpstreamOptions } from "./upstream.ts";

/** The connection to one provider. */
interface Connection {
  readonly provider: Provider;
  readonly transport: Transport;
  /** The usual format of the provider, in which its list of models is asked for. */
  readonly format: ProviderFormat;
  /** The format for a model: the client's own where it can be had, so that nothing is converted. */
  formatFor(model: Pick<Model, "formats">, client: FormatName): ProviderFormat;
  /** A reader for one stream of this provider, by its framing. */
  readonly newEvents: () => SseReader;
  /** The sign-in of the first of its keys; null where nothing ends, or nothing was sent yet. */
  signIn(): SignInState | null;
  /** Ends of keys and credentials that nobody renews. */
  keyEnds(): readonly KeyEnd[];
  /** The same, once the cloud was asked for credentials and whom it sees. */
  identify(signal: AbortSignal): Promise<SignInState | null>;
  /** Takes the provider's secrets, and what looks like any, out of what it says. */
  readonly redact: Redact;
}

/** The connections of one snapshot. Those of providers that did not change belong to the next one as well. */
export interface Registry {
  /** The connection to a configured provider. Asking for any other is a fault of ours. */
  connection(providerId: string): Connection;
  /** The providers whose connections are not those of the other registry. */
  changedFrom(other: Registry): ReadonlySet<string>;
  /** The connection to a provider, if it is configured. */
  find(providerId: string): Connection | undefined;
  /** Counts the calls under way, by provider. */
  calls(): readonly { readonly provider: string; readonly count: number }[];
  close(): Promise<void>;
  /** Closes what the next registry does not use, once the calls on it have ended. */
  retire(next: Registry): Promise<void>;
}

export interface RegistryOptions {
  /** The formats; those that ship if left out. */
  readonly formats?: Formats | undefined;
  /** Beside those that ship. */
  readonly auths?: AuthRows | undefined;
  readonly framings?: FramingRows | undefined;
  /** Told when a provider had closed an idle connection as a request was sent on it. */
  readonly onStale?: ((providerId: string) => void) | undefined;
  /** The name by which a gateway recognises its own requests; none is sent if left out. */
  readonly loopName?: string | undefined;
  /** Milliseconds on the clock of the connections. */
  readonly now?: (() => number) | undefined;
  /** The registry that this one replaces. */
  readonly previous?: Registry | undefined;
}

export function createRegistry(
  providers: ReadonlyMap<string, Provider>,
  {
    formats = createFormats(),
    auths,
    framings,
    onStale,
    loopName,
    now = () => performance.now(),
    previous,
  }: RegistryOptions = {},
): Registry {
  const connections = new Map<string, Connection>();
  for (const provider of providers.values()) {
    const known = previous?.find(provider.id);
    if (known !== undefined && isDeepStrictEqual(known.provider, provider)) {
      connections.set(provider.id, known);
      continue;
    }
    const formatFor = formatChooser(provider, formats);
    const format = formatFor({}, provider.format);
    const { newEvents, contentType: streamType } = framingOf(provider.framing, { ...FRAMINGS, ...framings });
    const signIns: Auth[] = [];
    const transport = createKeyed(provider, (single) => {
      const auth = openAuth(single, { ...AUTHS, ...auths });
      signIns.push(auth);
      const options = { auth, streamType, loopName, onStale: () => onStale?.(provider.id), now };
      return TRANSPORTS[provider.transport](single, options);
    });
    const redact = createRedact(provider, secretsOf(signIns));
    connections.set(provider.id, {
      provider,
      transport,
      format,
      formatFor,
      newEvents,
      redact,
      ...seen(signIns[0], provider),
    });
  }
  return {
    connection(providerId) {
      const connection = connections.get(providerId);
      if (connection === undefined) throw new Error(`provider ${providerId} is not configured`);
      return connection;
    },
    find: (providerId) => connections.get(providerId),
    changedFrom: (other) => new Set([...connections.keys()].filter((id) => other.find(id) !== connections.get(id))),
    calls: () => [...connections].map(([provider, { transport }]) => ({ provider, count: transport.inFlight() })),
    async close() {
      await Promise.all([...connections.values()].map(({ transport }) => transport.close()));
    },
    async retire(next) {
      const unused = [...connections].filter(([id, connection]) => next.find(id) !== connection);
      await Promise.all(unused.map(([, { transport }]) => transport.retire()));
    },
  };
}

function seen(auth: Auth | undefined, provider: Provider): Pick<Connection, "signIn" | "keyEnds" | "identify"> {
  const written = keyEndsOf(provider);
  const soonest = written.reduce((least, { endsAtMs }) => Math.min(least, endsAtMs), Number.POSITIVE_INFINITY);
  const ofKey = { identity: null, expiresAtMs: soonest, problem: null, isRenewed: false };
  const own = (): SignInState | null => (auth?.form === "each" ? auth.state() : null);
  const signIn = (): SignInState | null => own() ?? (written.length === 0 ? null : ofKey);
  return {
    signIn,
    keyEnds() {
      const { expiresAtMs = null, isRenewed = true } = own() ?? {};
      return isRenewed || expiresAtMs === null ? written : [...written, { id: "", endsAtMs: expiresAtMs }];
    },
    async identify(signal) {
      const state = signIn();
      if (state === null || auth?.form !== "each" || auth.identify === undefined) return state;
      // The cloud may not let everybody ask, which takes nothing away from the credentials.
      const identity = await auth.identify(signal).catch(() => state.identity);
      return { ...state, identity };
    },
  };
}

/** Secrets that schemes hold beside the configured keys, such as tokens. */
function secretsOf(signIns: readonly Auth[]): () => readonly string[] {
  return () => signIns.flatMap((auth) => (auth.form === "each" ? auth.secrets() : []));
}

function formatChooser(provider: Provider, formats: Formats): Connection["formatFor"] {
  return (model, client) => {
    const own = formatsOf(model, provider);
    return formats.forProviders(own.includes(client) ? client : (own[0] ?? provider.format));
  };
}

const TRANSPORTS: Readonly<Record<Provider["transport"], (provider: Provider, options: UpstreamOptions) => Transport>> =
  {
    network: createUpstream,
    sandbox: createSandbox,
  };
