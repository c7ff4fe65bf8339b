// The fake provider speaking the Gemini format: whole responses and event streams of the same parts, with thoughts,
// signatures, calls and counts, and errors in Google's shape.

import { type Behaviour, event, type FakeProvider, sends, startFakeProvider } from "./fake-provider.ts";

export type FakePart = Readonly<Record<string, unknown>>;

export interface GeminiScript {
  readonly finishReason?: string | null;
  readonly usage?: object | null;
  /** Null for a response without an id. */
  readonly responseId?: string | null;
  /** Further fields of the response. */
  readonly extra?: object;
  /** Further fields of the candidate. */
  readonly candidate?: object;
  /** How a stream ends: well, by a clean end without a finish reason, by a cut, or not at all. */
  readonly ending?: "end" | "unfinished" | "cut" | "hang";
  /** Called before each chunk; await in it to pace the stream. */
  readonly before?: (index: number) => Promise<void> | void;
}

/** Its `url` is what goes into `baseUrl`. */
export async function startFakeGemini(): Promise<FakeProvider> {
  const provider = await startFakeProvider(says("ok"));
  return { ...provider, url: `${new URL(provider.url).origin}/v1beta` };
}

const GEMINI_USAGE = { promptTokenCount: 12, candidatesTokenCount: 5, totalTokenCount: 17 };

export function text(words: string, signature?: string): FakePart {
  return { text: words, ...(signature === undefined ? {} : { thoughtSignature: signature }) };
}

export function thought(words: string): FakePart {
  return { text: words, thought: true };
}

export function functionCall(name: string, args: object, extra: { id?: string; signature?: string } = {}): FakePart {
  const { id, signature } = extra;
  return {
    functionCall: { ...(id === undefined ? {} : { id }), name, args },
    ...(signature === undefined ? {} : { thoughtSignature: signature }),
  };
}

/** A text as a whole response or a stream, as the path asks. */
export function says(words: string, script: GeminiScript = {}): Behaviour {
  return saysParts([text(words)], script);
}

export function saysParts(parts: readonly FakePart[], script: GeminiScript = {}): Behaviour {
  return (exchange) => {
    const { path } = exchange.request;
    if (!path.includes(":streamGenerateContent")) return sends(200, generated(parts, script))(exchange);
    if (!path.includes("alt=sse")) return sends(400, { error: { code: 400, message: "no alt=sse" } })(exchange);
    return streamsChunks(chunksOf(parts, script), script)(exchange);
  };
}

/** A whole response, or one chunk of a stream. */
export function generated(parts: readonly FakePart[], script: GeminiScript = {}): object {
  const { finishReason = "STOP", responseId = "resp-fake", usage = GEMINI_USAGE } = script;
  const content = parts.length === 0 ? {} : { content: { role: "model", parts } };
  const finish = finishReason === null ? {} : { finishReason };
  return {
    candidates: [{ ...content, ...finish, index: 0, ...script.candidate }],
    ...(usage === null ? {} : { usageMetadata: usage }),
    modelVersion: "gemini-fake-001",
    ...(responseId === null ? {} : { responseId }),
    ...script.extra,
  };
}

/** Text word by word, every other part whole; the counts so far in each chunk, the finish in the last. */
export function chunksOf(parts: readonly FakePart[], script: GeminiScript = {}): object[] {
  const pieces = parts.flatMap(cut);
  const { finishReason, extra: _, candidate: __, usage, ...rest } = script;
  const counting = usage === undefined ? { promptTokenCount: 12, totalTokenCount: 12 } : usage;
  return pieces.map((piece, index) => {
    const isLast = index === pieces.length - 1;
    if (isLast && script.ending !== "unfinished") return generated([piece], script);
    return generated([piece], { ...rest, finishReason: null, usage: counting });
  });
}

function cut(part: FakePart): readonly FakePart[] {
  if (typeof part.text !== "string" || part.text === "") return [part];
  const { thoughtSignature: signature, ...rest } = part;
  const words = part.text.match(/\s*\S+(?:\s+$)?/g) ?? [part.text];
  const pieces = words.map((word) => ({ ...rest, text: word }));
  // As Google does: the signature of a text comes in a part of its own after it.
  return signature === undefined ? pieces : [...pieces, { text: "", thoughtSignature: signature }];
}

/** Sends chunks (objects as events, strings as raw bytes). */
export function streamsChunks(chunks: readonly (object | string)[], script: GeminiScript = {}): Behaviour {
  return async ({ response, socket }) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.flushHeaders();
    for (const [index, next] of chunks.entries()) {
      await script.before?.(index);
      if (response.destroyed) return;
      response.write(typeof next === "string" ? next : event(next).replaceAll("\n", "\r\n"));
    }
    if (script.ending === "cut") setImmediate(() => socket.destroy());
    else if (script.ending !== "hang") response.end();
  };
}

const STATUSES: Readonly<Record<number, string>> = {
  400: "INVALID_ARGUMENT",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  429: "RESOURCE_EXHAUSTED",
  500: "INTERNAL",
  503: "UNAVAILABLE",
};

export interface GoogleError {
  readonly words?: string;
  /** The reason of an ErrorInfo, such as API_KEY_INVALID. */
  readonly reason?: string;
  /** Of a RetryInfo, such as 22s. */
  readonly retryDelay?: string;
}

export function googleError(status: number, { words, reason, retryDelay }: GoogleError = {}): object {
  const details = [
    ...(reason === undefined
      ? []
      : [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason, domain: "googleapis.com" }]),
    ...(retryDelay === undefined ? [] : [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay }]),
  ];
  const message = words ?? `scripted ${status}`;
  return { error: { code: status, message, status: STATUSES[status] ?? "UNKNOWN", details } };
}

export function failsNatively(status: number, error: GoogleError = {}): Behaviour {
  return sends(status, googleError(status, error));
}
