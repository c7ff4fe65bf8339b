// A Gemini client's own fields, adapted to one Gemini model: the output cap, the form of thinking, and the signatures
// that it asks for or would refuse. What can go as it is stays as it is.

import type { AskedServiceTier } from "../../core/money.ts";
import { type Effort, isEffort } from "../../core/requests/effort.ts";
import type { Conversion } from "../convert/conversion.ts";
import { budgetForEffort, nearestEffort } from "../convert/effort.ts";
import { isSealed } from "../convert/reasoning-details.ts";
import type { Outgoing } from "../format.ts";
import { isObject, type JsonObject, toText } from "../json/fields.ts";
import { SERVICE_TIER } from "../provider/service-tier.ts";
import { amountOf, outputCap, SAME_FIELDS } from "./from-chat/config.ts";
import { CONFIG, PENALTIES, SIGNATURES } from "./read/error.ts";
import { FOREIGN_SIGNATURE, type Part, partsOf } from "./shape.ts";
import { camelFields } from "./to-chat/parse.ts";

/** The changed `generationConfig`, in camelCase; null when nothing changes. */
export function adaptConfig(body: JsonObject, outgoing: Outgoing, conversion: Conversion): JsonObject | null {
  const { generationConfig: config } = camelFields(body);
  const sent: JsonObject = isObject(config) ? config : {};
  const given = camelFields(sent);
  const value: Record<string, unknown> = { ...given };
  const cap = outputCap(given.maxOutputTokens, outgoing);
  if (cap !== null) value.maxOutputTokens = cap;
  for (const field of refusedConfig(outgoing)) {
    if (value[field] === undefined) continue;
    delete value[field];
    conversion.leaveOut([CONFIG + field]);
  }
  if (isObject(value.thinkingConfig)) adaptThinking(value, camelFields(value.thinkingConfig), outgoing, conversion);
  // A field may come in both spellings. Only the one that was read goes out: the provider might take the other.
  const hasTwins = Object.keys(sent).length !== Object.keys(given).length;
  return isSame(given, value) && !hasTwins ? null : value;
}

/** Also fields that the dialect lists under their names in chat-completions. */
function refusedConfig({ model, refusedFields }: Outgoing): readonly string[] {
  return [...configNames(refusedFields), ...model.dialect.refuses.map((name) => SAME_FIELDS[name] ?? name)];
}

/** The fields of `generationConfig` among those that were refused. */
export function configNames(refusedFields: readonly string[]): readonly string[] {
  return refusedFields.flatMap((name) => {
    if (name === PENALTIES) return ["presencePenalty", "frequencyPenalty"];
    return name.startsWith(CONFIG) ? [name.slice(CONFIG.length)] : [];
  });
}

/** Asks for an effort in a client's own request. */
export function effortFields(effort: Effort, { body, model }: Pick<Outgoing, "model"> & { readonly body: JsonObject }) {
  if (model.dialect.thinking === "none") return {};
  const { generationConfig } = camelFields(body);
  const config = isObject(generationConfig) ? camelFields(generationConfig) : {};
  const given = isObject(config.thinkingConfig) ? camelFields(config.thinkingConfig) : {};
  const amount = amountOf(effort, model, (config.maxOutputTokens as number | undefined) ?? null);
  return { generationConfig: { ...config, thinkingConfig: { ...given, ...amount } } };
}

/** Gemini has another name for the usual tier. */
export function tierFields(tier: AskedServiceTier): JsonObject {
  return { [SERVICE_TIER]: tier === "default" ? "standard" : tier };
}

/** Models with budgets know no levels; those with levels still take a budget. */
function adaptThinking(
  config: Record<string, unknown>,
  thinking: JsonObject,
  { model }: Outgoing,
  conversion: Conversion,
): void {
  const { dialect } = model;
  if (dialect.thinking === "none") {
    delete config.thinkingConfig;
    conversion.note("option_dropped", `dropped '${CONFIG}thinkingConfig': it does not think`);
    return;
  }
  const level = toText(thinking.thinkingLevel).toLowerCase();
  if (dialect.thinking !== "budget" || !isEffort(level)) return;
  const { thinkingLevel: _, ...rest } = thinking;
  const thinkingBudget = budgetForEffort(nearestEffort(level, dialect) ?? level);
  config.thinkingConfig = { ...rest, thinkingBudget };
  conversion.note(
    "option_changed",
    `asked for thinking with a budget of ${thinkingBudget} tokens: the model takes no levels`,
  );
}

function isSame(given: JsonObject, value: JsonObject): boolean {
  const names = Object.keys(value);
  return names.length === Object.keys(given).length && names.every((name) => value[name] === given[name]);
}

/** The same value when every signature can go as it is. */
export function adaptContents(contents: unknown, outgoing: Outgoing, conversion: Conversion): unknown {
  if (!Array.isArray(contents)) return contents;
  const rules = {
    needsSignatures: outgoing.model.dialect.needsThoughtSignatures === true,
    stripsSignatures: outgoing.refusedFields.includes(SIGNATURES),
  };
  let isChanged = false;
  const adapted = contents.map((content: unknown) => {
    if (!isObject(content) || content.role !== "model") return content;
    const parts = adaptParts(partsOf(content), rules);
    isChanged ||= parts !== null;
    return parts === null ? content : { ...content, parts };
  });
  if (isChanged) conversion.note("content_converted", "replaced thought signatures that this model did not make");
  return isChanged ? adapted : contents;
}

interface SignatureRules {
  readonly needsSignatures: boolean;
  readonly stripsSignatures: boolean;
}

/** Returns changed contents; null when nothing changes. Only the first of several calls made at once is signed. */
function adaptParts(parts: readonly Part[], { needsSignatures, stripsSignatures }: SignatureRules): Part[] | null {
  const read = parts.map(camelFields);
  const firstCall = read.findIndex(({ functionCall }) => functionCall !== undefined);
  let isChanged = false;
  const adapted = parts.flatMap((part, index) => {
    const { thoughtSignature: signature, ...rest } = read[index] as Part;
    const isForeign = signature !== undefined && (stripsSignatures || isSealed(signature));
    const isUnsigned = signature === undefined || isForeign;
    if (isUnsigned && index === firstCall && needsSignatures) {
      isChanged = true;
      return [{ ...rest, thoughtSignature: FOREIGN_SIGNATURE }];
    }
    if (!isForeign) return [part];
    isChanged = true;
    // A part that only carried the signature, or a thought, says nothing without it.
    return rest.thought === true || rest.text === "" ? [] : [rest];
  });
  return isChanged ? adapted : null;
}
