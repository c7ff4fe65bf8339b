// Bedrock's errors as a ProviderFault. A body has a message and little else; in a stream, the type of the event says more.

import type { ProviderFault } from "../format.ts";
import { isObject, type JsonObject, toText } from "../json/fields.ts";
import { parseObject } from "../json/parse.ts";
import { faultOf, plainFault } from "../provider/faults.ts";

/** Named in `refusedFields`, no cache points are written. */
export const CACHE_POINTS = "cachePoint";
/** Named in `refusedFields`, instructions become a part of the first turn. */
export const SYSTEM = "system";

/** The body of a response whose status says that it failed. */
export function readConverseError(bytes: Buffer): ProviderFault {
  const body = parseObject(bytes);
  return body === null ? plainFault(bytes) : readConverseFault(body);
}

/** `type`: as a stream names the exception. */
export function readConverseFault(body: JsonObject, type = ""): ProviderFault {
  const { message, Message, originalMessage, __type: named } = body;
  const error = isObject(body.error) ? body.error : {};
  const text = toText(originalMessage ?? message ?? Message ?? error.message ?? "");
  const refused = refusedPart(text);
  // Names may have a namespace before `#`.
  const code = type === "" ? toText(named ?? "").replace(/^.*#/, "") : type;
  const fault = refused === null ? faultOf(text, code) : faultOf(text, "unsupported_parameter", refused);
  return { ...fault, isGatewayRefused: GATEWAY_REFUSED.test(text) };
}

// With a status of 400, as if the request were at fault: the operator chose a name that this region does not have.
const GATEWAY_REFUSED =
  /model identifier is invalid|on-demand throughput isn.t supported|inference profile.{0,40}(?:not found|does not exist)/i;

const REFUSALS: readonly (readonly [RegExp, string | null])[] = [
  [/prompt caching|cachePoint/i, CACHE_POINTS],
  [/doesn.t support system messages/i, SYSTEM],
  [/doesn.t support the (?:model )?([A-Za-z]+(?:\.[A-Za-z]+)*) field/, null],
];

/** The format names what it refuses in the message only. */
function refusedPart(message: string): string | null {
  for (const [pattern, part] of REFUSALS) {
    const match = pattern.exec(message);
    if (match !== null) return part ?? match[1] ?? null;
  }
  return null;
}
