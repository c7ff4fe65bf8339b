// Chat deltas as output items, one after another: whatever order text, reasoning and the arguments of several tool calls
// come in, an item is opened before its deltas and closed before the next. Only the foremost item streams.

import type { FoundPage, PartialPicture, SearchStep } from "../../core/search/web-search.ts";
import type { CallDelta } from "../content.ts";
import { sealText } from "../convert/reasoning-details.ts";
import type { JsonObject } from "../json/fields.ts";
import { createObjectScanner, type ObjectScanner } from "../json/object-scanner.ts";
import { NO_ARGUMENTS } from "../tools/calls.ts";
import { createInputDecoder, type InputDecoder } from "./custom-input.ts";
import {
  type CallHead,
  type CallNaming,
  callForm,
  callItem,
  citationsIn,
  type ItemStatus,
  messageItem,
  reasoningItem,
  stepForm,
  stepItem,
  summaryPart,
  textPart,
} from "./item-text.ts";

/** Numbers the events of one stream without gaps. */
export class EventWriter {
  #sequence = 0;

  /** `fields`: the fields after the type, as JSON text. */
  write(type: string, fields: string): string {
    const number = this.#sequence;
    this.#sequence += 1;
    return `event: ${type}\ndata: {"type":"${type}","sequence_number":${number},${fields}}\n\n`;
  }
}

type TextKind = "reasoning" | "message" | "refusal";
type ItemKind = TextKind | "call" | "step";

/** An item on its way. */
interface Segment {
  readonly kind: ItemKind;
  readonly callIndex: number;
  callId: string;
  name: string;
  /** Text that has come and is not sent yet. */
  pending: string;
  /** Text that has been sent. */
  text: string;
  /** Log probabilities of the pending text, and of all of it. */
  pendingLogprobs: readonly unknown[];
  logprobs: readonly unknown[];
  /** Citations that came with the text. */
  citations: readonly JsonObject[];
  /** Brings a signed thought back; nothing follows it. */
  seal: string | null;
  /** A search or a picture of the gateway. */
  step: SearchStep | null;
  /** Beginnings of the picture that are not sent yet. */
  partials: PartialPicture[];
  /** The item's place in the output; null until the item is open. */
  opened: OpenedItem | null;
  readonly scanner: ObjectScanner | null;
}

interface OpenedItem {
  readonly id: string;
  /** The fields that every event of the item begins with. */
  readonly place: string;
  readonly outputIndex: number;
  readonly head: CallHead | null;
  readonly decoder: InputDecoder | null;
}

interface Naming {
  nameItem(prefix: string, outputIndex: number): string;
  readonly naming: CallNaming;
  /** Set where reasoning that nobody signed is sealed. */
  readonly sealsTexts: boolean;
}

const NO_LOGPROBS: readonly unknown[] = [];

export class ItemQueue {
  readonly #events: EventWriter;
  readonly #names: Naming;
  readonly #queue: Segment[] = [];
  readonly #calls = new Map<number, Segment>();
  readonly #written: string[] = [];
  /** Pages that searches found so far, which a text may cite. */
  readonly #pages: FoundPage[] = [];

  constructor(events: EventWriter, names: Naming) {
    this.#events = events;
    this.#names = names;
  }

  /** The closed items, as JSON text. */
  get written(): readonly string[] {
    return this.#written;
  }

  addText(kind: TextKind, text: string, logprobs: readonly unknown[] = NO_LOGPROBS): void {
    const last = this.#queue.at(-1);
    const segment = last?.kind === kind && last.seal === null ? last : this.#push(newSegment(kind, -1));
    segment.pending += text;
    if (logprobs.length > 0) segment.pendingLogprobs = [...segment.pendingLogprobs, ...logprobs];
  }

  /** Citations of the text that has come. */
  addCitations(citations: readonly JsonObject[]): void {
    const last = citations.length === 0 ? undefined : this.#queue.at(-1);
    if (last?.kind === "message") last.citations = [...last.citations, ...citations];
  }

  /** Seals the thought whose text has just come, or adds one without text. */
  addSeal(seal: string): void {
    const last = this.#queue.at(-1);
    const segment = last?.kind === "reasoning" && last.seal === null ? last : this.#push(newSegment("reasoning", -1));
    segment.seal = seal;
  }

  /** A step is told of twice: when it begins, and when it is done. In between, beginnings of a picture may come. */
  addStep(step: SearchStep | null): void {
    if (step === null) return;
    const known = this.#queue.find(({ step: other }) => other?.id === step.id);
    const segment = known ?? this.#push(newSegment("step", -1));
    segment.step = step;
    if (step.partial !== undefined) segment.partials.push(step.partial);
    if (step.outcome?.ok === true) this.#pages.push(...step.outcome.pages);
  }

