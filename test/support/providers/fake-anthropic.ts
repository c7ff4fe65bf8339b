// The fake provider speaking the Messages format: whole messages and exact event streams of the same blocks, with
// thinking, tool use and cache counts, and errors in Anthropic's shape.

import { type Behaviour, type FakeProvider, sends, startFakeProvider } from "./fake-provider.ts";

export interface FakeBlock {
  readonly type: string;
  readonly [field: string]: unknown;
}

export type FakeEvent = FakeBlock;

export interface MessageScript {
  readonly stopReason?: string;
  readonly usage?: object | null;
  /** Further fields of the message. */
  readonly extra?: object;
  /** How a stream ends: well, by a clean end of the body without `message_stop`, by a cut, or not at all. */
  readonly ending?: "stop" | "end" | "cut" | "hang";
  /** Called before each event; await in it to pace the stream. */
  readonly before?: (index: number) => Promise<void> | void;
}

/** Its `url` is what goes into `baseUrl`, without `/v1`. */
export async function startFakeAnthropic(): Promise<FakeProvider> {
  const provider = await startFakeProvider(says("ok"));
  return { ...provider, url: new URL(provider.url).origin };
}

const MESSAGE_USAGE = { input_tokens: 12, output_tokens: 5 };

export function text(words: string): FakeBlock {
  return { type: "text", text: words };
}

export function thinking(thought: string, signature: string): FakeBlock {
  return { type: "thinking", thinking: thought, signature };
}

export function toolUse(id: string, name: string, input: object): FakeBlock {
  return { type: "tool_use", id, name, input };
}

/** A text as a whole message or a stream, as the request asks. */
export function says(words: string, script: MessageScript = {}): Behaviour {
  return saysBlocks([text(words)], script);
}

export function saysBlocks(blocks: readonly FakeBlock[], script: MessageScript = {}): Behaviour {
  return (exchange) => {
    const { model, stream } = exchange.request.body;
    if (stream !== true) return sends(200, message(blocks, model, script))(exchange);
    const events = eventsOf(blocks, model, script);
    return streamsEvents(script.ending === "end" ? events.slice(0, -1) : events, script)(exchange);
  };
}

function message(blocks: readonly FakeBlock[], model: string, script: MessageScript = {}): object {
  return {
    id: "msg_fake",
    type: "message",
    role: "assistant",
    model,
    content: blocks,
    stop_reason: script.stopReason ?? stopReasonOf(blocks),
    stop_sequence: null,
    ...(script.usage === null ? {} : { usage: script.usage ?? MESSAGE_USAGE }),
    ...script.extra,
  };
}

function stopReasonOf(blocks: readonly FakeBlock[]): string {
  return blocks.some(({ type }) => type === "tool_use") ? "tool_use" : "end_turn";
}

export function eventsOf(blocks: readonly FakeBlock[], model: string, script: MessageScript = {}): FakeEvent[] {
  const { output_tokens: output = 1, ...input } = (script.usage ?? MESSAGE_USAGE) as Record<string, unknown>;
  const started = {
    ...(message([], model, script) as object),
    stop_reason: null,
    usage: { ...input, output_tokens: 1 },
  };
  const reason = script.stopReason ?? stopReasonOf(blocks);
  return [
    { type: "message_start", message: started },
    { type: "ping" },
    ...blocks.flatMap(blockEvents),
    {
      type: "message_delta",
      delta: { stop_reason: reason, stop_sequence: null },
      usage: { ...input, output_tokens: output },
    },
    { type: "message_stop" },
  ];
}

function blockEvents(block: FakeBlock, index: number): FakeEvent[] {
  const { start, deltas } = taken(block);
  return [
    { type: "content_block_start", index, content_block: start },
    ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
    { type: "content_block_stop", index },
  ];
}

function taken(block: FakeBlock): { start: FakeBlock; deltas: readonly object[] } {
  if (block.type === "text") {
    const words = String(block.text).match(/\s*\S+/g) ?? [String(block.text)];
    return { start: { ...block, text: "" }, deltas: words.map((word) => ({ type: "text_delta", text: word })) };
  }
  if (block.type === "thinking") {
    return {
      start: { ...block, thinking: "", signature: "" },
      deltas: [
        { type: "thinking_delta", thinking: block.thinking },
        { type: "signature_delta", signature: block.signature },
      ],
    };
  }
  if (block.type !== "tool_use") return { start: block, deltas: [] };
  const json = JSON.stringify(block.input);
  const middle = Math.ceil(json.length / 2);
  const pieces = json === "{}" ? [""] : ["", json.slice(0, middle), json.slice(middle)];
  return {
    start: { ...block, input: {} },
    deltas: pieces.map((piece) => ({ type: "input_json_delta", partial_json: piece })),
  };
}

/** Sends events (objects by their type, strings as raw bytes). */
export function streamsEvents(events: readonly (FakeEvent | string)[], script: MessageScript = {}): Behaviour {
  return async ({ response, socket }) => {
    response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "request-id": "req_provider" });
    response.flushHeaders();
    for (const [index, next] of events.entries()) {
      await script.before?.(index);
      if (response.destroyed) return;
      response.write(typeof next === "string" ? next : writeEvent(next));
    }
    if (script.ending === "cut") setImmediate(() => socket.destroy());
    else if (script.ending !== "hang") response.end();
  };
}

function writeEvent(event: FakeEvent): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

const ERROR_TYPES: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  529: "overloaded_error",
};

export function failsNatively(status: number, words = `scripted ${status}`, headers = {}): Behaviour {
  const error = { type: ERROR_TYPES[status] ?? "api_error", message: words };
  return sends(status, { type: "error", error, request_id: "req_provider" }, headers);
}
