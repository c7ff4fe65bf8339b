// The fake provider speaking the Responses format: whole responses and exact event streams of the same items, with
// reasoning, tool calls and token counts, and errors in OpenAI's shape.

import { type Behaviour, type FakeProvider, sends, startFakeProvider } from "./fake-provider.ts";

interface FakeFields {
  readonly [field: string]: unknown;
}

export interface FakeItem extends FakeFields {
  readonly type: string;
}

export type ResponsesEvent = FakeItem;

export interface ResponseScript {
  readonly usage?: object | null;
  /** Why it is incomplete; complete where left out. */
  readonly incomplete?: "max_output_tokens" | "content_filter";
  /** Further fields of the response. */
  readonly extra?: object;
  /** How a stream ends: well, by a clean end of the body without its last event, by a cut, or not at all. */
  readonly ending?: "completed" | "end" | "cut" | "hang";
  /** Called before each event; await in it to pace the stream. */
  readonly before?: (index: number) => Promise<void> | void;
}

const RESPONSES_USAGE = {
  input_tokens: 12,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 5,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 17,
};

/** Its `url` is what goes into `baseUrl`. */
export function startFakeResponses(): Promise<FakeProvider> {
  return startFakeProvider(responds("ok"));
}

export function message(words: string, id = "msg_fake"): FakeItem {
  const content = [{ type: "output_text", text: words, annotations: [], logprobs: [] }];
  return { type: "message", id, status: "completed", role: "assistant", content };
}

export function refusal(words: string, id = "msg_fake"): FakeItem {
  return {
    type: "message",
    id,
    status: "completed",
    role: "assistant",
    content: [{ type: "refusal", refusal: words }],
  };
}

export function reasoning(summaries: readonly string[], sealed?: string, id = "rs_fake"): FakeItem {
  const summary = summaries.map((text) => ({ type: "summary_text", text }));
  return { type: "reasoning", id, summary, ...(sealed === undefined ? {} : { encrypted_content: sealed }) };
}

export function functionCall(callId: string, name: string, input: object): FakeItem {
  const id = `fc_${callId}`;
  return { type: "function_call", id, status: "completed", call_id: callId, name, arguments: JSON.stringify(input) };
}

export function customCall(callId: string, name: string, input: string): FakeItem {
  return { type: "custom_tool_call", id: `ctc_${callId}`, status: "completed", call_id: callId, name, input };
}

/** A text as a whole response or a stream, as the request asks. */
export function responds(words: string, script: ResponseScript = {}): Behaviour {
  return respondsItems([message(words)], script);
}

export function respondsItems(items: readonly FakeItem[], script: ResponseScript = {}): Behaviour {
  return (exchange) => {
    const { model, stream } = exchange.request.body;
    if (stream !== true) return sends(200, response(items, model, script))(exchange);
    const events = responseEvents(items, model, script);
    return streamsResponse(script.ending === "end" ? events.slice(0, -1) : events, script)(exchange);
  };
}

export function response(items: readonly FakeItem[], model: string, script: ResponseScript = {}): FakeFields {
  const { incomplete, usage = RESPONSES_USAGE, extra } = script;
  return {
    ...head(model),
    status: incomplete === undefined ? "completed" : "incomplete",
    incomplete_details: incomplete === undefined ? null : { reason: incomplete },
    output: items,
    ...(usage === null ? {} : { usage }),
    ...extra,
  };
}

function head(model: string): object {
  return { id: "resp_fake", object: "response", created_at: 1_700_000_000, model, error: null, store: false };
}

/** Every event in the order in which the vendor sends them, numbered. */
export function responseEvents(
  items: readonly FakeItem[],
  model: string,
  script: ResponseScript = {},
): readonly ResponsesEvent[] {
  const begun = { ...head(model), status: "in_progress", output: [], usage: null };
  const last = script.incomplete === undefined ? "response.completed" : "response.incomplete";
  const whole = response(items, model, script);
  return [
    { type: "response.created", response: begun },
    { type: "response.in_progress", response: begun },
    ...items.flatMap(itemEvents),
    { type: last, response: whole },
  ].map((event, index) => ({ ...event, sequence_number: index }));
}

function itemEvents(item: FakeItem, index: number): readonly ResponsesEvent[] {
  const place = { output_index: index, item_id: item.id };
  const { start, inner } = taken(item);
  return [
    { type: "response.output_item.added", output_index: index, item: { ...start, status: "in_progress" } },
    ...inner.map((event) => ({ ...event, ...place })),
    { type: "response.output_item.done", output_index: index, item },
  ];
}

/** An item as it begins, and the events that fill it. */
function taken(item: FakeItem): { readonly start: FakeItem; readonly inner: readonly ResponsesEvent[] } {
  if (item.type === "message") {
    return { start: { ...item, content: [] }, inner: (item.content as readonly FakeItem[]).flatMap(partEvents) };
  }
  if (item.type === "reasoning") {
    const { encrypted_content: _, ...start } = item;
    return { start: { ...start, summary: [] }, inner: (item.summary as readonly FakeItem[]).flatMap(summaryEvents) };
  }
  if (item.type === "function_call") {
    const events = deltas("response.function_call_arguments", "arguments", String(item.arguments));
    return { start: { ...item, arguments: "" }, inner: events };
  }
  if (item.type === "custom_tool_call") {
    return {
      start: { ...item, input: "" },
      inner: deltas("response.custom_tool_call_input", "input", String(item.input)),
    };
  }
  return {
    start: item,
    inner: [{ type: `response.${item.type}.in_progress` }, { type: `response.${item.type}.completed` }],
  };
}

function partEvents(part: FakeItem, index: number): readonly ResponsesEvent[] {
  const name = part.type === "refusal" ? "refusal" : "text";
  const event = part.type === "refusal" ? "response.refusal" : "response.output_text";
  return [
    { type: "response.content_part.added", part: { ...part, [name]: "" } },
    ...deltas(event, name, String(part[name])),
    { type: "response.content_part.done", part },
  ].map((inner) => ({ ...inner, content_index: index }));
}

function summaryEvents(part: FakeItem, index: number): readonly ResponsesEvent[] {
  return [
    { type: "response.reasoning_summary_part.added", part: { ...part, text: "" } },
    ...deltas("response.reasoning_summary_text", "text", String(part.text)),
    { type: "response.reasoning_summary_part.done", part },
  ].map((inner) => ({ ...inner, summary_index: index }));
}

function deltas(event: string, name: string, whole: string): readonly ResponsesEvent[] {
  const pieces = whole.match(/[\s\S]{1,8}/g) ?? [];
  return [
    ...pieces.map((delta) => ({ type: `${event}.delta`, delta, ...(name === "text" ? { logprobs: [] } : {}) })),
    { type: `${event}.done`, [name]: whole },
  ];
}

/** Sends events (objects by their type, strings as raw bytes). */
export function streamsResponse(events: readonly (ResponsesEvent | string)[], script: ResponseScript = {}): Behaviour {
  return async ({ response: answer, socket }) => {
    answer.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "x-request-id": "req_provider" });
    answer.flushHeaders();
    for (const [index, next] of events.entries()) {
      await script.before?.(index);
      if (answer.destroyed) return;
      answer.write(typeof next === "string" ? next : writeEvent(next));
    }
    if (script.ending === "cut") setImmediate(() => socket.destroy());
    else if (script.ending !== "hang") answer.end();
  };
}

export function writeEvent(event: ResponsesEvent): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}
