// Google's errors as a ProviderFault. The details say more than the status: which key was refused, and how long to wait.

import type { ProviderFault } from "../../format.ts";
import { isObject, type JsonObject, objectsIn, toText } from "../../json/fields.ts";
import { faultOf, plainFault } from "../../provider/faults.ts";
import { readDelayMs } from "../../provider/retry-after.ts";
import { camelName } from "../to-chat/parse.ts";

/** Parts of a request that are no top-level field of it; named in `refusedFields` they are left out like one. */
export const CONFIG = "generationConfig.";
export const PENALTIES = `${CONFIG}penalties`;
export const SIGNATURES = "contents.thoughtSignature";
export const INSTRUCTION = "systemInstruction";

/** The body of a response whose status says that it failed. A stream's error may come as a list of one. */
export function readGeminiError(bytes: Buffer): ProviderFault {
  try {
    const value: unknown = JSON.parse(bytes.toString("utf8"));
    const body: unknown = Array.isArray(value) ? value[0] : value;
    if (isObject(body)) return readGeminiFault(body);
  } catch {
    // A proxy's page of HTML, or nothing at all.
  }
  return plainFault(bytes);
}

/** The same error in a body or in an event of a stream. */
export function readGeminiFault(body: JsonObject): ProviderFault {
  const error = isObject(body.error) ? body.error : body;
  const message = typeof body.error === "string" ? body.error : toText(error.message ?? "");
  const details = objectsIn(error.details);
  const reason = details.find(isErrorInfo)?.reason;
  const status = toText(error.status ?? error.code ?? "");
  const refused = status === "INVALID_ARGUMENT" ? refusedPart(message) : null;
  const fault =
    refused === null
      ? faultOf(message, typeof reason === "string" ? reason : status)
      : faultOf(message, "unsupported_parameter", refused);
  return {
    ...fault,
    // Gemini words every rate limit as other providers word an empty balance.
    isUnpaid: UNPAID.test(message),
    isGatewayRefused: GATEWAY_REFUSED.test(`${toText(reason)} ${message}`),
    retryAfterMs: waitIn(details) ?? readDelayMs(RETRY_IN.exec(message)?.[1] ?? ""),
  };
}

const UNPAID = /credits? (?:are|is) depleted|prepa(?:id|yment)|spend(?:ing)? cap|enable billing/i;
// With a status of 400, as if the request were at fault.
const GATEWAY_REFUSED = /API_KEY_INVALID|API key (?:not valid|expired)|location is not supported/i;
const RETRY_IN = /retry in (\d+(?:\.\d+)?(?:ms|s))/i;

function isErrorInfo({ "@type": type }: JsonObject): boolean {
  return toText(type).endsWith("google.rpc.ErrorInfo");
}

function waitIn(details: readonly JsonObject[]): number | null {
  const info = details.find(({ "@type": type }) => toText(type).endsWith("google.rpc.RetryInfo"));
  return typeof info?.retryDelay === "string" ? readDelayMs(info.retryDelay) : null;
}

// The format names what it refuses in the message only.
const REFUSALS: readonly (readonly [RegExp, string])[] = [
  [/thought[_ ]?signature/i, SIGNATURES],
  [
    /thinking[_ ]?(?:level|budget|config)|thinking is not (?:supported|enabled)|only works in thinking mode/i,
    `${CONFIG}thinkingConfig`,
  ],
  [/budget \d+ is invalid/i, `${CONFIG}thinkingConfig`],
  [/(?:developer|system) instruction is not (?:enabled|supported)/i, INSTRUCTION],
  [/penalty is not (?:enabled|supported)/i, PENALTIES],
];
const UNKNOWN_NAME = /Unknown name "([A-Za-z_]+)"(?: at '([a-z_]+)')?: Cannot find field/;

function refusedPart(message: string): string | null {
  const known = REFUSALS.find(([pattern]) => pattern.test(message));
  if (known !== undefined) return known[1];
  const [, name, place] = UNKNOWN_NAME.exec(message) ?? [];
  if (name === undefined) return null;
  if (place === undefined) return name;
  return place === "generation_config" ? CONFIG + camelName(name) : null;
}
