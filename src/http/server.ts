// The HTTP server: request ids, body and time limits, one error writer, and all routes. It makes no decisions.

import cors from "@fastify/cors";
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from "fastify";
import type { FixedSettings, LiveSettings } from "../config/settings.ts";
import { type ErrorReader, type GatewayError, writtenFor } from "../core/errors.ts";
import type { ClientEnd } from "../formats/format.ts";
import { REALTIME_PATH } from "../formats/realtime/format.ts";
import { shuttingDown } from "../gateway/open-calls.ts";
import { registerApi } from "./api/routes.ts";
import type { Edge, LifecycleContext } from "./context.ts";
import { handleBodies } from "./exchange/body.ts";
import { compressJson } from "./exchange/compression.ts";
import { endWaitingResponses } from "./exchange/disconnect.ts";
import { wantsPage } from "./exchange/error-page.ts";
import { sendError, toGatewayError } from "./exchange/errors.ts";
import { createHostGuard } from "./exchange/hosts.ts";
import { ownAccountOf } from "./exchange/identity.ts";
import { createMethodTable } from "./exchange/methods.ts";
import { createProxyWatch } from "./exchange/proxies.ts";
import type { RequestFormats } from "./exchange/request-format.ts";
import { headError, requestIdHeaders, requestIdOf } from "./exchange/request-head.ts";
import { registerOps } from "./ops.ts";
import { createAdmissionServer } from "./overload/admission.ts";
import { BodyBudget, defaultBodyBytes } from "./overload/body-budget.ts";
import { createQueue, type RequestQueue } from "./overload/queue.ts";
import { registerDocs } from "./pages/docs.ts";
import { registerHome } from "./pages/home.ts";
import { registerGuide } from "./pages/llms.ts";
import { registerOpenapi } from "./pages/openapi.ts";
import { readPage, registerUi } from "./pages/ui.ts";
import { createRealtimeOpener } from "./realtime-sessions/open.ts";
import { type ServedSockets, serveSockets } from "./sockets/upgrade.ts";
import { createUnmatchedCounter } from "./v1/key-admission.ts";
import { registerV1 } from "./v1/routes.ts";

export interface ServerOptions {
  /** The folder of the dashboard's files; left out, the folder where the build puts them. */
  readonly uiFolder?: string;
}

export async function createServer(edge: Edge, options: ServerOptions = {}): Promise<FastifyInstance> {
  const { trustedProxies } = edge.settings.server;
  const queue = createQueue(edge.settings.limits.queueMs);
  edge.metrics.watchWaiting(() => queue.length());
  const bodies = createBodyBudget(edge);
  const server = fastify({
    bodyLimit: edge.settings.server.bodyLimitBytes,
    trustProxy: trustedProxies.length > 0 && [...trustedProxies],
    serverFactory: (handle) => createAdmissionServer(edge, queue, handle),
    routerOptions: { ignoreTrailingSlash: true, ignoreDuplicateSlashes: true, maxParamLength: 200 },
    exposeHeadRoutes: true,
    // Fastify's own response while closing has no request id and another shape; ours is in the hook below.
    return503OnClosing: false,
    genReqId: requestIdOf,
    // No hook runs for these.
    frameworkErrors(error, request, reply) {
      noteFormat(request, edge.formats);
      sendError(toGatewayError(error), request, reply as FastifyReply);
    },
    // Bytes that are not HTTP get their response in overload/admission.ts.
    clientErrorHandler: () => undefined,
  });
  server.decorateRequest("clientFormat", null).decorateRequest("isClientPath", false);
  server.addHook("onRequest", (request, reply, done) => {
    const format = noteFormat(request, edge.formats);
    reply.headers(requestIdHeaders(request.id, format));
    if (!request.isClientPath) reply.headers(SECURITY_HEADERS);
    // A client that keeps the connection would send to a server that is about to close.
    if (edge.isDraining() || edge.letsGo()) reply.header("connection", "close");
    done((PROBES.has(request.url) ? undefined : closingError(edge)) ?? headError(request));
  });
  // Node would reject an unknown expectation itself, without a request id; ignoring it is allowed (RFC 9110, 10.1.1).
  server.server.on("checkExpectation", (request, response) => server.server.emit("request", request, response));
  endWaitingResponses(server.server);
  serveSockets(server, { edge, room: bodies, others: (opener) => realtimeOpener(opener, edge) });
  handleBodies(server, bodies, edge.settings.server.bodyGraceMs);
  server.setErrorHandler((error, request, reply) => {
    const known = toGatewayError(error);
    const operatorMessage = known.details.operator;
    if (known.status >= 500)
      edge.log.error(
        { event: "request.failed", requestId: request.id, err: error, cause: known.details.cause, operatorMessage },
        known.message,
      );
    request.recording?.failed(known);
    return sendError(writtenFor(readerOf(request, edge.live()), known), request, reply);
  });
  const respondUnmatched = createUnmatchedResponder(server, edge, options.uiFolder);
  server.setNotFoundHandler(respondUnmatched);
  server.addHook("onClose", async () => queue.close());
  await registerRoutes(server, edge, queue);
  // Before a body is looked at: whatever it is, the path or the method is wrong. After CORS has set its headers.
  server.addHook("onRequest", (request, reply, done) => {
    if (request.is404) respondUnmatched(request, reply).catch(done);
    else done();
  });
  await server.register((pages) => registerGuarded(pages, edge, options.uiFolder));
  return server;
}

