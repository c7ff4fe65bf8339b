// Answers of images and sound that come as a stream: events, which pass as they came, or sound, which is passed on byte by
// byte. The counts stand in the events that end a picture or a recording.

import type { Usage } from "../../core/chat.ts";
import type {
  ChatChunk,
  ClientRequest,
  ProviderFault,
  ResponseContext,
  StreamProgress,
  StreamReader,
  StreamWriter,
} from "../format.ts";
import { isObject, type JsonObject } from "../json/fields.ts";
import type { StreamedAnswer } from "../media-use.ts";
import { readFault, writeOpenaiError } from "../openai-chat/errors.ts";
import { unreadableStream } from "../provider/faults.ts";
import { readEvents, type SseEvent } from "../sse/reader.ts";
import { addedUsage, withoutTokens } from "./usage.ts";

const EVENT_STREAM = /^text\/event-stream\b/i;
/** Ends of the types of events that say what was used. */
const FINAL = /\.(completed|done)$/;
const NO_CHUNKS: readonly ChatChunk[] = [];

export function isEventStream({ contentType }: Pick<StreamedAnswer, "contentType">): boolean {
  return EVENT_STREAM.test(contentType);
}

interface EventReading {
  readonly request: ClientRequest;
  /** Counts of an event that ends a picture or a recording; null where it has none. */
  readonly usageOf: (event: JsonObject, request: ClientRequest) => Usage | null;
  /** Set where the client gets the sound in the events instead of the events: its type. */
  readonly soundType?: string | undefined;
  /** Counts the tokens of sound as far as it has come. */
  readonly tokensOf?: (sound: SoundSent) => number;
}

/** Reads the events of an answer. */
export function readMediaEvents(
  { events, body }: Pick<StreamedAnswer, "events" | "body">,
  { request, usageOf, soundType, tokensOf }: EventReading,
): StreamReader {
  let usage: Usage | null = null;
  let fault: ProviderFault | null = null;
  let hasContent = false;
  // Each picture has a final event.
  let finals = 0;
  let hasEnded = false;
  const sent = newMeter();
  const read = ({ event, data }: SseEvent): ChatChunk | null => {
    if (fault !== null || data === "") return null;
    const chunk = { json: {}, hasContent: true, isFinish: false };
    const native = { format: request.format, event: event ?? "", data };
    if (data === DONE) return soundType === undefined ? { ...chunk, native } : null;
    const parsed = parsedEvent(data);
    if (parsed.error !== undefined && parsed.error !== null) {
      fault = readFault(parsed);
      return null;
    }
    const type = String(parsed.type ?? event ?? "");
    hasContent = true;
    // One that is repeated counts nothing more.
    if (FINAL.test(type) && finals < request.chat.choiceCount) {
      finals += 1;
      const counted = usageOf(parsed, request);
      if (counted !== null) usage = addedUsage(usage, counted);
    }
    const { audio } = parsed;
    const bytes = tokensOf !== undefined && typeof audio === "string" ? Buffer.from(audio, "base64") : EMPTY;
    sent.add(bytes);
    if (soundType === undefined) return { ...chunk, native };
    return bytes.length > 0 ? { ...chunk, bytes } : null;
  };
  const fail = (problem: string): void => {
    fault = unreadableStream(problem);
  };
  return {
    ...(soundType === undefined ? {} : { contentType: soundType }),
    push: (bytes) => readEvents(() => events.push(bytes), read, fail),
    end() {
      hasEnded = true;
      return readEvents(() => events.end(), read, fail);
    },
    toolCallIds: () => [],
    get progress(): StreamProgress {
      const outputTokens = hasContent ? tokensSent(sent, request, tokensOf) : 0;
      const isEndInSight = finals >= request.chat.choiceCount;
      // A host may make fewer than it was asked for. While more may come, our own counts stand for all of them.
      const isFinished = isEndInSight || (finals > 0 && hasEnded && body.failure === null);
      const counted = isFinished ? usage : null;
      const isCounted = counted !== null;
      return { hasContent, isFinished, usage: counted, isCounted, fault, outputTokens, isDone: false, isEndInSight };
    },
  };
}

const DONE = "[DONE]";

function parsedEvent(data: string): JsonObject {
  const json: unknown = JSON.parse(data);
  if (!isObject(json)) throw new Error("an event of the stream is not a JSON object");
  return json;
}

/** Passes the bytes of an answer. It has ended well where its body did. */
export function readBytes(
  { body }: Pick<StreamedAnswer, "body">,
  { request, tokensOf }: Pick<EventReading, "request" | "tokensOf">,
): StreamReader {
  let hasContent = false;
  let hasEnded = false;
  const sent = newMeter();
  return {
    push(bytes) {
      if (bytes.length === 0) return NO_CHUNKS;
      hasContent = true;
      sent.add(bytes);
      return [{ json: {}, hasContent: true, isFinish: false, bytes }];
    },
    end() {
      hasEnded = true;
      return NO_CHUNKS;
    },
    toolCallIds: () => [],
    get progress(): StreamProgress {
      return {
        hasContent,
        isFinished: hasEnded && body.failure === null,
        isDone: false,
        usage: hasContent ? withoutTokens(request.media?.counted ?? {}) : null,
        isCounted: true,
        fault: null,
        outputTokens: hasContent ? tokensSent(sent, request, tokensOf) : 0,
        isEndInSight: false,
      };
    },
  };
}

/** Sound as far as it has come: its beginning, and the number of its bytes. */
export interface SoundSent {
  readonly start: Buffer;
  readonly length: number;
}

/** Enough for two frames behind a tag. */
const START_BYTES = 8_192;

interface SoundMeter extends SoundSent {
  add(bytes: Uint8Array): void;
}

function newMeter(): SoundMeter {
  const sent = { start: Buffer.alloc(0), length: 0 };
  return Object.assign(sent, {
    add(bytes: Uint8Array) {
      const missing = START_BYTES - sent.start.length;
      if (missing > 0) sent.start = Buffer.concat([sent.start, bytes.subarray(0, missing)]);
      sent.length += bytes.length;
    },
  });
}

/** Without sound that can be measured, the estimate for all of the text counts. */
function tokensSent(sent: SoundSent, { media }: ClientRequest, tokensOf: EventReading["tokensOf"]): number {
  return tokensOf === undefined || sent.length === 0 ? (media?.outputTokens ?? 0) : tokensOf(sent);
}

export function writeMedia(answer: Pick<StreamedAnswer, "contentType">, { requestId }: ResponseContext): StreamWriter {
  if (!isEventStream(answer)) {
    return { ping: "", isBinary: true, write: (chunks) => chunks.map(soundOf).join(""), end: () => "", fail: () => "" };
  }
  return {
    ping: ":\n\n",
    write: (chunks) => chunks.map(eventOf).join(""),
    end: () => "",
    fail: (error) => `event: error\ndata: ${JSON.stringify(writeOpenaiError(error, requestId))}\n\n`,
  };
}

function soundOf({ bytes = EMPTY }: ChatChunk): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
}

const EMPTY = new Uint8Array(0);

function eventOf({ native }: ChatChunk): string {
  if (native === undefined) return "";
  const { event, data } = native;
  return `${event === "" ? "" : `event: ${event}\n`}data: ${data.replaceAll("\n", "\ndata: ")}\n\n`;
}
