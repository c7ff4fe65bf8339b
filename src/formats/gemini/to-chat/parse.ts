// A Gemini request with one spelling of each field. Google takes camelCase and snake_case, and one object where a list is
// meant. What the gateway reads is checked here, and nothing else.

import { OUTPUT_TOKENS_MAX } from "../../../core/chat.ts";
import {
  invalid,
  isObject,
  isTexts,
  type JsonObject,
  readBoolean,
  readChoice,
  readInteger,
  readNumber,
  readObject,
  readString,
} from "../../json/fields.ts";
import { isControlField } from "../../service/controls.ts";
import type { GeminiContent, Part } from "../shape.ts";

/** Everything that is read of a body. Fields inside arguments, results and schemas stay as they are. */
export interface GeminiRequest {
  readonly contents: readonly GeminiContent[];
  readonly system: readonly Part[];
  readonly tools: readonly JsonObject[];
  readonly calling: JsonObject;
  readonly config: JsonObject;
  readonly thinking: JsonObject;
  /** The top-level fields in camelCase. */
  readonly fields: JsonObject;
}

/** Google's own examples send the results of calls as `tool`, older ones as `function`. */
export const CONTENT_ROLES = ["user", "model", "tool", "function"] as const;
/** The vendor's documented limit; more would multiply the hold. */
export const CANDIDATES_MAX = 8;
export const TOP_LOGPROBS_MAX = 20;
export const CALLING_MODES = ["MODE_UNSPECIFIED", "AUTO", "ANY", "NONE", "VALIDATED"] as const;

/** Throws what is wrong with the body, by field; Behaviour 4. */
export function parseRequest(body: JsonObject): GeminiRequest {
  const prompt = parsePrompt(body);
  const config = readFields(prompt.fields, "generationConfig");
  checkConfig(config);
  const thinking = readFields(config, "thinkingConfig");
  readInteger(thinking, "thinkingBudget", { min: -1, max: OUTPUT_TOKENS_MAX });
  readString(thinking, "thinkingLevel");
  readBoolean(thinking, "includeThoughts");
  const calling = readFields(readFields(prompt.fields, "toolConfig"), "functionCallingConfig");
  readChoice(calling, "mode", CALLING_MODES);
  checkNames(calling, "allowedFunctionNames");
  return { ...prompt, config, thinking, calling };
}

/** Reads the fields that counting needs. */
export function parsePrompt(body: JsonObject): Pick<GeminiRequest, "contents" | "system" | "tools" | "fields"> {
  const fields = camelFields(body);
  const { systemInstruction: system } = fields;
  return {
    contents: readContents(fields.contents),
    system: isSet(system) ? readSystem(system) : [],
    tools: readTools(fields.tools),
    fields,
  };
}

/** The object with its own names in camelCase, but for our own. Where both spellings are given, camelCase counts. */
export function camelFields(object: JsonObject): JsonObject {
  const isSnake = (name: string): boolean => name.includes("_") && !isControlField(name);
  const names = Object.keys(object).filter(isSnake);
  if (names.length === 0) return object;
  const renamed = names.map((name) => [camelName(name), object[name]]);
  const others = Object.entries(object).filter(([name]) => !isSnake(name));
  return Object.fromEntries([...renamed, ...others]);
}

/** A field's name in Google's main spelling; also of names in its errors. */
export function camelName(name: string): string {
  return name.includes("_") ? name.replace(/_([a-z])/g, toUpper) : name;
}

function toUpper(_match: string, letter: string): string {
  return letter.toUpperCase();
}

/** Tells whether the client wants to read the model's thoughts. */
export function wantsThoughts(body: JsonObject): boolean {
  const { generationConfig: config } = camelFields(body);
  const { thinkingConfig: thinking } = isObject(config) ? camelFields(config) : {};
  return isObject(thinking) && camelFields(thinking).includeThoughts === true;
}

export function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** One object stands for a list of one. */
function listOf(value: unknown, place: string): readonly unknown[] {
  if (!isSet(value)) return [];
  if (Array.isArray(value)) return value;
  if (isObject(value)) return [value];
  throw invalid(place, `'${place}' must be an array of objects.`);
}

function objectAt(value: unknown, place: string): JsonObject {
  if (isObject(value)) return camelFields(value);
  throw invalid(place, `'${place}' must be an object.`);
}

function readFields(fields: JsonObject, name: string): JsonObject {
  const value = fields[name] ?? null;
  return value === null ? {} : objectAt(value, name);
}

function readContents(value: unknown): readonly GeminiContent[] {
  const contents = listOf(value, "contents");
  if (contents.length === 0) throw invalid("contents", "'contents' is missing or empty. Send at least one content.");
  return contents.map((content, index) => readContent(content, `contents[${index}]`));
}

