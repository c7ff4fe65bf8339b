// A provider's errors in the Responses format, read as a ProviderFault. They are those of chat-completions; only
// reasoning that the provider cannot open is told apart, because the request can do without it.

import type { ProviderFault } from "../format.ts";
import { isObject, type JsonObject } from "../json/fields.ts";
import { parseObject } from "../json/parse.ts";
import { readFault } from "../openai-chat/errors.ts";
import { faultOf, plainFault } from "../provider/faults.ts";

/** No field of a request, but named in `refusedFields` it is left out like one. */
export const REASONING_HISTORY = "input.reasoning";

/** The body of a response whose status says that it failed. */
export function readResponsesError(bytes: Buffer): ProviderFault {
  const body = parseObject(bytes);
  return body === null ? plainFault(bytes) : readResponsesFault(body);
}

/** The same error in a body, in an `error` event or in a response that failed. */
export function readResponsesFault(body: JsonObject): ProviderFault {
  const fault = readFault(body);
  const isAboutHistory = fault.code === "invalid_encrypted_content" || HISTORY_REFUSED.test(fault.message);
  return isAboutHistory ? faultOf(fault.message, "unsupported_parameter", REASONING_HISTORY) : fault;
}

// Sealed for another account or model, or no longer beside the item that it belonged to.
const HISTORY_REFUSED =
  /'reasoning' (?:was provided without its required following|item: 'rs_)|encrypted content .{0,400}could not be verified/is;

/** Reads the fault of a response that did not come to an end; some name no reason. */
export function failureOf(response: unknown, event: string): ProviderFault {
  const error = isObject(response) && isObject(response.error) ? response.error : null;
  return error === null ? faultOf(`the provider ended the answer with '${event}'`, "") : readResponsesFault(error);
}
