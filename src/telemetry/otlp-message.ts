// Spans as an OTLP export request: one plain object, written as JSON or as protobuf. The field numbers are those of
// opentelemetry-proto 1.x, which never changes them.

import type { Span } from "./spans.ts";
import type { TraceContext } from "./trace-context.ts";

/** A span with what it takes to write it down. */
export interface OutgoingSpan {
  readonly span: Span;
  readonly context: TraceContext;
  /** What to add to the steady clock for the time of day. */
  readonly clockOffsetMs: number;
}

/** What all spans of this process have in common. */
export interface SpanOrigin {
  readonly resource: Readonly<Record<string, string>>;
  readonly version: string;
}

type Message = { readonly [field: string]: unknown };

const KINDS = { internal: 1, server: 2, client: 3 } as const;
const STATUS_ERROR = 2;
const FLAG_SAMPLED = 1;

/** The export request as OTLP's JSON has it: ids as hexadecimal text, times as decimal text. */
export function exportRequest(spans: readonly OutgoingSpan[], { resource, version }: SpanOrigin): Message {
  const scope = { name: "switchyard", version };
  return {
    resourceSpans: [
      { resource: { attributes: pairs(resource) }, scopeSpans: [{ scope, spans: spans.map(writeSpan) }] },
    ],
  };
}

function writeSpan({ span, context, clockOffsetMs }: OutgoingSpan): Message {
  return {
    traceId: context.traceId,
    spanId: span.spanId,
    ...(span.parentSpanId === null ? {} : { parentSpanId: span.parentSpanId }),
    name: span.name,
    kind: KINDS[span.kind],
    startTimeUnixNano: nanoseconds(span.beganAt + clockOffsetMs),
    endTimeUnixNano: nanoseconds(span.endedAt + clockOffsetMs),
    attributes: pairs(span.attributes),
    status: { code: span.isError ? STATUS_ERROR : 0 },
    flags: FLAG_SAMPLED,
  };
}

/** A double cannot hold nanoseconds since 1970, so whole milliseconds are converted apart. */
function nanoseconds(ms: number): string {
  const whole = Math.floor(ms);
  return String(BigInt(whole) * 1_000_000n + BigInt(Math.round((ms - whole) * 1e6)));
}

function pairs(attributes: Readonly<Record<string, unknown>>): readonly Message[] {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: writeAny(value) }));
}

function writeAny(value: unknown): Message {
  if (Array.isArray(value)) return { arrayValue: { values: value.map(writeAny) } };
  if (typeof value === "boolean") return { boolValue: value };
  if (typeof value !== "number") return { stringValue: String(value) };
  return Number.isSafeInteger(value) ? { intValue: value } : { doubleValue: value };
}

/** How a field is written: its number, and its type or the fields of the message in it. */
type Field = readonly [number: number, type: "text" | "hex" | "varint" | "fixed64" | "fixed32" | "double" | Fields];
interface Fields {
  readonly [name: string]: Field;
}

const ANY: { [name: string]: Field } = {
  stringValue: [1, "text"],
  boolValue: [2, "varint"],
  intValue: [3, "varint"],
  doubleValue: [4, "double"],
};
// A list holds values again.
ANY.arrayValue = [5, { values: [1, ANY] }];
const PAIR: Fields = { key: [1, "text"], value: [2, ANY] };
const SPAN: Fields = {
  traceId: [1, "hex"],
  spanId: [2, "hex"],
  parentSpanId: [4, "hex"],
  name: [5, "text"],
  kind: [6, "varint"],
  startTimeUnixNano: [7, "fixed64"],
  endTimeUnixNano: [8, "fixed64"],
  attributes: [9, PAIR],
  status: [15, { code: [3, "varint"] }],
  flags: [16, "fixed32"],
};
const SCOPE_SPANS: Fields = { scope: [1, { name: [1, "text"], version: [2, "text"] }], spans: [2, SPAN] };
const REQUEST: Fields = {
  resourceSpans: [1, { resource: [1, { attributes: [1, PAIR] }], scopeSpans: [2, SCOPE_SPANS] }],
};

export function toProtobuf(request: Message): Buffer {
  return Buffer.concat(writeMessage(request, REQUEST));
}

/** Every field that is present, its defaults included: a value of false is still a value. */
function writeMessage(message: Message, fields: Fields): Buffer[] {
  return Object.entries(message).flatMap(([name, value]) => {
    const [number, type] = fields[name] as Field;
    return (Array.isArray(value) ? value : [value]).flatMap((each) => writeField(number, type, each));
  });
}

/** The wire types of protobuf. */
const [VARINT, FIXED64, BYTES, FIXED32] = [0, 1, 2, 5];

function writeField(number: number, type: Field[1], value: unknown): Buffer[] {
  const tag = (wire: number): Buffer => varint(BigInt((number << 3) | wire));
  const bytes = (content: Buffer): Buffer[] => [tag(BYTES), varint(BigInt(content.length)), content];
  switch (type) {
    case "varint":
      return [tag(VARINT), varint(BigInt(value as number | boolean))];
    case "text":
      return bytes(Buffer.from(value as string));
    case "hex":
      return bytes(Buffer.from(value as string, "hex"));
    case "fixed64":
      return [tag(FIXED64), fixed(8, (buffer) => buffer.writeBigUInt64LE(BigInt(value as string)))];
    case "double":
      return [tag(FIXED64), fixed(8, (buffer) => buffer.writeDoubleLE(value as number))];
    case "fixed32":
      return [tag(FIXED32), fixed(4, (buffer) => buffer.writeUInt32LE(value as number))];
    default:
      return bytes(Buffer.concat(writeMessage(value as Message, type)));
  }
}

function fixed(length: number, write: (buffer: Buffer) => void): Buffer {
  const buffer = Buffer.alloc(length);
  write(buffer);
  return buffer;
}

/** Seven bits a byte, the lowest first; a negative number as its 64 bits. */
function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  let left = BigInt.asUintN(64, value);
  for (; left > 127n; left >>= 7n) bytes.push(Number(left & 127n) | 128);
  return Buffer.from([...bytes, Number(left)]);
}
