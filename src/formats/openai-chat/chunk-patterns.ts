// Chunks that are like an earlier one but for their texts. Reading a chunk a second time changes nothing but the count
// of the output, so nothing else is done for them, and they are parsed only for those who look into them.

import type { ChatChunk } from "../format.ts";
import { isObject, type JsonObject } from "../json/fields.ts";
import {
  type ChunkPattern,
  type EventPattern,
  fill,
  frameOf,
  patternOf,
  type RepeatedChunk,
} from "../sse/event-pattern.ts";
import { type ChoiceNormaliser, CONTENT_FIELDS, deltaText, withoutUsage } from "./stream-choices.ts";

/** More than a stream has kinds of chunks. Where chunks have nothing in common, looking for it ends here. */
const ATTEMPTS_MAX = 6;

/** Strings that differ from chunk to chunk; those that are not output only hide how long it is. */
const OWN_TEXTS: ReadonlyMap<string, boolean> = new Map([
  ...[...CONTENT_FIELDS, "arguments"].map((name) => [name, true] as const),
  ["obfuscation", false],
]);

export class ChunkPatterns {
  readonly #known: { readonly event: EventPattern; readonly pattern: ChunkPattern }[] = [];
  #attempts = 0;

  /** Finds the pattern of an event; null when the event is like none of those noted. */
  find(data: string): LikeChunk | null {
    for (const { event, pattern } of this.#known) {
      const texts = event.match(data);
      if (texts !== null) return new LikeChunk({ pattern, texts });
    }
    return null;
  }

  /** Notes a chunk that was just read, and neither ended the answer nor counted it. */
  note(data: string, choices: Pick<ChoiceNormaliser, "complete">): void {
    if (this.#attempts === ATTEMPTS_MAX) return;
    this.#attempts += 1;
    const event = patternOf(data, OWN_TEXTS);
    const marked = event === null ? null : (JSON.parse(event.marked) as JsonObject);
    const [choice, ...others] = Array.isArray(marked?.choices) ? marked.choices : [];
    if (event === null || marked === null || !isObject(choice) || others.length > 0) return;
    const delta = isObject(choice.delta) ? choice.delta : {};
    const isAllOutput = [...deltaText(delta)].sort().join("") === event.outputMarks.join("");
    if (!isAllOutput || delta.audio !== undefined || !hasPlacedCalls(delta)) return;
    const json = { ...withoutUsage(marked), choices: [choices.complete(choice)] };
    const frame = frameOf(JSON.stringify(json), event);
    if (frame !== null) this.#known.push({ event, pattern: { texts: event.texts, json, frame } });
  }
}

/** Tells whether each call has an index. Without one, the earlier calls decide which call is meant. */
function hasPlacedCalls({ tool_calls: calls }: JsonObject): boolean {
  return !Array.isArray(calls) || calls.every((call) => isObject(call) && Number.isInteger(call.index));
}

class LikeChunk implements ChatChunk {
  readonly isFinish = false;
  readonly repeated: RepeatedChunk;

  constructor(repeated: RepeatedChunk) {
    this.repeated = repeated;
  }

  get hasContent(): boolean {
    return this.repeated.texts.output !== "";
  }

  get json(): Record<string, unknown> {
    const { pattern, texts } = this.repeated;
    return JSON.parse(fill(pattern.frame, texts)) as Record<string, unknown>;
  }
}