function readContent(value: unknown, place: string): GeminiContent {
  const content = objectAt(value, place);
  const role = content.role ?? "user";
  if (!CONTENT_ROLES.includes(role as "user")) {
    throw invalid(`${place}.role`, `'${place}.role' must be one of ${CONTENT_ROLES.join(", ")}.`);
  }
  return { role: role === "model" ? "model" : "user", parts: readParts(content.parts, `${place}.parts`) };
}

/** Plain text is taken too, as clients may send it. */
function readSystem(value: unknown): readonly Part[] {
  if (typeof value === "string") return [{ text: value }];
  return readParts(objectAt(value, "systemInstruction").parts, "systemInstruction.parts");
}

function readParts(value: unknown, place: string): readonly Part[] {
  return listOf(value, place).map((part, index) => readPart(part, `${place}[${index}]`));
}

/** Fields of a part that are objects, and the texts that each must have. */
const PART_OBJECTS: readonly (readonly [name: string, texts: readonly string[]])[] = [
  ["inlineData", ["mimeType", "data"]],
  ["fileData", ["fileUri"]],
  ["functionCall", ["name"]],
  ["functionResponse", ["name"]],
  ["executableCode", []],
  ["codeExecutionResult", []],
];

function readPart(value: unknown, place: string): Part {
  const part: Record<string, unknown> = { ...objectAt(value, place) };
  checkText(part, "text", place);
  checkText(part, "thoughtSignature", place);
  for (const [name, texts] of PART_OBJECTS) {
    if (!isSet(part[name])) continue;
    const inner = objectAt(part[name], `${place}.${name}`);
    for (const text of texts) {
      if (!isSet(inner[text])) throw invalid(`${place}.${name}.${text}`, `'${place}.${name}.${text}' is missing.`);
      checkText(inner, text, `${place}.${name}`);
    }
    part[name] = isSet(inner.parts) ? { ...inner, parts: readParts(inner.parts, `${place}.${name}.parts`) } : inner;
  }
  checkPayload(part.functionCall, "args", `${place}.functionCall`);
  checkPayload(part.functionResponse, "response", `${place}.functionResponse`);
  return part;
}

function checkText(object: JsonObject, name: string, place: string): void {
  if (isSet(object[name]) && typeof object[name] !== "string") {
    throw invalid(`${place}.${name}`, `'${place}.${name}' must be a string.`);
  }
}

function checkPayload(value: unknown, name: string, place: string): void {
  const payload = isObject(value) ? (value[name] ?? {}) : {};
  if (!isObject(payload)) throw invalid(`${place}.${name}`, `'${place}.${name}' must be an object.`);
}

function readTools(value: unknown): readonly JsonObject[] {
  return listOf(value, "tools").map((tool, index) => {
    const place = `tools[${index}]`;
    const given = objectAt(tool, place);
    if (!isSet(given.functionDeclarations)) return given;
    return { ...given, functionDeclarations: readDeclarations(given.functionDeclarations, place) };
  });
}

function readDeclarations(value: unknown, place: string): readonly JsonObject[] {
  return listOf(value, `${place}.functionDeclarations`).map((declaration, index) => {
    const at = `${place}.functionDeclarations[${index}]`;
    const given = objectAt(declaration, at);
    if (typeof given.name !== "string") throw invalid(`${at}.name`, `'${at}.name' must be a string.`);
    return given;
  });
}

/** Fields that a conversion reads: checked as their vendor documents them, before anything is held or sent. */
function checkConfig(config: JsonObject): void {
  readNumber(config, "temperature", { min: 0, max: 2 });
  readNumber(config, "topP", { min: 0, max: 1 });
  readNumber(config, "topK", { min: 0, max: Number.MAX_SAFE_INTEGER });
  readInteger(config, "maxOutputTokens", { min: 1, max: OUTPUT_TOKENS_MAX });
  readInteger(config, "candidateCount", { min: 1, max: CANDIDATES_MAX });
  readInteger(config, "seed", { min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER });
  readNumber(config, "presencePenalty", { min: -2, max: 2 });
  readNumber(config, "frequencyPenalty", { min: -2, max: 2 });
  readBoolean(config, "responseLogprobs");
  readInteger(config, "logprobs", { min: 0, max: TOP_LOGPROBS_MAX });
  checkNames(config, "stopSequences");
  checkNames(config, "responseModalities");
  readString(config, "responseMimeType");
  readObject(config, "responseSchema");
  readObject(config, "responseJsonSchema");
}

function checkNames(fields: JsonObject, name: string): void {
  if (!isTexts(fields[name] ?? [])) throw invalid(name, `'${name}' must be an array of strings.`);
}
