// Writes a Messages stream for a client, from chat chunks or from the events of a provider of the same format. The end
// is sent only when usage is known and settled. Behaviour 6.

import type { Usage } from "../../core/chat.ts";
import type { GatewayError } from "../../core/errors.ts";
import type { SearchStep } from "../../core/search/web-search.ts";
import { type CallDelta, callDeltas, firstDelta, splitContent } from "../content.ts";
import { detailsIn } from "../convert/reasoning-details.ts";
import type { ChatChunk, NativeEvent, ResponseContext, StreamOptions, StreamWriter } from "../format.ts";
import { isObject, type JsonObject, toText } from "../json/fields.ts";
import { createObjectScanner, type ObjectScanner } from "../json/object-scanner.ts";
import { scanText } from "../json/parse.ts";
import { spliceFields } from "../json/splice.ts";
import { rawValue } from "../scan/scan.ts";
import { clientToolId, toolNameRestorer } from "../tools/calls.ts";
import { stepOf } from "../tools/searches.ts";
import { ANTHROPIC, type Block, stopReasonFor } from "./blocks.ts";
import { appliedEdits } from "./context-edits.ts";
import { writeAnthropicStreamError } from "./errors.ts";
import { citationsOf, citesPages, givenCitations, searchResult, searchUse } from "./search-blocks.ts";
import { writeAnthropicUsage } from "./usage.ts";
import { messageHead, sealOf, signedBlock } from "./write-response.ts";

/** The vendor's own event for silence; clients skip it. */
const PING = writeAnthropicEvent({ type: "ping" });

/** From chat chunks. Blocks are opened and closed in order, whatever order the deltas have. */
export function createAnthropicStreamWriter(context: ResponseContext, { service }: StreamOptions): StreamWriter {
  const restoreName = toolNameRestorer(context.request?.chat.tools);
  const blocks = new BlockWriter({
    isCited: citesPages(context),
    idOf: (id, index) => clientToolId(id, index, context),
    nameOf: restoreName,
  });
  let hasStarted = false;
  let hasRefusal = false;
  let finish: unknown = null;

  function start(): string {
    if (hasStarted) return "";
    hasStarted = true;
    // Some clients add the output tokens of the start to those of the end, so none are named here.
    const usage = { ...EMPTY_USAGE, input_tokens: context.inputTokens ?? 0 };
    const message = { ...messageHead(context), ...UNFINISHED, usage, service };
    return writeAnthropicEvent({ type: "message_start", message }) + PING;
  }

  function read(choice: JsonObject): void {
    const delta = isObject(choice.delta) ? choice.delta : {};
    const { reasoning, text, refusal } = splitContent(delta);
    if (reasoning !== "") blocks.addText("thinking", reasoning);
    blocks.addSigned(delta);
    if (text + refusal !== "") blocks.addText("text", text + refusal);
    blocks.addCitations(givenCitations(delta));
    hasRefusal ||= refusal !== "";
    for (const call of callDeltas(delta)) blocks.addTool(call);
    blocks.addSearch(stepOf(delta));
    finish = choice.finish_reason ?? finish;
  }

  return {
    ping: PING,
    fail: (error) => failure(error, context),
    write(chunks: readonly ChatChunk[]) {
      if (chunks.length === 0) return "";
      let events = start();
      for (const { json } of chunks) {
        const choice = firstDelta(json);
        if (choice === null) continue;
        read(choice);
        events += blocks.take(false);
      }
      return events;
    },
    end(settled, usage) {
      let events = start() + blocks.take(true);
      if (!blocks.hasAny) {
        blocks.addText("text", "");
        events += blocks.take(true);
      }
      const reason = stopReasonFor({ finish, hasToolCalls: blocks.hasTools, hasRefusal });
      const delta = { stop_reason: reason, stop_sequence: null, stop_details: null, container: null };
      events += writeAnthropicEvent({ type: "message_delta", delta, ...countsOf(usage, context) });
      return events + writeAnthropicEvent({ type: "message_stop", service: settled });
    },
  };
}

function countsOf(usage: Usage, { request }: ResponseContext): JsonObject {
  return { usage: writeAnthropicUsage(usage), ...appliedEdits(request) };
}

const EMPTY_USAGE = { input_tokens: 0, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 0 };
const UNFINISHED = { content: [], stop_reason: null, stop_sequence: null, stop_details: null, container: null };

function failure(error: GatewayError, { requestId }: ResponseContext): string {
  return writeAnthropicEvent({ ...writeAnthropicStreamError(error, requestId), type: "error" });
}

// A provider's Messages stream passed on to a client of the same format, event by event as it came; only the first gets
// the gateway's model name and the `service` object. The end waits for settlement.

