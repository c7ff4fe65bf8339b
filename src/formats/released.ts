// A long request while a provider answers. Its messages are let go: they are most of what a request holds, and the
// collector would copy them again and again. A later reader gets them from its bytes.

import { isUndecoded } from "../core/chat.ts";
import type { CallFormat, ClientRequest } from "./format.ts";
import type { Spoken } from "./passage.ts";
import { parseFields } from "./wire/body-fields.ts";
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
  for (const name of historyFields) if (body[name] !== undefined) defer(body, name, () => read().body[name]);
  defer(chat, "messages", () => read().chat.messages);
}

/** Decoded or not, as it was before. */
function readAgain(format: CallFormat, { source, body, headers, target }: ClientRequest): ClientRequest {
  const scanned = scanBody(source.bytes);
  const byFields = isUndecoded(body) && format.undecoded ? parseFields(scanned, format.undecoded) : null;
  return format.readRequest(source, byFields ?? parseText(decodeBody(scanned)), { headers, target });
}

function defer(holder: object, name: string, get: () => unknown): void {
  Object.defineProperty(holder, name, { get, enumerable: true, configurable: true });
}
