// A collector on loopback: takes OTLP over HTTP in both protocols, keeps everything, and can be told to misbehave.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gunzipSync } from "node:zlib";
import { vi } from "vitest";
import { readOtlpProtobuf } from "./otlp-protobuf.ts";

export interface CollectedSpan {
  readonly name: string;
  /** 1 internal, 2 server, 3 client. */
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status: { readonly code?: number };
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly resource: Readonly<Record<string, unknown>>;
}

interface CollectedPoint {
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly startTimeUnixNano: string;
  readonly timeUnixNano: string;
  readonly asDouble?: number;
  readonly count?: number | string;
  readonly sum?: number;
  readonly bucketCounts?: readonly (number | string)[];
  readonly explicitBounds?: readonly number[];
}

interface CollectedMetric {
  readonly name: string;
  readonly unit?: string;
  readonly kind: "gauge" | "sum" | "histogram";
  readonly isMonotonic?: boolean;
  readonly aggregationTemporality?: number;
  readonly points: readonly CollectedPoint[];
  readonly resource: Readonly<Record<string, unknown>>;
}

interface CollectedLine {
  readonly severityText: string;
  readonly severityNumber: number;
  readonly eventName?: string;
  readonly traceId?: string;
  readonly spanId?: string;
  readonly body: unknown;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly resource: Readonly<Record<string, unknown>>;
}

interface Post {
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
}

export interface Collector {
  readonly url: string;
  readonly posts: readonly Post[];
  spans(): readonly CollectedSpan[];
  /** The metrics of the newest post that had any. */
  metrics(): readonly CollectedMetric[];
  lines(): readonly CollectedLine[];
  /** The spans of one trace, as soon as there are so many. */
  trace(traceId: string, count: number): Promise<readonly CollectedSpan[]>;
  /** What it does with posts from now on. */
  behave(answer: (response: ServerResponse) => void): void;
  close(): Promise<void>;
}

export const takes = (response: ServerResponse): void => void response.writeHead(200, JSON_TYPE).end("{}");
/** Never answers. */
export const staysSilent = (): void => undefined;
export const refuses = (response: ServerResponse): void => void response.writeHead(400, JSON_TYPE).end("{}");

const JSON_TYPE = { "content-type": "application/json" };

export async function startCollector(): Promise<Collector> {
  const posts: Post[] = [];
  let answer = takes;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const isPacked = request.headers["content-encoding"] === "gzip";
    posts.push({ path: request.url ?? "", headers: request.headers, body: isPacked ? gunzipSync(body) : body });
    answer(response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const bodies = (signal: string): readonly unknown[] =>
    posts.filter(({ path }) => path.endsWith(signal)).map((post) => bodyOf(post, signal));
  const spans = (): readonly CollectedSpan[] => bodies("traces").flatMap((body) => readSpans(body as SpanBody));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    posts,
    spans,
    metrics: () => readMetrics((bodies("metrics").at(-1) ?? { resourceMetrics: [] }) as MetricBody),
    lines: () => bodies("logs").flatMap((body) => readLines(body as LogBody)),
    trace: (traceId, count) =>
      vi.waitFor(
        () => {
          const found = spans().filter((span) => span.traceId === traceId);
          if (found.length < count) throw new Error(`${found.length} of ${count} spans of ${traceId}`);
          return found;
        },
        { timeout: 60_000 },
      ),
    behave(behaviour) {
      answer = behaviour;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface Value {
  readonly stringValue?: string;
  readonly intValue?: number | string;
  readonly doubleValue?: number;
  readonly boolValue?: boolean;
  readonly arrayValue?: { readonly values: readonly Value[] };
}

interface Pair {
  readonly key: string;
  readonly value: Value;
}

interface Resource {
  readonly resource: { readonly attributes: readonly Pair[] };
}

type Written<Item> = Omit<Item, "attributes" | "resource"> & { readonly attributes: readonly Pair[] };

interface SpanBody {
  readonly resourceSpans: readonly (Resource & {
    readonly scopeSpans: readonly { readonly spans: readonly Written<CollectedSpan>[] }[];
  })[];
}

interface MetricBody {
  readonly resourceMetrics: readonly (Resource & {
    readonly scopeMetrics: readonly { readonly metrics: readonly WrittenMetric[] }[];
  })[];
}

type WrittenMetric = Pick<CollectedMetric, "name" | "unit"> & {
  readonly [Kind in CollectedMetric["kind"]]?: Pick<CollectedMetric, "isMonotonic" | "aggregationTemporality"> & {
    readonly dataPoints: readonly Written<CollectedPoint>[];
  };
};

interface LogBody {
  readonly resourceLogs: readonly (Resource & {
    readonly scopeLogs: readonly { readonly logRecords: readonly Written<CollectedLine>[] }[];
  })[];
}

function bodyOf({ headers, body }: Post, signal: string): unknown {
  if (headers["content-type"] === "application/json") return JSON.parse(body.toString("utf8"));
  return readOtlpProtobuf(signal, body);
}

function readSpans({ resourceSpans }: SpanBody): readonly CollectedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) => spans.map((span) => withPairs(span, resource))),
  );
}

const KINDS = ["gauge", "sum", "histogram"] as const;

function readMetrics({ resourceMetrics }: MetricBody): readonly CollectedMetric[] {
  return resourceMetrics.flatMap(({ resource, scopeMetrics }) =>
    scopeMetrics.flatMap(({ metrics }) =>
      metrics.map((metric) => {
        const kind = KINDS.find((each) => metric[each] !== undefined) ?? "gauge";
        const { dataPoints = [], ...others } = metric[kind] ?? {};
        const points = dataPoints.map((point) => ({ ...point, attributes: readPairs(point.attributes ?? []) }));
        return {
          name: metric.name,
          ...(metric.unit !== undefined && { unit: metric.unit }),
          kind,
          ...others,
          points,
          resource: readPairs(resource.attributes),
        };
      }),
    ),
  );
}

function readLines({ resourceLogs }: LogBody): readonly CollectedLine[] {
  return resourceLogs.flatMap(({ resource, scopeLogs }) =>
    scopeLogs.flatMap(({ logRecords }) =>
      logRecords.map((line) => ({ ...withPairs(line, resource), body: readValue(line.body as Value) })),
    ),
  );
}

function withPairs<Item extends { readonly attributes: readonly Pair[] }>(item: Item, resource: Resource["resource"]) {
  return { ...item, attributes: readPairs(item.attributes), resource: readPairs(resource.attributes) };
}

function readPairs(pairs: readonly Pair[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(pairs.map(({ key, value }) => [key, readValue(value)]));
}

function readValue(value: Value): unknown {
  if (value.arrayValue !== undefined) return value.arrayValue.values.map(readValue);
  if (value.intValue !== undefined) return Number(value.intValue);
  return value.stringValue ?? value.doubleValue ?? value.boolValue;
}
