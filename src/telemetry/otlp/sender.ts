// The way of one signal to its collector by OTLP over HTTP. OpenTelemetry's own parts write, send and retry. They are
// 0.4 MB of code, so this folder is loaded only where an endpoint is configured.

import { type ClientRequest, Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import type { Socket } from "node:net";
import { hostname } from "node:os";
import { createOtlpHttpExportDelegate } from "@opentelemetry/otlp-exporter-base/node-http";
import type { IExporterMetricsHelper, ISerializer } from "@opentelemetry/otlp-transformer";
import type { OtlpTarget } from "../../config/options/telemetry.ts";

export interface OtlpSender<Items> {
  /** Rejects when the collector did not take them. */
  send(items: Items): Promise<void>;
  /** Ends connections, so that a silent collector does not keep the process alive. */
  close(): void;
}

/** The bytes of a signal, in both protocols. */
export interface SignalCodec<Items> {
  readonly json: ISerializer<Items, unknown>;
  readonly protobuf: ISerializer<Items, unknown>;
  readonly counts: IExporterMetricsHelper<Items>;
}

/** The queue sends one batch after the other. */
const CONCURRENCY_MAX = 4;
const CONTENT_TYPES = { "http/json": "application/json", "http/protobuf": "application/x-protobuf" } as const;

export function openSender<Items>(target: OtlpTarget, codec: SignalCodec<Items>): OtlpSender<Items> {
  const { url, protocol, timeoutMs: timeoutMillis, compression } = target;
  const agent = quietAgent(new URL(url).protocol);
  const headers = { ...target.headers, "Content-Type": CONTENT_TYPES[protocol] };
  const delegate = createOtlpHttpExportDelegate<Items, unknown>(
    {
      ...{ url, timeoutMillis, compression, concurrencyLimit: CONCURRENCY_MAX },
      headers: async () => headers,
      agentFactory: () => agent,
    },
    protocol === "http/json" ? codec.json : codec.protobuf,
    "switchyard",
    codec.counts,
    undefined,
  );
  return {
    send: (items) =>
      new Promise((resolve, reject) => {
        delegate.export(items, ({ code, error }) => (code === 0 ? resolve() : reject(error)));
      }),
    close: () => agent.close(),
  };
}

/** Resource and scope of every export: the process that it comes from. One object, because batches are grouped by it. */
export function originOf({ resource }: OtlpTarget, version: string): Origin {
  // Workers count for themselves, so each needs a name of its own.
  const instance = `${hostname()}:${process.pid}`;
  const attributes = { "service.version": version, "service.instance.id": instance, ...resource };
  return {
    resource: { attributes } as unknown as Origin["resource"],
    scope: { name: "switchyard", version },
  };
}

/** The type of the library has more, which the serializers do not read. */
export interface Origin {
  readonly resource: ResourceOf;
  readonly scope: { readonly name: string; readonly version: string };
}

type ResourceOf = import("@opentelemetry/sdk-metrics").ResourceMetrics["resource"];

/** An agent whose sockets do not keep the process alive, and that opens no more of them once it is closed. */
function quietAgent(protocol: string): HttpAgent & { close(): void } {
  const Agent = protocol === "https:" ? HttpsAgent : HttpAgent;
  let isClosed = false;
  return new (class extends Agent {
    override createConnection(
      ...given: Parameters<HttpAgent["createConnection"]>
    ): ReturnType<HttpAgent["createConnection"]> {
      // The exporter retries after a connection is cut.
      if (isClosed) throw new Error("the exporter is closed");
      const socket = super.createConnection(...given);
      (socket as Socket | undefined)?.unref();
      return socket;
    }

    override reuseSocket(socket: Socket, request: ClientRequest): void {
      super.reuseSocket(socket, request);
      socket.unref();
    }

    close(): void {
      isClosed = true;
      this.destroy();
    }
  })({ keepAlive: true });
}

/** A time of day as OpenTelemetry has it: seconds and nanoseconds. */
export function hrTime(ms: number): [seconds: number, nanoseconds: number] {
  const seconds = Math.floor(ms / 1000);
  return [seconds, Math.round((ms - seconds * 1000) * 1e6)];
}
