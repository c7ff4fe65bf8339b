// Chat deltas as content blocks, one after another: whatever order text, reasoning and the arguments of several tool calls
// come in, blocks never overlap and their indexes have no holes. Only the foremost block streams; the others wait.

import type { JsonObject } from "../../wire/fields.ts";
import { createObjectScanner, type ObjectScanner } from "../../wire/object-scanner.ts";

export interface ToolDelta {
  readonly index: number;
  readonly id: string;
  readonly name: string;
  readonly text: string;
}

interface Segment {
  readonly kind: "thinking" | "text" | "tool";
  readonly toolIndex: number;
  id: string;
  name: string;
  pending: string;
  isOpen: boolean;
  readonly scanner: ObjectScanner | null;
}

export interface BlockWriter {
  addText(kind: "thinking" | "text", text: string): void;
  addTool(delta: ToolDelta): void;
  /** The events that can be sent now; all that is left when the answer is over. */
  take(isOver: boolean): string;
  readonly hasTools: boolean;
}

export function createBlockWriter(tool: {
  idOf(id: string, index: number): string;
  nameOf(name: string): string;
}): BlockWriter {
  const queue: Segment[] = [];
  const segments = new Map<number, Segment>();
  let blockIndex = 0;

  function push(segment: Segment): Segment {
    queue.push(segment);
    return segment;
  }

  function open(segment: Segment): string {
    segment.isOpen = true;
    const id = tool.idOf(segment.id, segment.toolIndex);
    const block = openingBlock(segment, { id, name: tool.nameOf(segment.name) });
    return writeAnthropicEvent({ type: "content_block_start", index: blockIndex, content_block: block });
  }

  function flush(segment: Segment): string {
    const text = segment.pending;
    segment.pending = "";
    if (text === "") return "";
    return writeAnthropicEvent({ type: "content_block_delta", index: blockIndex, delta: deltaOf(segment, text) });
  }

  function close(): string {
    queue.shift();
    const event = writeAnthropicEvent({ type: "content_block_stop", index: blockIndex });
    blockIndex += 1;
    return event;
  }

  return {
    addText(kind, text) {
      const last = queue.at(-1);
      const segment = last?.kind === kind ? last : push(newSegment(kind, -1));
      segment.pending += text;
    },
    addTool({ index, id, name, text }) {
      const known = segments.get(index);
      // A block that was closed cannot be taken up again; what comes after complete arguments is nothing but space.
      if (known !== undefined && !queue.includes(known)) return;
      const segment = known ?? push(newSegment("tool", index));
      segments.set(index, segment);
      segment.id ||= id;
      segment.name ||= name;
      segment.pending += text;
      segment.scanner?.push(text);
    },
    take(isOver) {
      let events = "";
      for (let head = queue[0]; head !== undefined; head = queue[0]) {
        if (!head.isOpen) {
          if (head.kind === "tool" && head.name === "" && !isOver) break;
          events += open(head);
        }
        events += flush(head);
        if (!isOver && !mayClose(head, queue.length)) break;
        events += close();
      }
      return events;
    },
    get hasTools() {
      return segments.size > 0;
    },
  };
}

/** While its arguments are incomplete a tool call may go on, whatever else has come in between. */
function mayClose({ scanner }: Segment, waiting: number): boolean {
  return waiting > 1 && (scanner === null || scanner.isComplete);
}

function newSegment(kind: Segment["kind"], toolIndex: number): Segment {
  const scanner = kind === "tool" ? createObjectScanner() : null;
  return { kind, toolIndex, id: "", name: "", pending: "", isOpen: false, scanner };
}

function openingBlock({ kind }: Segment, { id, name }: { id: string; name: string }): JsonObject {
  if (kind === "tool") return { type: "tool_use", id, name, input: {} };
  return kind === "text" ? { type: "text", text: "" } : { type: "thinking", thinking: "", signature: "" };
}

function deltaOf({ kind }: Segment, text: string): JsonObject {
  if (kind === "tool") return { type: "input_json_delta", partial_json: text };
  return kind === "text" ? { type: "text_delta", text } : { type: "thinking_delta", thinking: text };
}

/** Clients skip events without an `event:` line. */
export function writeAnthropicEvent(json: JsonObject & { readonly type: string }): string {
  return `event: ${json.type}\ndata: ${JSON.stringify(json)}\n\n`;
}
