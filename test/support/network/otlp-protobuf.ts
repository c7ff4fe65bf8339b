// Reads OTLP requests in protobuf into the shape that they have as JSON, by the field numbers of opentelemetry-proto. It
// knows the fields that our exports use, and fails on any other, so that nothing goes out unseen.

type Kind = "string" | "id" | "bool" | "int" | "enum" | "double" | "fixed64" | "fixed32" | Message;

interface Message {
  readonly [number: number]: readonly [name: string, kind: Kind | (() => Message), isRepeated?: "repeated" | "packed"];
}

const VALUE: Message = {
  1: ["stringValue", "string"],
  2: ["boolValue", "bool"],
  3: ["intValue", "int"],
  4: ["doubleValue", "double"],
  5: ["arrayValue", () => ({ 1: ["values", VALUE, "repeated"] })],
};
const PAIR: Message = { 1: ["key", "string"], 2: ["value", VALUE] };
const RESOURCE: Message = { 1: ["attributes", PAIR, "repeated"], 2: ["droppedAttributesCount", "enum"] };
const SCOPE: Message = { 1: ["name", "string"], 2: ["version", "string"] };

const SPAN: Message = {
  1: ["traceId", "id"],
  2: ["spanId", "id"],
  4: ["parentSpanId", "id"],
  5: ["name", "string"],
  6: ["kind", "enum"],
  7: ["startTimeUnixNano", "fixed64"],
  8: ["endTimeUnixNano", "fixed64"],
  9: ["attributes", PAIR, "repeated"],
  10: ["droppedAttributesCount", "enum"],
  12: ["droppedEventsCount", "enum"],
  14: ["droppedLinksCount", "enum"],
  15: ["status", { 2: ["message", "string"], 3: ["code", "enum"] }],
  16: ["flags", "fixed32"],
};
const NUMBER_POINT: Message = {
  2: ["startTimeUnixNano", "fixed64"],
  3: ["timeUnixNano", "fixed64"],
  4: ["asDouble", "double"],
  7: ["attributes", PAIR, "repeated"],
};
const HISTOGRAM_POINT: Message = {
  2: ["startTimeUnixNano", "fixed64"],
  3: ["timeUnixNano", "fixed64"],
  4: ["count", "fixed64"],
  5: ["sum", "double"],
  6: ["bucketCounts", "fixed64", "packed"],
  7: ["explicitBounds", "double", "packed"],
  9: ["attributes", PAIR, "repeated"],
};
const METRIC: Message = {
  1: ["name", "string"],
  2: ["description", "string"],
  3: ["unit", "string"],
  5: ["gauge", { 1: ["dataPoints", NUMBER_POINT, "repeated"] }],
  7: [
    "sum",
    { 1: ["dataPoints", NUMBER_POINT, "repeated"], 2: ["aggregationTemporality", "enum"], 3: ["isMonotonic", "bool"] },
  ],
  9: ["histogram", { 1: ["dataPoints", HISTOGRAM_POINT, "repeated"], 2: ["aggregationTemporality", "enum"] }],
};
const LOG_RECORD: Message = {
  1: ["timeUnixNano", "fixed64"],
  2: ["severityNumber", "enum"],
  3: ["severityText", "string"],
  5: ["body", VALUE],
  6: ["attributes", PAIR, "repeated"],
  7: ["droppedAttributesCount", "enum"],
  8: ["flags", "fixed32"],
  9: ["traceId", "id"],
  10: ["spanId", "id"],
  11: ["observedTimeUnixNano", "fixed64"],
  12: ["eventName", "string"],
};

const batch = (name: string, scopes: string, items: string, item: Message): Message => ({
  1: [
    name,
    { 1: ["resource", RESOURCE], 2: [scopes, { 1: ["scope", SCOPE], 2: [items, item, "repeated"] }, "repeated"] },
    "repeated",
  ],
});

/** By the end of the path. */
const REQUESTS: Readonly<Record<string, Message>> = {
  traces: batch("resourceSpans", "scopeSpans", "spans", SPAN),
  metrics: batch("resourceMetrics", "scopeMetrics", "metrics", METRIC),
  logs: batch("resourceLogs", "scopeLogs", "logRecords", LOG_RECORD),
};

export function readOtlpProtobuf(signal: string, body: Buffer): unknown {
  const schema = REQUESTS[signal];
  if (schema === undefined) throw new Error(`no signal ${signal}`);
  return readMessage(body, schema);
}

function readMessage(bytes: Buffer, schema: Message): Record<string, unknown> {
  const read: Record<string, unknown> = {};
  let at = 0;
  while (at < bytes.length) {
    const tag = readVarint(bytes, at);
    at = tag.next;
    const row = schema[Number(tag.value >> 3n)];
    if (row === undefined) throw new Error(`unknown field ${tag.value >> 3n} beside ${JSON.stringify(schema)}`);
    const [name, kind, repeated] = row;
    const { value, next } = readField(bytes, at, Number(tag.value & 7n));
    at = next;
    if (repeated === "packed") read[name] = unpacked(value as Buffer, kind);
    else if (repeated === "repeated") read[name] = [...((read[name] as unknown[]) ?? []), told(value, kind)];
    else read[name] = told(value, kind);
  }
  return read;
}

type Raw = bigint | Buffer;

function readField(bytes: Buffer, at: number, wire: number): { value: Raw; next: number } {
  if (wire === 0) return readVarint(bytes, at);
  if (wire === 1) return { value: bytes.subarray(at, at + 8), next: at + 8 };
  if (wire === 5) return { value: bytes.subarray(at, at + 4), next: at + 4 };
  if (wire !== 2) throw new Error(`wire type ${wire}`);
  const { value: length, next } = readVarint(bytes, at);
  return { value: bytes.subarray(next, next + Number(length)), next: next + Number(length) };
}

function readVarint(bytes: Buffer, at: number): { value: bigint; next: number } {
  let value = 0n;
  for (let place = at, shift = 0n; ; place += 1, shift += 7n) {
    const byte = bytes[place];
    if (byte === undefined) throw new Error("the message is cut off");
    value |= BigInt(byte & 0x7f) << shift;
    if (byte < 0x80) return { value, next: place + 1 };
  }
}

function unpacked(value: Buffer, kind: Kind | (() => Message)): unknown[] {
  return Array.from({ length: value.length / 8 }, (_, place) => told(value.subarray(place * 8, place * 8 + 8), kind));
}

function told(value: Raw, kind: Kind | (() => Message)): unknown {
  if (typeof kind === "function") return readMessage(value as Buffer, kind());
  if (typeof kind === "object") return readMessage(value as Buffer, kind);
  if (kind === "string") return (value as Buffer).toString("utf8");
  if (kind === "id") return (value as Buffer).toString("hex");
  if (kind === "bool") return value === 1n;
  if (kind === "int") return Number(BigInt.asIntN(64, value as bigint));
  if (kind === "double") return (value as Buffer).readDoubleLE();
  if (kind === "fixed64") return String((value as Buffer).readBigUInt64LE());
  if (kind === "fixed32") return (value as Buffer).readUInt32LE();
  return Number(value);
}
