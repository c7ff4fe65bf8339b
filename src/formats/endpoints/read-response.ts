// Reads an answer of an endpoint other than chat from a provider's bytes. Vectors are long, so only what is small is
// parsed: the counts, the model, and an error in place of an answer.

import type { Usage } from "../../core/chat.ts";
import type { FormatName } from "../../core/model.ts";
import type { ResponseReading } from "../format.ts";
import { isObject } from "../json/fields.ts";
import { parseObject, scanText } from "../json/parse.ts";
import { readFault } from "../openai-chat/errors.ts";
import { readUsage } from "../openai-chat/usage.ts";
import { unreadable } from "../provider/faults.ts";
import { type JsonSource, rawValue } from "../scan/scan.ts";

const EMPTY_LIST = /^\[\s*\]$/;
/** The longest empty list that is recognised as one. */
const EMPTY_LIST_BYTES = 16;

/** `lists`: the names under which the results may stand. Without any, the attempt has failed. */
export function readAnswer(
  bytes: Buffer,
  format: FormatName,
  lists: readonly string[],
  usageOf: (source: JsonSource) => Usage | null = countedIn,
): ResponseReading {
  const source = scanText(bytes);
  if (source === null) return unreadable("the answer is not a JSON object");
  if ((rawValue(source, "error")?.toString() ?? "null") !== "null") {
    return { ok: false, fault: readFault(parseObject(bytes) ?? {}) };
  }
  if (!lists.some((name) => isFullList(rawValue(source, name)))) {
    return unreadable(`the answer has no ${lists.join(" or ")}`);
  }
  const completion = { model: readField(source, "model") };
  const usage = usageOf(source);
  return {
    ok: true,
    response: { completion, usage, outputText: "", native: { format, source }, toolCallIds: () => [] },
  };
}

function isFullList(raw: Buffer | null): boolean {
  if (raw === null || raw[0] !== 0x5b) return false;
  return raw.length > EMPTY_LIST_BYTES || !EMPTY_LIST.test(raw.toString("latin1"));
}

/** Hosts that write nothing count one kind of tokens, under one of several names. A count of none is none. */
function countedIn(source: JsonSource): Usage | null {
  const usage = readField(source, "usage");
  const meta = readField(source, "meta");
  const counts = isObject(usage) ? usage : isObject(meta) && isObject(meta.tokens) ? meta.tokens : {};
  const tokens = counts.prompt_tokens ?? counts.input_tokens ?? counts.total_tokens ?? 0;
  return tokens === 0 ? null : readUsage({ usage: { prompt_tokens: tokens, completion_tokens: 0 } });
}

export function readField(source: JsonSource, name: string): unknown {
  try {
    return JSON.parse(rawValue(source, name)?.toString("utf8") ?? "null");
  } catch {
    return null;
  }
}