/** From events of a provider of this format. */
export function passAnthropicStream(context: ResponseContext, { service }: StreamOptions): StreamWriter {
  let finish: NativeEvent | null = null;
  let stop: NativeEvent = { format: ANTHROPIC, event: "message_stop", data: '{"type":"message_stop"}' };
  let held = "";

  function text({ event, data }: NativeEvent): string {
    const sent = event === "message_start" ? withService(data) : data;
    return `event: ${event}\n${sent
      .split("\n")
      .map((line) => `data: ${line}\n`)
      .join("")}\n`;
  }

  function withService(data: string): string {
    const outer = scanText(Buffer.from(data));
    const message = outer === null ? null : rawValue(outer, "message");
    const inner = message === null ? null : scanText(message);
    if (outer === null || inner === null) return data;
    const changes = new Map([
      ["model", JSON.stringify(context.modelId)],
      ["service", JSON.stringify(service)],
    ]);
    return spliceFields(outer, new Map([["message", spliceFields(inner, changes)]])).toString("utf8");
  }

  return {
    ping: PING,
    fail: (error) => failure(error, context),
    write(chunks) {
      let events = "";
      for (const { native, isFinish } of chunks) {
        if (native === undefined) continue;
        if (native.event === "message_stop") stop = native;
        else if (finish !== null) held += text(native);
        else if (isFinish) finish = native;
        else events += text(native);
      }
      return events;
    },
    end(settled, usage) {
      const finishing = finish === null ? "" : text({ ...finish, data: withUsage(finish.data, usage) });
      const source = scanText(Buffer.from(stop.data));
      const service = new Map([["service", JSON.stringify(settled)]]);
      const data = source === null ? stop.data : spliceFields(source, service).toString("utf8");
      return finishing + held + text({ ...stop, data });
    },
  };
}

/** Clients read the count of the output at the end, and fail where there is none. */
function withUsage(data: string, usage: Usage): string {
  const { usage: own } = JSON.parse(data) as JsonObject;
  const source = isObject(own) && typeof own.output_tokens === "number" ? null : scanText(Buffer.from(data));
  const changes = new Map([["usage", JSON.stringify(writeAnthropicUsage(usage))]]);
  return source === null ? data : spliceFields(source, changes).toString("utf8");
}

// Chat deltas as content blocks, one after another: whatever order text, reasoning and the arguments of several tool calls
// come in, blocks never overlap and their indexes have no holes. Only the foremost block streams; the others wait.

/** A block on its way: what has come of it and is not sent yet. */
interface Segment {
  readonly kind: "thinking" | "redacted_thinking" | "text" | "tool" | "search";
  readonly toolIndex: number;
  id: string;
  name: string;
  pending: string;
  /** The signature of a thought, which comes after its text. */
  signature: string;
  /** A search or its result, which opens with all it has but the input. */
  block: Block | null;
  /** Citations that came with its text. */
  citations: readonly JsonObject[];
  /** All of its text, where it may cite pages. */
  text: string;
  isOpen: boolean;
  readonly scanner: ObjectScanner | null;
}

/** Ids and names of calls as the client sees them. */
interface ToolNaming {
  /** Says that pages that were fetched are cited. */
  readonly isCited?: boolean;
  idOf(id: string, index: number): string;
  nameOf(name: string): string;
}

export class BlockWriter {
  readonly #naming: ToolNaming;
  readonly #queue: Segment[] = [];
  readonly #tools = new Map<number, Segment>();
  /** Searches that are done. */
  readonly #steps: SearchStep[] = [];
  #blockIndex = 0;

  constructor(naming: ToolNaming) {
    this.#naming = naming;
  }

  /** Blocks that are closed, so to be asked when all have been taken. */
  get hasAny(): boolean {
    return this.#blockIndex > 0;
  }

  get hasTools(): boolean {
    return this.#tools.size > 0;
  }

  addText(kind: "thinking" | "text", text: string): void {
    const last = this.#queue.at(-1);
    const segment = last?.kind === kind && last.signature === "" ? last : this.#push(newSegment(kind, -1));
    segment.pending += text;
  }

  /** Citations of the text that has come. */
  addCitations(citations: readonly JsonObject[]): void {
    const last = citations.length === 0 ? undefined : this.#queue.at(-1);
    if (last?.kind === "text") last.citations = [...last.citations, ...citations];
  }

  /** Signs the thought whose text has just come, or adds one. */
  addSigned(delta: JsonObject): void {
    if (delta.reasoning_details !== undefined) for (const detail of detailsIn(delta)) this.#sign(signedBlock(detail));
  }

