// Refuses a provider at the gateway's own address: each request to it would come back as another one.

import { isIP } from "node:net";
import type { Provider } from "../core/model.ts";
import { type Located, nodeAt } from "./located.ts";
import type { Report } from "./report.ts";

interface OwnAddress {
  readonly host: string;
  readonly port: number;
  readonly publicUrl: string | null;
}

/** Checks the providers that the document names. The header of RFC 8586 ends the loops that no address shows. */
export function reportOwnAddress(
  providers: Iterable<Provider>,
  { server, file, report }: { readonly server: OwnAddress; readonly file: Located | null; readonly report: Report },
): void {
  for (const { id, baseUrl, transport } of providers) {
    if (transport !== "network" || !URL.canParse(baseUrl) || !isOwn(new URL(baseUrl), server)) continue;
    const entry = nodeAt(nodeAt(file, "providers"), id);
    const place = (nodeAt(entry, "baseUrl") ?? entry)?.place ?? `providers.${id}`;
    const message = "this is the gateway's own address, so each request would come back to it";
    report.problems.push({ place, message, suggestion: null });
  }
}

function isOwn(url: URL, { host, port, publicUrl }: OwnAddress): boolean {
  if (publicUrl !== null && url.origin === new URL(publicUrl).origin) return true;
  const usual = url.protocol === "https:" ? 443 : 80;
  const isOwnPort = port !== 0 && Number(url.port || usual) === port;
  return isOwnPort && isOwnHost(url.hostname.replace(/^\[|\]$/g, "").toLowerCase(), host.toLowerCase());
}

const WILDCARDS: ReadonlySet<string> = new Set(["0.0.0.0", "::"]);
const LOOPBACK: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "::1"]);

function isOwnHost(name: string, host: string): boolean {
  if (name === host) return true;
  const isLoopback = LOOPBACK.has(name) || (isIP(name) === 4 && name.startsWith("127."));
  return isLoopback && (WILDCARDS.has(host) || LOOPBACK.has(host));
}
