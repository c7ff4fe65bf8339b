// Hosts that get the identity of this machine. A provider may be given any address over /api, and must not learn a token
// that opens more than itself.

import { isIP } from "node:net";
import type { Provider } from "../../core/model.ts";

export const GOOGLE_HOSTS = [".googleapis.com"] as const;
export const AZURE_HOSTS = [".azure.com", ".azure.us", ".azure.cn"] as const;

/** Loopback passes: what listens there has the rights of this machine already. */
export function isOwnHost(address: string, endings: readonly string[]): boolean {
  const { protocol, hostname } = new URL(address);
  if (hostname === "localhost" || hostname === "[::1]" || (isIP(hostname) === 4 && hostname.startsWith("127.")))
    return true;
  return protocol === "https:" && endings.some((ending) => hostname.endsWith(ending));
}

/** Credentials that were written for the provider may go where the provider is. */
export function requireOwnHost({ baseUrl, apiKey }: Provider, endings: readonly string[]): void {
  if (apiKey !== null || isOwnHost(baseUrl, endings)) return;
  const { hostname } = new URL(baseUrl);
  throw new Error(
    `the identity of this machine is sent to no other host than *${endings.join(", *")}, and not to ${hostname}`,
  );
}
