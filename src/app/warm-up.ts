// Warm-up at the start of a process: canned requests run through the whole path, from the socket to a loopback provider and
// back, in every client format, whole and streamed. V8 compiles that code before a client waits for it. Nothing is booked,
// logged, counted or remembered: the server of the warm-up is one of its own.

import { once } from "node:events";
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from "node:http";
import module from "node:module";
import { type AddressInfo, Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import { Registry as MetricRegistry } from "prom-client";
import { createLocalLimits } from "../accounts/limits/per-minute.ts";
import type { Ledger } from "../billing/ledger.ts";
import { providerKind } from "../catalog/provider-kinds.ts";
import { Cancellation } from "../core/cancellation.ts";
import type { KeyRecord } from "../core/keys.ts";
import type { Provider } from "../core/model.ts";
import { createSemaphore } from "../core/processes/semaphores.ts";
import { createOpenCalls } from "../gateway/open-calls.ts";
import type { Services } from "../gateway/services.ts";
import { createSessionMemory } from "../gateway/sessions/memory.ts";
import { createSessions } from "../gateway/sessions/sessions.ts";
import type { Edge } from "../http/context.ts";
import { createServer } from "../http/server.ts";
import { createRegistry, type Registry } from "../providers/registry.ts";
import { createSandbox } from "../providers/sandbox.ts";
import { createSpeeds } from "../providers/speeds.ts";
import { SILENT_LOG } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { Recorder } from "../telemetry/recorder.ts";
import { requestMetrics } from "../telemetry/request-metrics.ts";
import { openHealth } from "./health.ts";

interface WarmUp {
  readonly asked: number;
  /** Requests that were answered with 200. */
  readonly answered: number;
}

/** Longer brings little: most of the gain is code that runs for the first time. */
const WARM_MS_MAX = 300;
const ROUNDS_MIN = 2;
const ROUNDS_MAX = 20;
/** Many times what a cold process on a busy machine needs. */
const ANSWER_MS_MAX = 5_000;
const LOOPBACK = "127.0.0.1";

/** Takes a few tenths of a second. A process that cannot be warmed up serves all the same. */
export async function warmUp(edge: Edge): Promise<void> {
  const { log } = edge;
  const beganAtMs = performance.now();
  try {
    const { asked, answered } = await runOn(edge);
    const durationMs = Math.round(performance.now() - beganAtMs);
    log.debug({ event: "warm_up.finished", asked, answered, durationMs }, "warmed up");
    keepCompiledCode();
  } catch (err) {
    log.warn({ event: "warm_up.failed", err }, "the warm-up failed; the first requests take longer");
  }
}

/** Writes what was compiled where Node has a cache, so that the next start and the next worker find it. */
function keepCompiledCode(): void {
  (module as { readonly flushCompileCache?: () => void }).flushCompileCache?.();
}

async function runOn(edge: Edge): Promise<WarmUp> {
  const provider = createHttpServer((request, response) => void answer(request, response));
  provider.listen({ ...ANY_PORT, exclusive: true });
  await once(provider, "listening");
  const registry = loopbackRegistry(edge, (provider.address() as AddressInfo).port);
  try {
    const server = await createServer(unseen(edge, registry));
    await server.listen({ ...ANY_PORT, exclusive: true });
    const result = await runRounds(cannedRequests(edge), (server.server.address() as AddressInfo).port);
    await server.close();
    return result;
  } finally {
    await registry.close();
    provider.close();
  }
}

/** Exclusive: a worker listens by itself here, and not through its primary process. */
const ANY_PORT = { host: LOOPBACK, port: 0 };

async function runRounds(canned: readonly string[], port: number): Promise<WarmUp> {
  const untilMs = performance.now() + WARM_MS_MAX;
  let rounds = 0;
  let asked = 0;
  let answered = 0;
  while (rounds < ROUNDS_MIN || (rounds < ROUNDS_MAX && performance.now() < untilMs)) {
    rounds += 1;
    for (const request of canned) {
      asked += 1;
      // No start waits for a second one that fails.
      if (!(await ask(port, request))) return { asked, answered };
      answered += 1;
    }
  }
  return { asked, answered };
}

const KEY = "sk-service-warm-up";

/** One request for each path of chat, and one for its stream where the body asks for it. */
function cannedRequests({ formats }: Edge): readonly string[] {
  return formats.routes
    .filter(({ format, isAlias }) => format.endpoint === undefined && isAlias !== true)
    .flatMap(({ path, format, example, isStream }) => {
      const stored = format.endpoint === undefined && format.stored !== undefined ? { store: false } : {};
      const streams = path.includes("{model}") || isStream === true ? [{}] : [{}, { stream: true }];
      return streams.map((stream) => requestText(path, { model: "auto", ...example, ...stored, ...stream }));
    });
}

/** With a header that every format reads the key from. */
function requestText(path: string, body: object): string {
  const text = JSON.stringify(body);
  const head = [
    `POST ${path.replace("{model}", "auto")} HTTP/1.1`,
    `host: ${LOOPBACK}`,
    `authorization: Bearer ${KEY}`,
    "content-type: application/json",
    `content-length: ${Buffer.byteLength(text)}`,
    "connection: close",
  ];
  return `${head.join("\r\n")}\r\n\r\n${text}`;
}

/** Tells whether the response was a 200. */
function ask(port: number, text: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = new Socket();
    let head = "";
    socket.on("data", (bytes) => {
      if (head === "") head = bytes.toString("latin1");
    });
    socket.on("error", () => undefined);
    socket.setTimeout(ANSWER_MS_MAX, () => socket.destroy());
    socket.on("close", () => resolve(head.startsWith("HTTP/1.1 200 ")));
    socket.connect(port, LOOPBACK, () => socket.write(text));
  });
}

