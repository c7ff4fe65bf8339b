// Endpoints for operations: liveness, readiness, metrics.

import type { FastifyInstance, FastifyRequest } from "fastify";
import { GatewayError } from "../core/errors.ts";
import type { Services } from "../gateway/services.ts";
import type { LifecycleContext, OperatorContext, ReadyCheck } from "./context.ts";
import { type AdminTokenContext, isAdmin } from "./exchange/identity.ts";
import * as TEXT from "./text.ts";

export interface OpsContext extends AdminTokenContext, Pick<LifecycleContext, "readiness"> {
  readonly services: () => Pick<Services, "health">;
  readonly metrics: Pick<OperatorContext["metrics"], "contentType" | "text">;
}

const LOOPBACK = /^(::1|127\.\d+\.\d+\.\d+|::ffff:127\.\d+\.\d+\.\d+)$/;

/** Headers that proxies and the networks in front of them add. */
const FORWARDED =
  /^(forwarded|via|x-forwarded(-.+)?|x-original-forwarded-for|x-real-ip|x-envoy-.+|cf-.+|cdn-loop|.+-client-ip)$/;

const LOCAL_HOST = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?$/i;

export function registerOps(server: FastifyInstance, context: OpsContext): void {
  for (const path of ["/healthz", "/livez"]) server.get(path, async () => ({ status: "ok" }));
  server.get("/readyz", async (request, reply) => {
    const checks = [...(await context.readiness()), providersCheck(context)];
    const missing = checks.find(({ problem, isOptional }) => problem !== null && isOptional !== true);
    if (isVerbose(request)) {
      return reply
        .code(missing === undefined ? 200 : 503)
        .type("text/plain; charset=utf-8")
        .send(writeChecks(checks, missing === undefined));
    }
    if (missing === undefined) return { status: "ready", ...warningsOf(checks) };
    throw new GatewayError("unavailable", TEXT.notReady(missing.problem), {
      code: "not_ready",
      retryAfterSeconds: 1,
    });
  });
  server.get("/metrics", async (request, reply) => {
    if (!isFromHere(request) && !isAdmin(request, context)) {
      throw new GatewayError("unauthenticated", TEXT.metricsProtected);
    }
    return reply.type(context.metrics.contentType).send(await context.metrics.text());
  });
}

/** Optional parts that are missing. Absent while there is nothing to warn of. */
function warningsOf(checks: readonly ReadyCheck[]): { readonly warnings?: readonly string[] } {
  const warnings = checks.flatMap(({ name, problem }) => (problem === null ? [] : [`${name}: ${problem}`]));
  return warnings.length === 0 ? {} : { warnings };
}

/** `?verbose`, alone or with a value. */
function isVerbose({ query }: FastifyRequest): boolean {
  return Object.hasOwn(query as object, "verbose");
}

/** Optional: otherwise a failing provider would take every process out at once, and with them the 503 that says why. */
function providersCheck({ services }: OpsContext): ReadyCheck {
  const seen = services().health.overview();
  const isUp = ({ provider, credential }: (typeof seen)[number]): boolean =>
    [provider, credential].every(({ state }) => state === "closed" || state === "half-open");
  const problem = seen.length === 0 || seen.some(isUp) ? null : TEXT.allCoolingDown;
  return { name: "providers", problem, isOptional: true };
}

/** One line per check, in the form of Kubernetes' own health checks. */
function writeChecks(checks: readonly ReadyCheck[], isReady: boolean): string {
  const lines = checks.map(({ name, problem, isOptional }) => {
    if (problem === null) return `[+]${name} ok`;
    return `[-]${name} failed: ${problem}${isOptional === true ? " (ready without it)" : ""}`;
  });
  return `${[...lines, `readyz check ${isReady ? "passed" : "failed"}`].join("\n")}\n`;
}

/**
 * A request that a proxy on this machine forwards comes from outside. So does one from a browser page on this machine
 * whose host name was made to resolve here: it sends that name as the host.
 */
function isFromHere({ socket, headers, raw }: FastifyRequest): boolean {
  // A proxy without other configuration speaks HTTP/1.0.
  const isForwarded = raw.httpVersion === "1.0" || Object.keys(headers).some((name) => FORWARDED.test(name));
  return LOOPBACK.test(socket.remoteAddress ?? "") && !isForwarded && LOCAL_HOST.test(headers.host ?? "localhost");
}
