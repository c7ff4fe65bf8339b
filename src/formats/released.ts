// A long request while a provider answers. Its messages are let go: they are most of what a request holds, and the
// collector would copy them again and again. A later reader gets them from its bytes.

import { isUndecoded } from "../core/chat.ts";
import type { CallFormat, ClientRequest } from "./format.ts";
import type { Spoken } from "./passage.ts";
import { parseFields } from "./wire/body-fields.ts";
import type { JsonObject } from "./wire/fields.ts";
import { decodeBody, parseText, scanBody } from "./wire/json-source.ts";

/** Shorter ones are kept: little is gained. By hand. */
const LONG_BYTES = 16 * 1024;

export function letGo({ format, request }: Spoken): void {
  const { historyFields } = format;
  const { body, chat, source } = request;
  if (historyFields === undefined || source.bytes.length < LONG_BYTES) return;
  let again: ClientRequest | null = null;
  const read = (): ClientRequest => {
    again ??= readAgain(format, request);
    return again;
  };
  defer(body, historyFields, () => read().body);
  defer(chat, CHAT_FIELDS, () => read().chat as object as JsonObject);
}

const CHAT_FIELDS = ["messages"] as const;

/** Decoded or not, as it was before. */
function readAgain(format: CallFormat, { source, body, headers, target }: ClientRequest): ClientRequest {
  const scanned = scanBody(source.bytes);
  const byFields = isUndecoded(body) && format.undecoded ? parseFields(scanned, format.undecoded) : null;
  return format.readRequest(source, byFields ?? parseText(decodeBody(scanned)), { headers, target });
}

const READ: unique symbol = Symbol("read");

interface Released {
  readonly [READ]: () => JsonObject;
}

function defer(holder: object, names: readonly string[], read: () => JsonObject): void {
  Object.defineProperty(holder, READ, { value: read, configurable: true });
  for (const name of names) if (Object.hasOwn(holder, name)) Object.defineProperty(holder, name, laterRead(name));
}

const laterReads = new Map<string, PropertyDescriptor>();

/** One getter for all requests: V8 holds each in its old space, and with it all that a getter of one's own would hold. */
function laterRead(name: string): PropertyDescriptor {
  const known = laterReads.get(name);
  if (known !== undefined) return known;
  const made: PropertyDescriptor = {
    get(this: Released) {
      return this[READ]()[name];
    },
    enumerable: true,
    configurable: true,
  };
  laterReads.set(name, made);
  return made;
}
