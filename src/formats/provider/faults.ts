// Provider errors as a ProviderFault. Hosts copy each other's codes and phrases, so one table serves every format.

import { TOO_LONG } from "../../core/errors.ts";
import type { ProviderFault, ResponseReading } from "../format.ts";

/** Also for faults of ours, whose code says nothing of these. */
export function faultOf(message: string, code: string, param = ""): ProviderFault {
  const isTooLong = code === TOO_LONG || SAYS_TOO_LONG.test(message);
  return {
    message,
    // Hosts say it in many words; agents that shorten the conversation then know only this one.
    code: isTooLong ? TOO_LONG : code,
    param,
    isTooLong,
    isUnpaid: UNPAID_CODE.test(code) || UNPAID.test(message),
    isFieldRefused: FIELD_REFUSED.test(code),
    mentionsBilling: BILLING.test(code),
  };
}

const SAYS_TOO_LONG =
  /(?:prompt|input) is too long|context (?:window|limit|length|size)|too many tokens|maximum number of tokens|maximum prompt length|model token limit|reduce the length of the messages/i;
// Anthropic says with a 400 that the operator has not paid, OpenAI with a 429, and others may do either.
const UNPAID_CODE = /^(?:insufficient_(?:quota|balance|funds|credits?)|billing_\w+|payment_required)$/;
const UNPAID =
  /(?:credit )?balance is too low|insufficient (?:account )?(?:balance|funds|credits?)\b|billing (?:hard )?limit|check your (?:plan and )?billing|exceeded your current quota/i;
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
