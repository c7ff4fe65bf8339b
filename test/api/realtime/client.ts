// The official client of realtime sessions, with every event in its order.

import { connect } from "node:net";
import OpenAI from "openai";
import { OpenAIRealtimeWS } from "openai/realtime/ws";
import type { ClientOptions } from "ws";
import type { Json } from "../../support/providers/streams.ts";

export interface RealtimeClient {
  readonly official: OpenAIRealtimeWS;
  readonly events: readonly Json[];
  /** Headers of the answer to the handshake. */
  readonly headers: Readonly<Record<string, unknown>>;
  /** Resolves with the next event of this type that has not been asked for. */
  next(type: string): Promise<Json>;
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
}

interface Asked {
  readonly url: string;
  readonly key: string;
  readonly model: string;
}

/** Rejects with the status and the error of a refusal. The official client insists on TLS, which loopback has not. */
export function openSession({ url, key, model }: Asked, options: ClientOptions = {}): Promise<RealtimeClient> {
  const official = new OpenAIRealtimeWS(
    {
      model,
      options: { ...options, createConnection: () => connect(Number(new URL(url).port), "127.0.0.1") } as never,
    },
    new OpenAI({ apiKey: key, baseURL: `${url}/v1` }),
  );
  const events: Json[] = [];
  const waiting: { readonly type: string; readonly resolve: (event: Json) => void }[] = [];
  const asked = new Set<Json>();
  official.on("error", () => undefined);
  official.on("event", (event) => {
    const known = event as unknown as Json;
    events.push(known);
    const place = waiting.findIndex(({ type }) => type === known.type);
    if (place < 0) return;
    asked.add(known);
    waiting.splice(place, 1)[0]?.resolve(known);
  });
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    official.socket.once("close", (code, reason) => resolve({ code, reason: String(reason) }));
  });
  return new Promise((resolve, reject) => {
    official.socket.once("unexpected-response", (_request, response) => {
      let body = "";
      response.on("data", (piece) => {
        body += String(piece);
      });
      response.on("end", () => reject({ status: response.statusCode, body: JSON.parse(body) as Json }));
    });
    official.socket.once("upgrade", ({ headers }) => {
      const next = (type: string): Promise<Json> => {
        const here = events.find((event) => event.type === type && !asked.has(event));
        if (here !== undefined) {
          asked.add(here);
          return Promise.resolve(here);
        }
        return new Promise((told) => void waiting.push({ type, resolve: told }));
      };
      resolve({ official, events, headers, next, closed });
    });
  });
}
