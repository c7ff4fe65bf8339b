// Writes the events of a Messages stream as one of AWS's event streams, as Bedrock sends them: each event is a message with
// headers and two checksums, and its payload holds the event in base64.

import { crc32 } from "node:zlib";
import { isObject, type JsonObject, toText } from "../json/fields.ts";

export const AWS_EVENT_STREAM = "application/vnd.amazon.eventstream";

const PRELUDE_BYTES = 12;
const CHECKSUM_BYTES = 4;
const TEXT_TYPE = 7;
const DATA = /^data: (.*)$/gm;

/** `text`: whole server-sent events. Silence has no message of its own. */
export function writeAwsEvents(text: string): Buffer {
  return Buffer.concat([...text.matchAll(DATA)].map(([, data = ""]) => writeEvent(data)));
}

function writeEvent(data: string): Buffer {
  const event: unknown = JSON.parse(data);
  if (isObject(event) && event.type === "error") return writeFailure(event);
  const payload = { bytes: Buffer.from(data).toString("base64") };
  return message({ ":event-type": "chunk", ":content-type": JSON_TYPE, ":message-type": "event" }, payload);
}

const JSON_TYPE = "application/json";

/** Ends the stream. AWS's clients throw it, by its type. */
function writeFailure({ error }: JsonObject): Buffer {
  const headers = { ":exception-type": "modelStreamErrorException", ":content-type": JSON_TYPE };
  return message(
    { ...headers, ":message-type": "exception" },
    { message: isObject(error) ? toText(error.message) : "" },
  );
}

function message(headers: Readonly<Record<string, string>>, payload: JsonObject): Buffer {
  const head = Buffer.concat(Object.entries(headers).map(header));
  const body = Buffer.from(JSON.stringify(payload));
  const bytes = Buffer.alloc(PRELUDE_BYTES + head.length + body.length + CHECKSUM_BYTES);
  bytes.writeUInt32BE(bytes.length, 0);
  bytes.writeUInt32BE(head.length, 4);
  bytes.writeUInt32BE(crc32(bytes.subarray(0, 8)), 8);
  head.copy(bytes, PRELUDE_BYTES);
  body.copy(bytes, PRELUDE_BYTES + head.length);
  const end = bytes.length - CHECKSUM_BYTES;
  bytes.writeUInt32BE(crc32(bytes.subarray(0, end)), end);
  return bytes;
}

function header([name, value]: readonly [string, string]): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(value.length);
  return Buffer.concat([
    Buffer.from([name.length]),
    Buffer.from(name),
    Buffer.from([TEXT_TYPE]),
    length,
    Buffer.from(value),
  ]);
}