function realtimeOpener(
  opener: Parameters<ServedSockets["others"]>[0],
  edge: Edge,
): ReturnType<ServedSockets["others"]> {
  return new Map([[REALTIME_PATH, createRealtimeOpener({ ...opener, edge })]]);
}

function createBodyBudget({ settings, metrics, watchBodies }: Edge): BodyBudget {
  const bodies = new BodyBudget(settings.limits.bodyBytes ?? defaultBodyBytes(), metrics.shed);
  metrics.watchBodies(() => bodies.usedBytes);
  watchBodies(() => bodies.usedPart);
  return bodies;
}

/** In the playground an operator reads the errors of a call. */
function readerOf(request: FastifyRequest, { errors }: Pick<LiveSettings, "errors">): ErrorReader {
  const isOperator = (request.identity ?? null) !== null && ownAccountOf(request) === null;
  return isOperator ? "operator" : errors.errorDetail;
}

function noteFormat(request: FastifyRequest, formats: RequestFormats): ClientEnd {
  request.isClientPath = formats.isClientPath(request.url);
  request.clientFormat = formats.of(request);
  return request.clientFormat;
}

/** Must be created before the routes, because it learns the methods of each path from them. */
function createUnmatchedResponder(server: FastifyInstance, edge: Edge, uiFolder: string | undefined) {
  const methods = createMethodTable(server, { settings: edge.settings.server, formats: edge.formats });
  const countUnmatched = createUnmatchedCounter(edge);
  const checkHost = createHostGuard(edge.settings.server);
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    if (request.isClientPath) await countUnmatched(request, reply);
    const problem = methods.respondUnmatched(request, reply);
    if (problem === null) return reply;
    if (problem.status !== 404 || !wantsPage(request)) throw problem;
    // Under another host the dashboard could not load its files; the plain page of the error handler needs none.
    const page = await checkHost(request).then(
      () => readPage(uiFolder),
      () => null,
    );
    if (page === null) throw problem;
    return reply.code(404).header("cache-control", "no-cache").type("text/html; charset=utf-8").send(page);
  };
}

/**
 * Registers the pages that a browser opens, and the paths that they call. Clients of /v1, health checks and metrics bring a key or learn nothing,
 * and reach containers under names that nobody configured.
 */
async function registerGuarded(server: FastifyInstance, edge: Edge, uiFolder: string | undefined): Promise<void> {
  server.addHook("onRequest", createHostGuard(edge.settings.server));
  server.addHook("onRequest", createProxyWatch(edge.log, edge.now));
  registerApi(server, edge);
  await registerUi(server, uiFolder);
  registerDocs(server);
}

async function registerRoutes(server: FastifyInstance, edge: Edge, queue: RequestQueue): Promise<void> {
  await registerCors(server, edge.settings);
  registerHome(server, edge);
  registerOps(server, edge);
  await server.register(async (scope) => {
    compressJson(scope);
    registerOpenapi(scope, edge.formats);
  });
  registerGuide(server, edge);
  registerV1(server, edge, queue);
}

/** For browsers, on everything but /v1: run only our scripts, load nothing from elsewhere, no frames, no guessed types. */
const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  "content-security-policy": [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "font-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'self'",
  ].join("; "),
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
};

/** Health checks and metrics are served until the end. */
const PROBES: ReadonlySet<string> = new Set(["/healthz", "/livez", "/metrics"]);

/** A connection that was kept alive can still bring requests. Their clients should go elsewhere. */
function closingError({ isClosing }: LifecycleContext): GatewayError | undefined {
  return isClosing() ? shuttingDown() : undefined;
}

const EXPOSED_HEADERS = [
  "x-request-id",
  "request-id",
  "retry-after",
  "x-should-retry",
  "deprecation",
  "sunset",
  ...["limit", "remaining", "reset"].map((name) => `x-ratelimit-${name}-requests`),
  ...["model", "tier", "confidence", "profile", "savings", "fallback"].map((name) => `x-service-${name}`),
];

async function registerCors(
  server: FastifyInstance,
  { server: { corsOrigins } }: Pick<FixedSettings, "server">,
): Promise<void> {
  if (corsOrigins.length === 0) return;
  await server.register(cors, {
    origin: corsOrigins.includes("*") ? true : [...corsOrigins],
    methods: ["GET", "POST", "PUT", "PATCH", "DELETE"],
    exposedHeaders: EXPOSED_HEADERS,
  });
}
