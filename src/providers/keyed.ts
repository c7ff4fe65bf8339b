// A provider with several keys: one transport for each, behind the port of one. The request says which key it is sent with.

import type { Provider, ProviderKey } from "../core/model.ts";
import type { Transport } from "./transport.ts";

/** `open` makes the transport of a provider that has this key alone. */
export function createKeyed(provider: Provider, open: (provider: Provider) => Transport): Transport {
  const { apiKeys = [], ...single } = provider;
  if (apiKeys.length === 0) return open(provider);
  const transports = new Map(apiKeys.map(({ id, key }) => [id, open({ ...single, apiKey: key })]));
  const first = transports.get((apiKeys[0] as ProviderKey).id) as Transport;
  const all = [...transports.values()];
  const chosen = (keyId: string | undefined): Transport => transports.get(keyId ?? "") ?? first;
  const { openSocket } = first;
  return {
    send: (request) => chosen(request.keyId).send(request),
    ...(openSocket && { openSocket: (asked) => (chosen(asked.keyId).openSocket ?? openSocket)(asked) }),
    inFlight: () => all.reduce((sum, transport) => sum + transport.inFlight(), 0),
    async close() {
      await Promise.all(all.map((transport) => transport.close()));
    },
    async retire() {
      await Promise.all(all.map((transport) => transport.retire()));
    },
  };
}
