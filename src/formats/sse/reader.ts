// Server-sent events in every form that providers send: any split, CR, LF or CRLF, comments, several data lines, no
// blank line at the end. Lines and events have a maximum size, so that a provider cannot fill our memory.

export interface SseEvent {
  readonly event: string | null;
  readonly data: string;
}

/** Cuts bytes into events. Framings other than SSE give the same events. */
export interface SseReader {
  /** Set where the bytes are no text, so that the first one tells nothing. */
  readonly isBinary?: boolean;
  /** The events completed by these bytes. Throws SseOverflow when a line or event is too long. */
  push(bytes: Uint8Array): readonly SseEvent[];
  /** The event left open when the stream ended without a blank line, if any. */
  end(): readonly SseEvent[];
}

export class SseOverflow extends Error {
  constructor(what: string) {
    super(`a server-sent ${what} is longer than the gateway accepts`);
    this.name = "SseOverflow";
  }
}

/** Above any real event: the last one of a Responses stream repeats the whole answer, and a picture comes in one line. */
const LENGTH_MAX = 16 << 20;
const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;

export function createSseReader(): SseReader {
  const decoder = createDecoder();
  const event = new EventBuilder();
  let pieces: string[] = [];
  let piecesLength = 0;
  let skipsLineFeed = false;

  function takeLines(text: string): readonly SseEvent[] {
    const events: SseEvent[] = [];
    let start = skipsLineFeed && text.charCodeAt(0) === LINE_FEED ? 1 : 0;
    if (text.length > 0) skipsLineFeed = false;
    const findLineEnd = lineEndFinder(text);
    for (let end = findLineEnd(start); end >= 0; end = findLineEnd(start)) {
      const line = pieces.length === 0 ? text.slice(start, end) : pieces.join("") + text.slice(start, end);
      if (line.length > LENGTH_MAX) throw new SseOverflow("line");
      pieces = [];
      piecesLength = 0;
      start = end + 1;
      if (text.charCodeAt(end) === CARRIAGE_RETURN) {
        if (start === text.length) skipsLineFeed = true;
        else if (text.charCodeAt(start) === LINE_FEED) start += 1;
      }
      const complete = event.addLine(line);
      if (complete !== null) events.push(complete);
    }
    if (start < text.length) keepRest(text.slice(start));
    return events;
  }

  function keepRest(rest: string): void {
    pieces.push(rest);
    piecesLength += rest.length;
    if (piecesLength > LENGTH_MAX) throw new SseOverflow("line");
  }

  return {
    push: (bytes) => takeLines(decoder.decode(bytes)),
    end() {
      const events = [...takeLines(decoder.end()), ...takeLines("\n")];
      const last = event.addLine("");
      return last === null ? events : [...events, last];
    },
  };
}

const BYTE_ORDER_MARK_START = 0xef;

/** UTF-8, cut anywhere. */
function createDecoder() {
  let decoder: InstanceType<typeof TextDecoder> | null = null;
  let isBetweenCharacters = true;
  let isAtStart = true;
  return {
    decode(bytes: Uint8Array): string {
      const beganBetween = isBetweenCharacters;
      const mayBeMark = isAtStart && bytes[0] === BYTE_ORDER_MARK_START;
      isBetweenCharacters = (bytes.at(-1) ?? 0xff) < 0x80;
      // Costs a fraction of the decoder, which few streams need.
      if (beganBetween && isBetweenCharacters && !mayBeMark) {
        isAtStart = false;
        return asBuffer(bytes).toString("utf8");
      }
      // Only a byte order mark at the start is left out.
      decoder ??= new TextDecoder("utf-8", { ignoreBOM: !isAtStart });
      return decoder.decode(bytes, { stream: true });
    },
    end: () => decoder?.decode() ?? "",
  };
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Reads the next events. Reports a problem that stops the reading instead of throwing: a stream's fault is a value. */
export function readEvents<T>(
  next: () => readonly SseEvent[],
  read: (event: SseEvent) => T | null,
  onProblem: (message: string) => void,
): readonly T[] {
  const items: T[] = [];
  try {
    for (const event of next()) {
      const item = read(event);
      if (item !== null) items.push(item);
    }
  } catch (error) {
    onProblem((error as Error).message);
  }
  return items;
}

class EventBuilder {
  #event: string | null = null;
  #data: string | null = null;

  /** Adds a line; a blank one completes the event. Events without data are none. */
  addLine(line: string): SseEvent | null {
    if (line === "") return this.#complete();
    if (line.startsWith("data:")) this.#addData(fieldValue(line, 5));
    else if (line.startsWith("event:")) this.#event = fieldValue(line, 6);
    return null;
  }

  #addData(value: string): void {
    this.#data = this.#data === null ? value : `${this.#data}\n${value}`;
    if (this.#data.length > LENGTH_MAX) throw new SseOverflow("event");
  }

  #complete(): SseEvent | null {
    const complete = this.#data === null ? null : { event: this.#event, data: this.#data };
    this.#event = null;
    this.#data = null;
    return complete;
  }
}

function fieldValue(line: string, from: number): string {
  return line.charCodeAt(from) === 0x20 ? line.slice(from + 1) : line.slice(from);
}

/** Remembers where the next CR and LF are, so that each character is searched once. */
function lineEndFinder(text: string): (from: number) => number {
  let lineFeed = text.indexOf("\n");
  let carriageReturn = text.indexOf("\r");
  return (from) => {
    if (lineFeed >= 0 && lineFeed < from) lineFeed = text.indexOf("\n", from);
    if (carriageReturn >= 0 && carriageReturn < from) carriageReturn = text.indexOf("\r", from);
    if (lineFeed < 0) return carriageReturn;
    return carriageReturn < 0 ? lineFeed : Math.min(lineFeed, carriageReturn);
  };
}
