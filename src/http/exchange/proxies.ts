// Proxies that are not in `server.trustedProxies`. All clients behind one have its address, so that one of them who
// guesses passwords or keys uses up the limits of all.

import type { FastifyRequest } from "fastify";
import type { Log } from "../../core/log.ts";

/** A line an hour is enough to be noticed, and anybody can send the header. */
const LOG_EVERY_MS = 3_600_000;

/** The address of the proxy, where the request came through one that is not trusted. */
export function untrustedProxyOf({ headers, ip, socket }: FastifyRequest): string | null {
  return headers["x-forwarded-for"] !== undefined && ip === socket.remoteAddress ? ip : null;
}

export function createProxyWatch(log: Log, now: () => number): (request: FastifyRequest) => Promise<void> {
  let quietUntilMs = 0;
  return async (request) => {
    const address = untrustedProxyOf(request);
    if (address === null || now() < quietUntilMs) return;
    quietUntilMs = now() + LOG_EVERY_MS;
    const message = "X-Forwarded-For comes from an address that is not in server.trustedProxies";
    log.warn({ event: "proxy.untrusted", address }, message);
  };
}