  addCall({ index, id, name, text }: CallDelta): void {
    const known = this.#calls.get(index);
    // An item that was closed cannot be taken up again; what comes after complete arguments is nothing but space.
    if (known !== undefined && !this.#queue.includes(known)) return;
    const segment = known ?? this.#push(newSegment("call", index));
    this.#calls.set(index, segment);
    segment.callId ||= id;
    segment.name ||= name;
    segment.pending += text;
    segment.scanner?.push(text);
  }

  /** The events that can be sent now. */
  take(): string {
    let events = "";
    for (let head = this.#queue[0]; head !== undefined; head = this.#queue[0]) {
      // A call cannot be opened before its name is known.
      if (head.opened === null && head.kind === "call" && head.name === "") break;
      events += this.#send(head);
      if (!mayClose(head, this.#queue.length)) break;
      events += this.#close("completed");
    }
    return events;
  }

  /** All that is left when the answer is over. `status`: of the last item, which may be cut. */
  finish(status: ItemStatus): string {
    let events = "";
    for (let head = this.#queue[0]; head !== undefined; head = this.#queue[0]) {
      events += this.#send(head) + this.#close(this.#queue.length === 1 ? status : "completed");
    }
    return events;
  }

  #push(segment: Segment): Segment {
    this.#queue.push(segment);
    return segment;
  }

  #send(segment: Segment): string {
    if (segment.opened !== null) return this.#flush(segment, segment.opened);
    const opened = this.#open(segment);
    segment.opened = opened;
    return this.#opening(segment, opened) + this.#flush(segment, opened);
  }

  #open({ kind, step, callId, callIndex, name }: Segment): OpenedItem {
    const outputIndex = this.#written.length;
    const { nameItem, naming } = this.#names;
    const tool = kind === "call" ? naming.toolOf(name) : null;
    const prefix = step === null ? prefixOf(kind) : stepForm(step).idPrefix;
    const id = nameItem(tool === null ? prefix : callForm(tool).idPrefix, outputIndex);
    const place = `"item_id":"${id}","output_index":${outputIndex}`;
    if (tool === null) return { id, place, outputIndex, head: null, decoder: null };
    const head = { id, callId: naming.idOf(callId, callIndex), tool };
    return { id, place, outputIndex, head, decoder: tool.type === "custom" ? createInputDecoder() : null };
  }

  #opening({ kind, step }: Segment, { id, place, outputIndex, head }: OpenedItem): string {
    const item = step === null ? emptyItem(kind, id, head) : stepItem(id, { ...step, outcome: null });
    const added = this.#events.write("response.output_item.added", `"output_index":${outputIndex},"item":${item}`);
    if (step !== null) {
      const { events, working } = stepForm(step);
      const stages = ["in_progress", working].map((stage) => `${events}.${stage}`);
      return added + stages.map((type) => this.#events.write(type, place)).join("");
    }
    if (kind !== "message" && kind !== "refusal") return added;
    const part = textPart(kind, '""', NO_LOGPROBS);
    return added + this.#events.write("response.content_part.added", `${place},"content_index":0,"part":${part}`);
  }

