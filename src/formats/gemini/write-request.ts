// A Gemini request for a provider that speaks the format. It is the client's own request with the necessary changes, or
// one converted from chat-completions.

import type { ChatRequest } from "../../core/chat.ts";
import type { HostedModel } from "../../core/model.ts";
import { Conversion, unconvertible } from "../convert/conversion.ts";
import type { Outgoing, ProviderRequest, SentRequest } from "../format.ts";
import { isObject, type JsonObject } from "../json/fields.ts";
import { spliceBody } from "../json/splice.ts";
import { isControlField } from "../service/controls.ts";
import { writeConfig } from "./from-chat/config.ts";
import { writeContents } from "./from-chat/contents.ts";
import { textPart } from "./from-chat/parts.ts";
import { writeTools } from "./from-chat/tools.ts";
import { adaptConfig, adaptContents, configNames } from "./native.ts";
import { CONFIG, INSTRUCTION, SIGNATURES } from "./read/error.ts";
import type { GeminiContent, Part } from "./shape.ts";
import { camelFields, camelName } from "./to-chat/parse.ts";

/** A client's own request: its bytes, but for what this model would refuse. */
export function passGeminiRequest(outgoing: Outgoing): ProviderRequest {
  const { request, model } = outgoing;
  const { body, source, chat } = request;
  const conversion = new Conversion();
  const changes = new Map<string, string | null>();
  for (const [name, value] of Object.entries(outgoing.added ?? {})) changes.set(name, JSON.stringify(value));
  const refusedSet = new Set(refusedNames(outgoing).map(camelName));
  const names = Object.keys(body);
  const refused = names.filter((name) => refusedSet.has(camelName(name)));
  for (const name of names) {
    const isTwin = camelName(name) !== name && body[camelName(name)] !== undefined;
    const isOurs = isControlField(name, body[name]) || camelName(name) === "serviceTier";
    if (isOurs || name === "model" || isTwin) changes.set(name, null);
  }
  for (const [name, value] of Object.entries(outgoing.tierFields ?? {})) changes.set(name, JSON.stringify(value));
  for (const name of refused) changes.set(name, null);
  conversion.leaveOut(refused);
  const config = adaptConfig(body, outgoing, conversion);
  if (config !== null) changes.set("generation_config", null).set("generationConfig", JSON.stringify(config));
  const contents = adaptContents(body.contents, outgoing, conversion);
  if (contents !== body.contents) changes.set("contents", JSON.stringify(contents));
  return {
    path: pathOf(model, chat),
    body: changes.size === 0 ? source.bytes : spliceBody(source, changes),
    droppedFields: refused,
    ...noted(conversion),
  };
}

/** A request in the internal shape. */
export function writeGeminiRequest(outgoing: Outgoing): ProviderRequest {
  const { request, model, refusedFields } = outgoing;
  const conversion = new Conversion();
  const refused = refusedNames(outgoing).filter((name) => (request.body[name] ?? null) !== null);
  conversion.leaveOut(refused);
  const body = without(request.body, refused);
  const stripsSignatures = refusedFields.includes(SIGNATURES);
  const { system, contents } = writeContents(request.chat.messages, { model, conversion, stripsSignatures });
  const tools = writeTools(body, conversion);
  const hasTools = tools.tools !== undefined;
  const written = writeConfig({ ...outgoing, request: { ...request, body }, hasTools }, conversion);
  if (conversion.refusals.length > 0) throw unconvertible(conversion.refusals);
  const instructions = [...system, ...written.instructions.flatMap(textPart)];
  const config = without(written.config, configNames(refusedFields));
  const sent: JsonObject = {
    ...placed(instructions, contents, refusedFields.includes(INSTRUCTION)),
    ...tools,
    ...(Object.keys(config).length === 0 ? {} : { generationConfig: config }),
    ...outgoing.tierFields,
  };
  return {
    path: pathOf(model, request.chat),
    body: Buffer.from(JSON.stringify(sent)),
    droppedFields: [...refused, ...written.dropped],
    ...noted(conversion),
  };
}

/** Some small models take instructions only as a part of the first turn. */
function placed(instructions: readonly Part[], contents: readonly GeminiContent[], isRefused: boolean): JsonObject {
  if (instructions.length === 0) return { contents };
  if (!isRefused) return { systemInstruction: { parts: instructions }, contents };
  const [first, ...others] = contents as readonly [GeminiContent, ...GeminiContent[]];
  return { contents: [{ ...first, parts: [...instructions, ...first.parts] }, ...others] };
}

/** A name with a folder, such as a tuned model's, is taken as it is. */
export function pathTo({ upstream }: HostedModel, method: string): string {
  const name = upstream.includes("/") ? upstream : `models/${upstream}`;
  return `/${name.split("/").map(encodeURIComponent).join("/")}:${method}`;
}

function pathOf(model: HostedModel, { isStream }: ChatRequest): string {
  return pathTo(model, isStream ? "streamGenerateContent?alt=sse" : "generateContent");
}

function noted({ notes }: Conversion): Pick<ProviderRequest, "conversions"> {
  return notes.length === 0 ? {} : { conversions: notes };
}

/** Top-level fields of either format. */
function refusedNames({ model, refusedFields }: Outgoing): readonly string[] {
  return [...model.dialect.refuses, ...refusedFields];
}

function without(object: JsonObject, names: readonly string[]): JsonObject {
  if (names.length === 0) return object;
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));
}

/** Without one of these the answer would not be what was asked for. */
const ESSENTIAL: ReadonlySet<string> = new Set([
  ...["contents", "tools", "toolConfig", "safetySettings", "cachedContent", INSTRUCTION],
  ...["candidateCount", "responseMimeType", "responseSchema", "responseJsonSchema", "responseModalities"].map(
    (name) => CONFIG + name,
  ),
]);

export function mayLeaveOut(field: string, { body, isNative }: SentRequest): boolean {
  if (field === SIGNATURES || (field === INSTRUCTION && !isNative)) return true;
  if (ESSENTIAL.has(field)) return false;
  if (!isNative) return field.startsWith(CONFIG);
  const fields = camelFields(body);
  const { generationConfig: config } = fields;
  if (!field.startsWith(CONFIG)) return fields[camelName(field)] !== undefined;
  const given = isObject(config) ? camelFields(config) : {};
  // The gateway may have written this one.
  if (field === `${CONFIG}thinkingConfig`) return true;
  return configNames([field]).some((name) => given[name] !== undefined);
}
