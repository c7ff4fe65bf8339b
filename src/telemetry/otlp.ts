// OTLP over HTTP: which traces are kept, and how their spans get to the collector. Written here because OpenTelemetry's
// exporters weigh 25 MB, and all of it is this file and otlp-message.ts. Loaded when an endpoint is configured.

import { type ClientRequest, Agent as HttpAgent, request as httpRequest } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import type { Socket } from "node:net";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { Tracing } from "../config/options/traces.ts";
import { exportRequest, type OutgoingSpan, type SpanOrigin, toProtobuf } from "./otlp-message.ts";
import type { CallerContext } from "./trace-context.ts";

export interface Otlp {
  isSampled(traceId: string, caller: CallerContext | null): boolean;
  /** Rejects when the collector did not take them. */
  send(spans: readonly OutgoingSpan[]): Promise<void>;
  /** What is still under way may be lost: it holds up neither the caller nor the end of the process. */
  close(): void;
}

export function openOtlp(tracing: Tracing, version: string): Otlp {
  const origin: SpanOrigin = { resource: { "service.version": version, ...tracing.resource }, version };
  const post = createPost(tracing);
  return {
    isSampled: (traceId, caller) => isSampled(tracing, traceId, caller),
    send: async (spans) => post.send(await writeBody(spans, origin, tracing)),
    close: post.close,
  };
}

/** OpenTelemetry's samplers by their names: `parentbased_` follows the caller where there is one. */
function isSampled({ sampler, samplerRatio }: Tracing, traceId: string, caller: CallerContext | null): boolean {
  if (caller !== null && sampler.startsWith("parentbased_")) return caller.isSampled;
  return sampler.endsWith("traceidratio") ? isInRatio(traceId, samplerRatio) : sampler.endsWith("always_on");
}

const WORD_MAX = 0xffffffff;

/** As OpenTelemetry's SDK for JavaScript does it, so that services with the same ratio keep the same traces. */
function isInRatio(traceId: string, ratio: number): boolean {
  const words = traceId.match(/.{8}/g) ?? [];
  const folded = words.reduce((sum, word) => (sum ^ Number.parseInt(word, 16)) >>> 0, 0);
  return folded < Math.floor(ratio * WORD_MAX);
}

const gzipped = promisify(gzip);

async function writeBody(
  spans: readonly OutgoingSpan[],
  origin: SpanOrigin,
  { protocol, compression }: Tracing,
): Promise<Buffer> {
  const request = exportRequest(spans, origin);
  const body = protocol === "http/json" ? Buffer.from(JSON.stringify(request)) : toProtobuf(request);
  return compression === "gzip" ? gzipped(body) : body;
}

/** Statuses that the specification asks to try again. */
const RETRIED: ReadonlySet<number> = new Set([429, 502, 503, 504]);
const PAUSE_MS = 1_000;

function createPost(tracing: Tracing): { send(body: Buffer): Promise<void>; close(): void } {
  const { url, timeoutMs } = tracing;
  const agent = quietAgent(new URL(url).protocol);
  let isClosed = false;
  return {
    async send(body) {
      // Joined with a signal that lives as long as the process, each one would leave a trace of itself in Node 20.
      const signal = AbortSignal.timeout(timeoutMs);
      const lateAtMs = performance.now() + timeoutMs;
      for (;;) {
        if (isClosed) throw new Error("the exporter is closed");
        const status = await postOnce(tracing, { agent, body, signal });
        if (status >= 200 && status < 300) return;
        if (!RETRIED.has(status) || performance.now() + PAUSE_MS >= lateAtMs) {
          throw new Error(`the collector answered ${status}`);
        }
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS).unref());
      }
    },
    close() {
      isClosed = true;
      // Ends what is under way, too.
      agent.destroy();
    },
  };
}

interface Parcel {
  readonly agent: HttpAgent;
  readonly body: Buffer;
  readonly signal: AbortSignal;
}

/** Resolves to the status. */
function postOnce({ url, headers, protocol, compression }: Tracing, { agent, body, signal }: Parcel): Promise<number> {
  const type = protocol === "http/json" ? "application/json" : "application/x-protobuf";
  const encoding = compression === "gzip" ? { "content-encoding": "gzip" } : {};
  const request = url.startsWith("https:") ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const options = {
      method: "POST",
      agent,
      signal,
      headers: { ...headers, "content-type": type, "content-length": body.length, ...encoding },
    };
    request(url, options, (response) => {
      response.resume();
      response.once("error", reject).once("end", () => resolve(response.statusCode ?? 0));
    })
      .once("error", reject)
      .end(body);
  });
}

/** A process that has nothing left but a collector that does not answer is done. */
function quietAgent(protocol: string): HttpAgent {
  const Agent = protocol === "https:" ? HttpsAgent : HttpAgent;
  return new (class extends Agent {
    override createConnection(
      ...given: Parameters<HttpAgent["createConnection"]>
    ): ReturnType<HttpAgent["createConnection"]> {
      const socket = super.createConnection(...given);
      (socket as Socket | undefined)?.unref();
      return socket;
    }

    override reuseSocket(socket: Socket, request: ClientRequest): void {
      super.reuseSocket(socket, request);
      socket.unref();
    }
  })({ keepAlive: true });
}