  #flush(segment: Segment, opened: OpenedItem): string {
    if (segment.partials.length > 0) return this.#flushPartials(segment, opened);
    const given = segment.pending;
    if (given === "") return "";
    segment.pending = "";
    if (comesWhole(opened)) {
      segment.text += given;
      return "";
    }
    const text = opened.decoder === null ? given : opened.decoder.push(given);
    return text === "" ? "" : this.#delta(segment, opened, text);
  }

  #flushPartials(segment: Segment, { place }: OpenedItem): string {
    const events = segment.partials.map(({ index, base64 }) => {
      const fields = `${place},"partial_image_index":${index},"partial_image_b64":${JSON.stringify(base64)}`;
      return this.#events.write("response.image_generation_call.partial_image", fields);
    });
    segment.partials = [];
    return events.join("");
  }

  #delta(segment: Segment, { place, head }: OpenedItem, text: string): string {
    const isFirst = segment.text === "";
    segment.text += text;
    const delta = `"delta":${JSON.stringify(text)}`;
    switch (segment.kind) {
      case "message": {
        const logprobs = segment.pendingLogprobs;
        segment.pendingLogprobs = NO_LOGPROBS;
        if (logprobs.length > 0) segment.logprobs = [...segment.logprobs, ...logprobs];
        const written = logprobs.length === 0 ? "[]" : JSON.stringify(logprobs);
        return this.#events.write(
          "response.output_text.delta",
          `${place},"content_index":0,${delta},"logprobs":${written}`,
        );
      }
      case "refusal":
        return this.#events.write("response.refusal.delta", `${place},"content_index":0,${delta}`);
      case "reasoning": {
        const part = `${place},"summary_index":0,"part":${summaryPart('""')}`;
        const added = isFirst ? this.#events.write("response.reasoning_summary_part.added", part) : "";
        return (
          added + this.#events.write("response.reasoning_summary_text.delta", `${place},"summary_index":0,${delta}`)
        );
      }
      default: {
        const name = head === null ? null : callForm(head.tool).events;
        return name === null ? "" : this.#events.write(`${name}.delta`, `${place},${delta}`);
      }
    }
  }

  #close(status: ItemStatus): string {
    const segment = this.#queue.shift() as Segment;
    const opened = segment.opened as OpenedItem;
    const { events, item } = this.#closing(segment, opened, status);
    this.#written.push(item);
    return (
      events + this.#events.write("response.output_item.done", `"output_index":${opened.outputIndex},"item":${item}`)
    );
  }

  /** The events before the item is done, and the item. */
  #closing(segment: Segment, opened: OpenedItem, status: ItemStatus): { events: string; item: string } {
    const { kind, logprobs, seal } = segment;
    const { id, place, head, decoder } = opened;
    const isBare = kind === "call" && decoder === null && segment.text === "" && status === "completed";
    const rest = isBare ? NO_ARGUMENTS : (decoder?.end() ?? "");
    let events = rest === "" ? "" : this.#delta(segment, opened, rest);
    const text = JSON.stringify(segment.text);
    if (head !== null) {
      events += this.#callDone(head, place, text);
      return { events, item: callItem(head, status, text) };
    }
    if (segment.step !== null) {
      const completed = this.#events.write(`${stepForm(segment.step).events}.completed`, place);
      return { events: events + completed, item: stepItem(id, segment.step) };
    }
    if (kind === "reasoning") {
      if (segment.text === "") return { events, item: reasoningItem(id, "", seal) };
      const part = summaryPart(text);
      events += this.#events.write("response.reasoning_summary_text.done", `${place},"summary_index":0,"text":${text}`);
      events += this.#events.write("response.reasoning_summary_part.done", `${place},"summary_index":0,"part":${part}`);
      const sealed = this.#names.sealsTexts ? sealText(segment.text) : null;
      return { events, item: reasoningItem(id, part, seal ?? sealed) };
    }
    const citations = kind === "message" ? [...citationsIn(segment.text, this.#pages), ...segment.citations] : [];
    for (const [at, annotation] of citations.entries()) {
      const fields = `${place},"content_index":0,"annotation_index":${at},"annotation":${JSON.stringify(annotation)}`;
      events += this.#events.write("response.output_text.annotation.added", fields);
    }
    const part = textPart(kind === "refusal" ? "refusal" : "message", text, logprobs, citations);
    events +=
      kind === "refusal"
        ? this.#events.write("response.refusal.done", `${place},"content_index":0,"refusal":${text}`)
        : this.#events.write(
            "response.output_text.done",
            `${place},"content_index":0,"text":${text},"logprobs":${JSON.stringify(logprobs)}`,
          );
    events += this.#events.write("response.content_part.done", `${place},"content_index":0,"part":${part}`);
    return { events, item: messageItem(id, status, part) };
  }

  #callDone({ tool }: CallHead, place: string, text: string): string {
    const { events, field } = callForm(tool);
    if (events === null) return "";
    const name = tool.type === "custom" ? "" : `,"name":${JSON.stringify(tool.name)}`;
    return this.#events.write(`${events}.done`, `${place}${name},"${field}":${text}`);
  }
}

/** While its arguments are incomplete a call may go on, whatever else has come in between. */
function mayClose({ scanner, seal, step }: Segment, waiting: number): boolean {
  if (seal !== null) return true;
  if (step !== null) return step.outcome !== null;
  return waiting > 1 && (scanner === null || scanner.isComplete);
}

function newSegment(kind: Segment["kind"], callIndex: number): Segment {
  return {
    kind,
    callIndex,
    callId: "",
    name: "",
    pending: "",
    text: "",
    pendingLogprobs: NO_LOGPROBS,
    logprobs: NO_LOGPROBS,
    citations: [],
    seal: null,
    step: null,
    partials: [],
    opened: null,
    scanner: kind === "call" ? createObjectScanner() : null,
  };
}

/** A call that is written when its arguments are complete. */
function comesWhole({ head }: OpenedItem): boolean {
  return head !== null && callForm(head.tool).events === null;
}

function prefixOf(kind: Segment["kind"]): string {
  return kind === "reasoning" ? "rs" : "msg";
}

function emptyItem(kind: Segment["kind"], id: string, head: CallHead | null): string {
  if (head !== null) return callItem(head, "in_progress", '""');
  return kind === "reasoning" ? reasoningItem(id, "", null) : messageItem(id, "in_progress", "");
}