  #sign(block: Block): void {
    const last = this.#queue.at(-1);
    const seal = sealOf(block);
    if (last?.kind === "thinking" && last.signature === "" && seal !== "") {
      last.signature = seal;
      return;
    }
    const isThinking = block.type === "thinking";
    const segment = this.#push(newSegment(isThinking ? "thinking" : "redacted_thinking", -1));
    segment.signature = toText(isThinking ? block.signature : block.data);
    if (isThinking) segment.pending = toText(block.thinking);
  }

  /** A search is told of twice: when it begins, and when it is done. */
  addSearch(step: SearchStep | null): void {
    if (step === null) return;
    const isBegun = step.outcome === null;
    const use = searchUse(step);
    const segment = this.#push(newSegment("search", -1));
    segment.block = isBegun ? { ...use, input: {} } : searchResult(step);
    segment.pending = isBegun ? JSON.stringify(use.input) : "";
    if (!isBegun) this.#steps.push(step);
  }

  addTool({ index, id, name, text }: CallDelta): void {
    const known = this.#tools.get(index);
    // A block that was closed cannot be taken up again; what comes after complete arguments is nothing but space.
    if (known !== undefined && !this.#queue.includes(known)) return;
    const segment = known ?? this.#push(newSegment("tool", index));
    this.#tools.set(index, segment);
    segment.id ||= id;
    segment.name ||= name;
    segment.pending += text;
    segment.scanner?.push(text);
  }

  /** The events that can be sent now; all that is left when the answer is over. */
  take(isOver: boolean): string {
    let events = "";
    for (let head = this.#queue[0]; head !== undefined; head = this.#queue[0]) {
      if (!head.isOpen) {
        if (head.kind === "tool" && head.name === "" && !isOver) break;
        events += this.#open(head);
      }
      events += this.#flush(head);
      if (!isOver && !mayClose(head, this.#queue.length)) break;
      events += this.#close(head);
    }
    return events;
  }

  #push(segment: Segment): Segment {
    this.#queue.push(segment);
    return segment;
  }

  #open(segment: Segment): string {
    segment.isOpen = true;
    const id = this.#naming.idOf(segment.id, segment.toolIndex);
    const block = openingBlock(segment, { id, name: this.#naming.nameOf(segment.name) });
    return writeAnthropicEvent({ type: "content_block_start", index: this.#blockIndex, content_block: block });
  }

  #flush(segment: Segment): string {
    const text = segment.pending;
    segment.pending = "";
    if (segment.kind === "text" && this.#steps.length > 0) segment.text += text;
    return text === "" ? "" : this.#delta(deltaOf(segment, text));
  }

  #delta(delta: JsonObject): string {
    return writeAnthropicEvent({ type: "content_block_delta", index: this.#blockIndex, delta });
  }

  #close({ kind, signature, text, citations: given }: Segment): string {
    this.#queue.shift();
    const isSigned = kind === "thinking" && signature !== "";
    const signed = isSigned ? this.#delta({ type: "signature_delta", signature }) : "";
    const citations = text === "" ? [] : citationsOf(text, this.#steps, this.#naming.isCited === true);
    const cited = [...citations, ...given]
      .map((citation) => this.#delta({ type: "citations_delta", citation }))
      .join("");
    const event = signed + cited + writeAnthropicEvent({ type: "content_block_stop", index: this.#blockIndex });
    this.#blockIndex += 1;
    return event;
  }
}

/** While its arguments are incomplete a tool call may go on, whatever else has come in between. Nothing follows a signature. */
function mayClose({ kind, scanner, signature }: Segment, waiting: number): boolean {
  if (signature !== "" || kind === "search") return true;
  return waiting > 1 && (scanner === null || scanner.isComplete);
}

function newSegment(kind: Segment["kind"], toolIndex: number): Segment {
  const scanner = kind === "tool" ? createObjectScanner() : null;
  return {
    kind,
    toolIndex,
    id: "",
    name: "",
    pending: "",
    signature: "",
    block: null,
    citations: [],
    text: "",
    isOpen: false,
    scanner,
  };
}

function openingBlock({ kind, signature, block }: Segment, { id, name }: { id: string; name: string }): JsonObject {
  if (block !== null) return block;
  if (kind === "tool") return { type: "tool_use", id, name, input: {} };
  if (kind === "redacted_thinking") return { type: kind, data: signature };
  return kind === "text" ? { type: "text", text: "" } : { type: "thinking", thinking: "", signature: "" };
}

function deltaOf({ kind }: Segment, text: string): JsonObject {
  if (kind === "tool" || kind === "search") return { type: "input_json_delta", partial_json: text };
  return kind === "text" ? { type: "text_delta", text } : { type: "thinking_delta", thinking: text };
}

/** Clients skip events without an `event:` line. */
function writeAnthropicEvent(json: JsonObject & { readonly type: string }): string {
  return `event: ${json.type}\ndata: ${JSON.stringify(json)}\n\n`;
}
