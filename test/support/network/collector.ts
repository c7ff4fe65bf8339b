// A collector of traces on loopback: takes OTLP over HTTP as JSON, keeps every span, and can be told to misbehave.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gunzipSync } from "node:zlib";
import { vi } from "vitest";

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

interface Post {
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
}

export interface Collector {
  readonly url: string;
  readonly posts: readonly Post[];
  /** Every span that came as JSON. */
  spans(): readonly CollectedSpan[];
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
  const spans = (): readonly CollectedSpan[] =>
    posts
      .filter(({ headers }) => headers["content-type"] === "application/json")
      .flatMap(({ body }) => readSpans(body));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    posts,
    spans,
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

interface Body {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Pair[] };
    readonly scopeSpans: readonly {
      readonly spans: readonly (Omit<CollectedSpan, "attributes"> & { readonly attributes: readonly Pair[] })[];
    }[];
  }[];
}

function readSpans(body: Buffer): readonly CollectedSpan[] {
  const { resourceSpans } = JSON.parse(body.toString("utf8")) as Body;
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({
        ...span,
        attributes: readPairs(span.attributes),
        resource: readPairs(resource.attributes),
      })),
    ),
  );
}

function readPairs(pairs: readonly Pair[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(pairs.map(({ key, value }) => [key, readValue(value)]));
}

function readValue(value: Value): unknown {
  if (value.arrayValue !== undefined) return value.arrayValue.values.map(readValue);
  if (value.intValue !== undefined) return Number(value.intValue);
  return value.stringValue ?? value.doubleValue ?? value.boolValue;
}
