// Reads `dialect:` of a provider or model: how a server differs from plain chat-completions.

import type { Dialect } from "../core/model.ts";
import { EFFORTS } from "../core/requests/effort.ts";
import type { Located } from "./located.ts";
import { listOf, oneOf, type Reader, reject, shape, text, truth } from "./readers.ts";
import type { Report } from "./report.ts";

const OUTPUT_CAPS: readonly Dialect["outputCap"][] = ["as-sent", "max_tokens", "max_completion_tokens"];
const TOOL_IDS: readonly Dialect["toolIds"][] = ["any", "alphanumeric-9", "safe-40"];
const REASONING_HISTORY: readonly NonNullable<Dialect["reasoningHistory"]>[] = ["keep", "drop", "tool-turns"];
const THINKING: readonly NonNullable<Dialect["thinking"]>[] = ["adaptive", "level", "budget", "none"];
const THINKING_OFF: readonly NonNullable<Dialect["thinkingOff"]>[] = ["disabled", "between_tools"];
const FIELD_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const fieldName = text({ test: (value) => FIELD_NAME.test(value), expected: "the name of a request field" });

export const dialectChanges: Reader<Partial<Dialect>> = shape({
  outputCap: oneOf(OUTPUT_CAPS),
  refuses: listOf(fieldName),
  renames: textMap(FIELD_NAME, "the name of a request field"),
  toolIds: oneOf(TOOL_IDS),
  hasDeveloperRole: truth,
  takesMessageNames: truth,
  takesStreamOptions: truth,
  efforts: listOf(oneOf(EFFORTS)),
  reasoningHistory: oneOf(REASONING_HISTORY),
  needsThoughtSignatures: truth,
  takesTopK: truth,
  takesCacheControl: truth,
  thinking: oneOf(THINKING),
  thinkingOff: oneOf(THINKING_OFF),
  takesForcedTools: truth,
  takesSearchOptions: truth,
  bindsThinking: truth,
  takesPrefill: truth,
  takesSystemInMiddle: truth,
  takesOutputFormat: truth,
  refusesBetas: listOf(text({ test: (value) => /^[\w.-]{1,100}$/.test(value), expected: "the name of a beta" })),
  takesFormatWithTools: truth,
});

/** A mapping whose keys match and whose values are one line of text each. */
export function textMap(keys: RegExp, expectedKey: string): Reader<Readonly<Record<string, string>>> {
  const readValue = text({ test: (value) => !/[\r\n]/.test(value), expected: "one line of text" });
  return (node: Located, report: Report) => {
    if (node.kind !== "mapping") return reject(node, report, "a mapping");
    const outcome: Record<string, string> = {};
    for (const [key, entry] of node.entries) {
      const value = readValue(entry.node, report);
      if (!keys.test(key)) {
        const message = `expected ${expectedKey}, got "${key}"`;
        report.problems.push({ place: entry.keyPlace, message, suggestion: null });
      } else if (value !== undefined) outcome[key] = value;
    }
    return outcome;
  };
}
