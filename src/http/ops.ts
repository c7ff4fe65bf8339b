// For those who run it: alive, ready, metrics.

import type { FastifyInstance, FastifyRequest } from "fastify";
import { GatewayError } from "../core/errors.ts";
import { isAdmin } from "./api/admin.ts";
import type { Edge } from "./edge.ts";

const LOOPBACK = /^(::1|127\.\d+\.\d+\.\d+|::ffff:127\.\d+\.\d+\.\d+)$/;

/** What proxies and the networks in front of them add. */
const FORWARDED =
  /^(forwarded|via|x-forwarded(-.+)?|x-original-forwarded-for|x-real-ip|x-envoy-.+|cf-.+|cdn-loop|.+-client-ip)$/;

const LOCAL_HOST = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?$/i;

export function registerOps(server: FastifyInstance, edge: Edge): void {
  server.get("/healthz", async () => ({ status: "ok" }));
  server.get("/readyz", async () => {
    const reason = await edge.notReadyBecause();
    if (reason === null) return { status: "ready" };
    throw new GatewayError("unavailable", `Not ready: ${reason}.`, { code: "not_ready", retryAfterSeconds: 1 });
  });
  server.get("/metrics", async (request, reply) => {
    if (!isFromHere(request) && !isAdmin(request, edge)) {
      throw new GatewayError("unauthenticated", "Metrics are for loopback or the admin token.");
    }
    return reply.type(edge.metrics.contentType).send(await edge.metrics.text());
  });
}

/**
 * A proxy on this machine is not the caller: what it forwards counts as coming from outside. Nor is a page in a browser
 * here whose own name was made to lead to this machine: it sends that name as the host.
 */
function isFromHere({ socket, headers, raw }: FastifyRequest): boolean {
  // HTTP/1.0 is what a proxy speaks that nobody has told anything else.
  const isForwarded = raw.httpVersion === "1.0" || Object.keys(headers).some((name) => FORWARDED.test(name));
  return LOOPBACK.test(socket.remoteAddress ?? "") && !isForwarded && LOCAL_HOST.test(headers.host ?? "localhost");
}
