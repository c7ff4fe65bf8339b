// Hosts of the dashboard: under which names it is served, and the address that links to it begin with. A page of another
// site can make its own name resolve to this machine (DNS rebinding). A browser then sends that name as the host.

import { isIP } from "node:net";
import type { FastifyRequest } from "fastify";
import type { Settings } from "../../config/settings.ts";
import { GatewayError } from "../../core/errors.ts";
import * as TEXT from "../text.ts";
import { isHttps } from "./identity.ts";

type HostSettings = Pick<Settings["server"], "host" | "publicUrl" | "allowedHosts">;

/** Throws unless the request names an allowed host. Addresses always are: only a name can be made to resolve elsewhere. */
export function createHostGuard(settings: HostSettings): (request: FastifyRequest) => Promise<void> {
  const names = new Set([settings.host.toLowerCase(), ...settings.allowedHosts]);
  if (settings.publicUrl !== null) names.add(new URL(settings.publicUrl).hostname);
  const isAllowed = (host: string): boolean =>
    isIP(host) !== 0 || host === "localhost" || host.endsWith(".localhost") || names.has(host) || names.has("*");
  return async (request) => {
    const host = hostOf(request);
    if (!isAllowed(host)) throw misdirected(host);
  };
}

/** The name alone. Only a trusted proxy may give it in `X-Forwarded-Host`. */
function hostOf({ hostname }: FastifyRequest): string {
  return hostname.toLowerCase().replace(/^\[|\]$|\.$/g, "");
}

const HOST_SHOWN = 100;

function misdirected(host: string): GatewayError {
  const shown = host.slice(0, HOST_SHOWN);
  const message =
    shown === ""
      ? TEXT.noHost
      : `The dashboard is not served as '${shown}'. If this is its address, set SWITCHYARD_PUBLIC_URL=https://${shown} ` +
        `(server.publicUrl), or add another name with SWITCHYARD_ALLOWED_HOSTS=${shown} (server.allowedHosts).`;
  return new GatewayError("misdirected", message, { code: "host_not_allowed" });
}

/** The address that links begin with. Without a configured one, it is the one that the request was sent to. */
export function publicOrigin(request: FastifyRequest, { publicUrl }: Pick<HostSettings, "publicUrl">): string {
  return publicUrl ?? `${isHttps(request) ? "https" : "http"}://${request.host}`;
}
