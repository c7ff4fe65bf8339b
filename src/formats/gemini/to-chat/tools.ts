// Tools and the choice among them, from Gemini's format to chat-completions.

import { type ChatRequest, searchesHeld, type Tool } from "../../../core/chat.ts";
import { type FetchAsk, fetchesHeld, PAGE_TEXT_BYTES_MAX, type SearchAsk } from "../../../core/search/web-search.ts";
import type { Conversion } from "../../convert/conversion.ts";
import { isObject, type JsonObject, objectsIn, textOrEmpty, toText } from "../../json/fields.ts";
import { shortToolName } from "../../tools/calls.ts";
import { domainsIn } from "../../tools/searches.ts";
import { camelFields, type GeminiRequest } from "./parse.ts";
import { toJsonSchema } from "./schema.ts";

const NO_PARAMETERS: JsonObject = { type: "object", properties: {} };

/** The functions that the model may call, as routing and providers know them. */
export function readFunctions({ tools }: Pick<GeminiRequest, "tools">): readonly Tool[] {
  return declarationsIn(tools).map((declaration) => ({
    name: toText(declaration.name),
    description: textOrEmpty(declaration.description),
    parameters: parametersOf(declaration),
  }));
}

function parametersOf({ parameters, parametersJsonSchema }: JsonObject): JsonObject | null {
  const schema = parametersJsonSchema ?? parameters;
  return isObject(schema) ? toJsonSchema(schema) : null;
}

/** Reasons for Google's own tools: the request has no others. */
export function readToolNeeds({ tools }: Pick<GeminiRequest, "tools">): readonly string[] {
  return declarationsIn(tools).length > 0 ? [] : builtInNames(tools).map(reasonOf);
}

/** The same for tools beside functions: a request without them is still worth an answer. */
export function readToolWishes({ tools, calling }: Pick<GeminiRequest, "tools" | "calling">): readonly string[] {
  return calling.mode === "NONE" || declarationsIn(tools).length === 0 ? [] : builtInNames(tools).map(reasonOf);
}

/** The searches that the hold covers, where Google may search by itself. */
export function searchesIn({
  tools,
  calling,
}: Pick<GeminiRequest, "tools" | "calling">): Pick<ChatRequest, "searches"> {
  const isOffered = calling.mode !== "NONE" && builtInNames(tools).some((name) => SEARCH_TOOLS.has(name));
  return isOffered ? { searches: searchesHeld(null) } : {};
}

/** The search that the request asks for; undefined where it asks for none. */
export function searchAskIn(request: GeminiRequest): SearchAsk | undefined {
  const found = askedOf(request, SEARCH_TOOLS);
  if (found === null) return undefined;
  const { settings, ...asked } = found;
  const blocked = domainsIn(settings.excludeDomains, "excludeDomains");
  return { ...asked, usesMax: searchesHeld(null), domains: { allowed: [], blocked } };
}

/** The pages that the request asks to read. */
export function fetchAskIn(request: GeminiRequest): FetchAsk | undefined {
  const found = askedOf(request, FETCH_TOOLS);
  if (found === null) return undefined;
  const { settings: _, ...asked } = found;
  const domains = { allowed: [], blocked: [] };
  return { ...asked, usesMax: fetchesHeld(null), domains, bytesMax: PAGE_TEXT_BYTES_MAX, found: [], isCited: true };
}

type AskedTool = Pick<SearchAsk, "reasons" | "strip" | "isForced"> & { readonly settings: JsonObject };

function askedOf({ tools, calling }: GeminiRequest, wanted: ReadonlySet<string>): AskedTool | null {
  const names = builtInNames(tools).filter((name) => wanted.has(name));
  if (names.length === 0 || calling.mode === "NONE") return null;
  const settings = tools.flatMap((tool) => names.map((name) => tool[name])).find(isObject) ?? {};
  const strip = (body: JsonObject): JsonObject => {
    const { tools: given, ...rest } = camelFields(body);
    const left = (Array.isArray(given) ? objectsIn(given) : isObject(given) ? [given] : [])
      .map((tool) => Object.fromEntries(Object.entries(camelFields(tool)).filter(([name]) => !names.includes(name))))
      .filter((tool) => Object.keys(tool).length > 0);
    return { ...rest, tools: left };
  };
  return { reasons: names.map(reasonOf), strip, isForced: false, settings: camelFields(settings) };
}

const FETCH_TOOLS: ReadonlySet<string> = new Set(["urlContext"]);
const SEARCH_TOOLS: ReadonlySet<string> = new Set(["googleSearch", "googleSearchRetrieval"]);

function reasonOf(name: string): string {
  return `the tool '${name}' runs at Google only`;
}

function declarationsIn(tools: readonly JsonObject[]): readonly JsonObject[] {
  return tools.flatMap(({ functionDeclarations: list }) => objectsIn(list));
}

function builtInNames(tools: readonly JsonObject[]): readonly string[] {
  // Functions apart, each is named by its settings, which are an object or a list.
  const isBuiltIn = (name: string, settings: unknown): boolean =>
    name !== "functionDeclarations" && (isObject(settings) || objectsIn(settings).length > 0);
  const names = tools.flatMap((tool) => Object.keys(tool).filter((name) => isBuiltIn(name, tool[name])));
  return [...new Set(names)];
}

/** The fields `tools` and `tool_choice`, as far as they are needed. */
export function convertTools(request: Pick<GeminiRequest, "tools" | "calling">, conversion: Conversion): JsonObject {
  const functions = allowedFunctions(request);
  const names = builtInNames(request.tools);
  if (functions.length === 0) return {};
  for (const name of names) conversion.note("tool_dropped", `dropped the tool '${name}': it runs at Google only`);
  const tools = functions.map(({ name, description, parameters }) => ({
    type: "function",
    function: {
      name: convertName(name, conversion),
      ...(description === "" ? {} : { description }),
      parameters: parameters ?? NO_PARAMETERS,
    },
  }));
  const choice = convertChoice(request);
  return choice === null ? { tools } : { tools, tool_choice: choice };
}

function convertName(name: string, conversion: Conversion): string {
  const short = shortToolName(name);
  if (short !== name)
    conversion.note("content_converted", "shortened tool names: chat-completions takes 64 plain characters");
  return short;
}

/** Leaves out functions that are not allowed: no host but OpenAI knows a choice among some. */
function allowedFunctions(request: Pick<GeminiRequest, "tools" | "calling">): readonly Tool[] {
  const functions = readFunctions(request);
  const allowed = allowedNames(request);
  const offered = functions.filter(({ name }) => allowed.includes(name));
  return allowed.length === 0 || offered.length === 0 ? functions : offered;
}

function allowedNames({ calling }: Pick<GeminiRequest, "calling">): readonly string[] {
  return (calling.allowedFunctionNames as readonly string[] | undefined) ?? [];
}

/** In the words of chat-completions; null where the model decides as usual. */
export function convertChoice(request: Pick<GeminiRequest, "calling">): unknown {
  const { mode } = request.calling;
  if (mode === "NONE") return "none";
  if (mode === "AUTO" || mode === "VALIDATED") return "auto";
  if (mode !== "ANY") return null;
  const [only, ...others] = allowedNames(request);
  if (only === undefined || others.length > 0) return "required";
  return { type: "function", function: { name: shortToolName(only) } };
}
