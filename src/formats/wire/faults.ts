// Provider errors as a ProviderFault. Hosts copy each other's codes and phrases, so one table serves every format.

import type { ProviderFault, ResponseReading } from "../format.ts";

/** Also for faults of ours, whose code says nothing of these. */
export function faultOf(message: string, code: string, param = ""): ProviderFault {
  return {
    message,
    code,
    param,
    isTooLong: code === "context_length_exceeded" || TOO_LONG.test(message),
    isUnpaid: code === "insufficient_quota" || UNPAID.test(message),
    isFieldRefused: FIELD_REFUSED.test(code),
    mentionsBilling: BILLING.test(code),
  };
}

const TOO_LONG =
  /prompt is too long|maximum context length|context (?:window|limit)|too many tokens|maximum number of tokens/i;
// Anthropic says with a 400 that the operator has not paid, OpenAI with a 429, and others may do either.
const UNPAID = /credit balance is too low|billing hard limit|exceeded your current quota/i;
const FIELD_REFUSED = /unsupported_(parameter|value)|unknown_parameter|extra_forbidden/;
const BILLING = /insufficient_quota|billing/i;

/** A body without a JSON object in it: its beginning is all there is to say. */
export function plainFault(bytes: Buffer): ProviderFault {
  return faultOf(bytes.toString("utf8", 0, PLAIN_BYTES_MAX), "");
}

const PLAIN_BYTES_MAX = 300;

/** A response that came with a success and cannot be used. */
export function unreadable(message: string): ResponseReading {
  return { ok: false, fault: faultOf(message, "unreadable_answer") };
}

/** A stream with an event that cannot be read. */
export function unreadableStream(message: string): ProviderFault {
  return faultOf(message, "unreadable_stream");
}