/** The provider: the sandbox behind a socket. */
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await buffer(request);
  const { stream = false } = JSON.parse(body.toString("utf8")) as { readonly stream?: boolean };
  const sent = { path: request.url ?? "", body, isStream: stream, signal: new Cancellation() };
  const reply = await createSandbox().send(sent);
  if (!reply.ok) return void response.destroy();
  response.writeHead(reply.status, { "content-type": String(reply.headers["content-type"]) });
  for (let piece = await reply.body.read(); piece !== null; piece = await reply.body.read()) response.write(piece);
  response.end();
}

/** Every provider at the loopback address, in the format that the sandbox speaks. */
function loopbackRegistry(edge: Edge, port: number): Registry {
  const { providers } = edge.services().catalog;
  const at = ({ id, timeouts }: Provider): Provider => ({
    ...providerKind("sandbox"),
    ...{ id, timeouts, transport: "network", baseUrl: `http://${LOOPBACK}:${port}`, apiKey: KEY, headers: {} },
  });
  return createRegistry(new Map([...providers].map(([id, provider]) => [id, at(provider)])));
}

/** The same edge without what lasts: money, records, metrics, health and memory of the process stay as they are. */
function unseen(edge: Edge, registry: Registry): Edge {
  const { now, settings } = edge;
  const metrics = silentMetrics();
  const memory = createSessionMemory(() => WARM_SESSION_MS, now);
  const services: Services = {
    ...edge.services(),
    registry,
    ledger: freeLedger(),
    sessions: createSessions({ memory, isOn: () => true, now, share: nothing }),
    speeds: createSpeeds(now),
    health: openHealth(settings, { current: edge.services, log: SILENT_LOG, metrics, worker: null, now: undefined }),
    billingModeOf: () => "prepaid",
    usageProblem: nothing,
    log: SILENT_LOG,
  };
  return {
    ...edge,
    services: () => services,
    keys: { ...edge.keys, verify: async () => ({ state: "ok", key: keyOf(now()), profile: null, teams: [] }) },
    limiter: createLocalLimits(),
    semaphores: {
      connections: createSemaphore(() => SLOTS),
      requests: createSemaphore(() => SLOTS),
      requestsPerKey: createSemaphore(() => SLOTS),
    },
    sampler: { draw: () => null, offer: nothing, idle: done, close: done },
    openCalls: createOpenCalls(),
    // Lines that wait would get the canned answers, free of charge.
    batches: { ...edge.batches, concurrency: 0 },
    records: { ...edge.records, recorder: silentRecorder() },
    metrics,
    pressure: { reason: () => null, close: nothing },
    traces: null,
    log: SILENT_LOG,
  };
}

const WARM_SESSION_MS = 60_000;
/** More than are open at once. */
const SLOTS = 64;

function nothing(): void {}

async function done(): Promise<void> {}

function keyOf(createdAtMs: number): KeyRecord {
  return {
    ...{ id: "warm-up", accountId: "warm-up", name: "warm-up", prefix: "", hash: "", profileId: null },
    ...{
      requires: null,
      requestsPerMinute: null,
      spendLimitNano: null,
      spendReset: "never",
      spendKeyId: "warm-up",
      expiresAtMs: null,
      revokedAtMs: null,
    },
    ...{ lastUsedAtMs: null, createdAtMs, teamId: null, memberId: null },
  };
}

/** Grants every hold and keeps nothing. */
function freeLedger(): Ledger {
  const never = async (): Promise<never> => {
    throw new Error("the warm-up has no accounts");
  };
  return {
    hold: async ({ amounts }) => ({ state: "held", amount: amounts[0] ?? 0n }),
    settle: async ({ charge }) => ({ state: "settled", paid: charge, absorbed: 0n }),
    release: async () => undefined,
    end: async () => undefined,
    move: never,
    balance: never,
    leased: () => 1n,
    start: async () => undefined,
    stop: async () => undefined,
  };
}

function silentRecorder(): Recorder {
  return { newId: String, add: nothing, flush: done, start: nothing, stop: done };
}

/** Counts requests in a registry that nobody reads, and ignores the rest. */
function silentMetrics(): Metrics {
  const registers = [new MetricRegistry()];
  const counting = requestMetrics((name, help) => ({ name, help, registers }), nothing);
  const ignoring: ProxyHandler<object> = { get: (_target, name) => Reflect.get(counting, name) ?? nothing };
  return new Proxy({}, ignoring) as Metrics;
}
