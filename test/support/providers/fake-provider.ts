// A provider that does what it is told: any status, delay, hang, cut or malformed event, for any model. It keeps every
// request it got, so that a test can look at both sides of the gateway.

import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo, Socket } from "node:net";

/** The parsed body with what the provider itself looks at; tests read the rest by name. */
export interface ReceivedBody {
  readonly model: string;
  readonly stream?: boolean;
  readonly stream_options?: { readonly include_usage?: boolean };
  readonly [field: string]: unknown;
}

export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly raw: string;
  readonly bytes: Buffer;
  readonly body: ReceivedBody;
  /** Resolves when the gateway has closed the connection or read everything. */
  readonly closed: Promise<{ readonly wasCut: boolean }>;
}

export interface Exchange {
  readonly request: ReceivedRequest;
  readonly response: ServerResponse;
  readonly socket: Socket;
}

/** What the provider does with a request. Helpers below make the usual ones. */
export type Behaviour = (exchange: Exchange) => void | Promise<void>;

export interface FakeProvider {
  readonly url: string;
  readonly requests: ReceivedRequest[];
  /** What to do for a model from now on; `*` for every other. */
  on(model: string, behaviour: Behaviour): void;
  /** What to do with the next requests for a model, one after the other, before the standing behaviour applies. */
  once(model: string, ...behaviours: Behaviour[]): void;
  /** Resolves with the next request that comes in. */
  nextRequest(): Promise<ReceivedRequest>;
  callsTo(model: string): number;
  reset(): void;
  close(): Promise<void>;
}

/** `otherwise` is what it does for models that no test has said anything about. */
export async function startFakeProvider(otherwise: Behaviour = answers("ok")): Promise<FakeProvider> {
  const standing = new Map<string, Behaviour>();
  const queued = new Map<string, Behaviour[]>();
  const requests: ReceivedRequest[] = [];
  const waiting: ((request: ReceivedRequest) => void)[] = [];

  const server = createServer(async (incoming, response) => {
    const request = await receive(incoming, response);
    if (request === null) return;
    requests.push(request);
    waiting.shift()?.(request);
    const model = modelOf(request);
    const behaviour = queued.get(model)?.shift() ?? standing.get(model) ?? standing.get("*") ?? otherwise;
    await behaviour({ request, response, socket: incoming.socket });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    on: (model, behaviour) => void standing.set(model, behaviour),
    once: (model, ...behaviours) => void queued.set(model, [...(queued.get(model) ?? []), ...behaviours]),
    nextRequest: () => new Promise((resolve) => waiting.push(resolve)),
    callsTo: (model) => requests.filter((request) => modelOf(request) === model).length,
    reset() {
      standing.clear();
      queued.clear();
      requests.length = 0;
    },
    close: () => closeServer(server),
  };
}

/** Named in the body, or in the path as Gemini and Bedrock have it. */
function modelOf({ body, path }: ReceivedRequest): string {
  const [, gemini, bedrock] = /\/models\/([^:?]+):|\/model\/([^/?]+)\//.exec(path) ?? [];
  return String(body?.model ?? gemini ?? decodeURIComponent(bedrock ?? "undefined"));
}

/** Null when the connection broke before the whole request was here. */
async function receive(incoming: IncomingMessage, response: ServerResponse): Promise<ReceivedRequest | null> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
  } catch {
    return null;
  }
  const bytes = Buffer.concat(chunks);
  const raw = bytes.toString("utf8");
  const closed = new Promise<{ wasCut: boolean }>((resolve) => {
    response.once("close", () => resolve({ wasCut: !response.writableFinished }));
  });
  const { method = "", url: path = "", headers } = incoming;
  return { method, path, headers, raw, bytes, body: parse(raw) as ReceivedBody, closed };
}

function parse(raw: string): unknown {
  try {
    return JSON.parse(raw);
  } catch {
    return null;
  }
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

export const USAGE = { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17 };

export function completion(text: string, model: string, extra: object = {}): object {
  return {
    id: "chatcmpl-fake",
    object: "chat.completion",
    created: 1_700_000_000,
    model,
    choices: [{ index: 0, message: { role: "assistant", content: text }, finish_reason: "stop" }],
    usage: USAGE,
    ...extra,
  };
}

/** A whole answer or a stream, as the request asks. */
export function answers(text: string, extra: object = {}): Behaviour {
  return (exchange) => {
    const { body } = exchange.request;
    if (body?.stream === true) return streams(textChunks(text, body.model), { usage: USAGE })(exchange);
    return sends(200, completion(text, body.model, extra))(exchange);
  };
}

export function sends(status: number, body: object | string, headers: Record<string, string> = {}): Behaviour {
  return ({ response }) => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  };
}

export function fails(status: number, error: object = {}, headers: Record<string, string> = {}): Behaviour {
  return sends(status, { error: { message: `scripted ${status}`, type: "server_error", ...error } }, headers);
}

/** Accepts and never answers. */
export const hangs: Behaviour = () => undefined;

/** Closes the connection without a word. */
export const cuts: Behaviour = ({ socket }) => void socket.destroy();

/** Bytes on the socket, whatever they are, and then the end of the connection unless it is to stay open. */
export function sendsRaw(bytes: string | Buffer, staysOpen = false): Behaviour {
  return ({ socket }) => void (staysOpen ? socket.write(bytes) : socket.end(bytes));
}

/** Headers and part of a body, then a cut. */
export const cutsBody: Behaviour = ({ response, socket }) => {
  response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
  response.write('{"id":"x","choices":[');
  setImmediate(() => socket.destroy());
};

export function delays(ms: number, then: Behaviour): Behaviour {
  return (exchange) => new Promise((resolve) => setTimeout(() => resolve(then(exchange)), ms));
}

export type Chunk = object | string;

export function chunk(model: string, delta: object, finish: string | null = null): object {
  return {
    id: "chatcmpl-fake",
    object: "chat.completion.chunk",
    created: 1_700_000_000,
    model,
    choices: [{ index: 0, delta, finish_reason: finish }],
  };
}

export function textChunks(text: string, model: string): Chunk[] {
  const words = text.match(/\s*\S+/g) ?? [text];
  return [
    chunk(model, { role: "assistant", content: "" }),
    ...words.map((word) => chunk(model, { content: word })),
    chunk(model, {}, "stop"),
  ];
}

export interface StreamScript {
  readonly usage?: object | null;
  /** How it ends: with [DONE], with a clean end of the body, by a cut, or not at all. */
  readonly ending?: "done" | "end" | "cut" | "hang";
  /** Called before each chunk; await in it to pace the stream. */
  readonly before?: (index: number) => Promise<void> | void;
}

/** Sends the chunks (objects as data events, strings as raw bytes). */
export function streams(chunks: readonly Chunk[], script: StreamScript = {}): Behaviour {
  return async ({ request, response, socket }) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.flushHeaders();
    for (const [index, next] of chunks.entries()) {
      await script.before?.(index);
      if (response.destroyed) return;
      response.write(typeof next === "string" ? next : event(next));
    }
    if (script.usage && request.body?.stream_options?.include_usage === true) {
      response.write(event({ ...chunk(request.body.model, {}), choices: [], usage: script.usage }));
    }
    const ending = script.ending ?? "done";
    if (ending === "done") response.write("data: [DONE]\n\n");
    if (ending === "cut") setImmediate(() => socket.destroy());
    else if (ending !== "hang") response.end();
  };
}

export function event(json: object): string {
  return `data: ${JSON.stringify(json)}\n\n`;
}
