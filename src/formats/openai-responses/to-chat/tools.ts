// Tools and tool choice of a Responses request in chat-completions. Functions and custom tools become functions; tools
// that a provider runs itself have no counterpart there.

import { type ChatRequest, searchesHeld, type Tool } from "../../../core/chat.ts";
import { type ImageAsk, picturesHeld, type SearchAsk } from "../../../core/search/web-search.ts";
import type { Conversion } from "../../convert/conversion.ts";
import {
  invalid,
  isObject,
  type JsonObject,
  objectsIn,
  readArray,
  readInteger,
  textOrEmpty,
  toText,
} from "../../json/fields.ts";
import { PARTIAL_IMAGES_MAX } from "../../media/images.ts";
import { domainsIn } from "../../tools/searches.ts";
import { INPUT_SCHEMA } from "../custom-input.ts";
import { chatToolName, itemType } from "../items.ts";
import { clientToolFor } from "./client-tools.ts";

/** A tool that any model can call. */
export interface CallableTool {
  /** `function`, `custom`, or the type of a tool that the client runs, which is its name as well. */
  readonly type: string;
  readonly name: string;
  readonly namespace: string | null;
  /** The name under which models of other formats know the tool. */
  readonly chatName: string;
  readonly definition: JsonObject;
}

export interface GivenTools {
  readonly callable: readonly CallableTool[];
  /** Tools that only a provider of this format runs. */
  readonly builtIn: readonly JsonObject[];
}

/** All tools of a request. Some stand among the input, where they were loaded in the middle of a conversation. */
export function readGivenTools(body: JsonObject): GivenTools {
  const callable: CallableTool[] = [];
  const builtIn: JsonObject[] = [];
  readArray(body, "tools").forEach((tool, index) => {
    addTool(tool, `tools[${index}]`, { callable, builtIn });
  });
  for (const { tools, place } of toolsInInput(body.input)) {
    tools.forEach((tool, index) => {
      addTool(tool, `${place}.tools[${index}]`, { callable, builtIn });
    });
  }
  return { callable: onceByName(callable), builtIn };
}

const TOOL_ITEMS: ReadonlySet<string> = new Set(["additional_tools", "tool_search_output"]);

function toolsInInput(input: unknown): readonly { readonly tools: readonly unknown[]; readonly place: string }[] {
  if (!Array.isArray(input)) return [];
  return input.flatMap((item: unknown, index) => {
    if (!isObject(item) || !TOOL_ITEMS.has(itemType(item)) || !Array.isArray(item.tools)) return [];
    return [{ tools: item.tools, place: `input[${index}]` }];
  });
}

interface ToolLists {
  readonly callable: CallableTool[];
  readonly builtIn: JsonObject[];
}

function addTool(tool: unknown, place: string, lists: ToolLists): void {
  if (!isObject(tool) || typeof tool.type !== "string") {
    throw invalid(place, `${place} must be an object with a 'type'.`);
  }
  if (tool.type === "function" || tool.type === "custom") lists.callable.push(callableTool(tool, place, null));
  else if (tool.type === "namespace") addNamespace(tool, place, lists);
  else if (clientToolFor(tool) !== undefined) lists.callable.push(clientTool(tool));
  else lists.builtIn.push(tool);
}

function addNamespace(tool: JsonObject, place: string, { callable }: ToolLists): void {
  const name = requiredName(tool, place);
  readArray(tool, "tools").forEach((inner, index) => {
    const innerPlace = `${place}.tools[${index}]`;
    if (!isObject(inner)) throw invalid(innerPlace, `${innerPlace} must be an object.`);
    callable.push(callableTool(inner, innerPlace, name));
  });
}

function callableTool(definition: JsonObject, place: string, namespace: string | null): CallableTool {
  const name = requiredName(definition, place);
  const type = definition.type === "custom" ? "custom" : "function";
  return { type, name, namespace, chatName: chatToolName(name, namespace), definition };
}

function clientTool(definition: JsonObject): CallableTool {
  const name = toText(definition.type);
  return { type: name, name, namespace: null, chatName: clientToolFor(definition)?.name ?? name, definition };
}

function requiredName({ name }: JsonObject, place: string): string {
  if (typeof name === "string" && name !== "") return name;
  throw invalid(`${place}.name`, `${place}.name must be a string.`);
}

/** A tool that was loaded twice is one tool. */
function onceByName(tools: readonly CallableTool[]): readonly CallableTool[] {
  return tools.length < 2 ? tools : [...new Map(tools.map((tool) => [tool.chatName, tool])).values()];
}

/** Tools for routing. */
export function routedTools({ callable, builtIn }: GivenTools, needs: readonly string[]): readonly Tool[] {
  const tools: Tool[] = callable.map((tool) => ({
    name: tool.chatName,
    description: textOrEmpty(descriptionOf(tool)),
    parameters: parametersOf(tool),
  }));
  if (needs.length === 0) return tools;
  return [...tools, ...builtIn.map(({ type }) => ({ name: toText(type), description: "", parameters: null }))];
}

/** Finds tools for a model; other models are given all tools from the start. */
const HELPERS: ReadonlySet<unknown> = new Set(["tool_search", "programmatic_tool_calling"]);

/** Reasons for a provider of the request's own format: it has no other tools, or asks for one of these. */
export function readBuiltInNeeds({ callable, builtIn }: GivenTools, choice: unknown): readonly string[] {
  if (choice === "none") return [];
  if (isObject(choice) && isBuiltInChoice(choice)) return chosen(callable, choice) === null ? [needOf(choice)] : [];
  const run = builtIn.filter(({ type }) => !HELPERS.has(type));
  if (run.length === 0) return [];
  const allowed = allowedTools(choice);
  if (allowed === null) return callable.length === 0 ? run.map(needOf) : [];
  const isCallableAllowed = callable.some((tool) => isAllowed(tool, allowed));
  return isCallableAllowed ? [] : allowed.filter(isBuiltInChoice).map(needOf);
}

/** The same for tools beside others: a request without them is still worth an answer. */
export function readBuiltInWishes(given: GivenTools, choice: unknown): readonly string[] {
  if (choice === "none" || readBuiltInNeeds(given, choice).length > 0) return [];
  const allowed = allowedTools(choice);
  const run = given.builtIn.filter(({ type }) => !HELPERS.has(type));
  return run.filter(({ type }) => allowed === null || allowed.some((tool) => tool.type === type)).map(needOf);
}

/** The searches that the hold covers, where the provider may search by itself. */
export function searchesIn({ builtIn }: GivenTools, body: JsonObject): Pick<ChatRequest, "searches"> {
  const isOffered = body.tool_choice !== "none" && builtIn.some(isWebSearch);
  return isOffered ? { searches: searchesHeld(body.max_tool_calls) } : {};
}

type IsTool = (tool: JsonObject) => boolean;

/** The first tool of a kind that the gateway can run, and the request without it; undefined where none is asked for. */
function toolAskedFor({ builtIn }: GivenTools, body: JsonObject, isTool: IsTool) {
  const tool = builtIn.find(isTool);
  const choice = body.tool_choice;
  if (tool === undefined || choice === "none" || allowedTools(choice)?.some(isTool) === false) return undefined;
  const isForced = isObject(choice) && isTool(choice);
  const others = (given: JsonObject): readonly unknown[] =>
    readArray(given, "tools").filter((each) => !isObject(each) || !isTool(each));
  return {
    tool,
    ask: {
      reasons: [tool, ...(isForced ? [choice] : [])].map(needOf),
      strip: ({ tool_choice: asked, ...rest }: JsonObject): JsonObject => ({
        ...rest,
        ...(isForced || asked === undefined ? {} : { tool_choice: asked }),
        tools: others(rest),
      }),
      isForced: isForced || (choice === "required" && others(body).length === 0),
    },
  };
}

/** The search that the request asks for; undefined where it asks for none. */
export function searchAskIn(given: GivenTools, body: JsonObject): SearchAsk | undefined {
  const asked = toolAskedFor(given, body, isWebSearch);
  if (asked === undefined) return undefined;
  const { filters } = asked.tool;
  return {
    ...asked.ask,
    usesMax: searchesHeld(body.max_tool_calls),
    domains: {
      allowed: domainsIn(isObject(filters) ? filters.allowed_domains : null, "filters.allowed_domains"),
      blocked: [],
    },
  };
}

/** The picture that the request asks for; undefined where it asks for none. Throws for options of a wrong type. */
export function imageAskIn(given: GivenTools, body: JsonObject): ImageAsk | undefined {
  const asked = toolAskedFor(given, body, isImageTool);
  if (asked === undefined) return undefined;
  const {
    type: _,
    action,
    model,
    partial_images,
    input_fidelity: _fidelity,
    input_image_mask: mask,
    ...options
  } = asked.tool;
  const partials = readInteger({ partial_images }, "partial_images", { min: 0, max: PARTIAL_IMAGES_MAX });
  return {
    ...asked.ask,
    usesMax: picturesHeld(body.max_tool_calls),
    model: typeof model === "string" ? model : null,
    options: Object.fromEntries(Object.entries(options).filter(([, value]) => value !== null && value !== "auto")),
    partials: partials ?? 0,
    isNativeOnly: action === "edit" || isObject(mask),
  };
}

function isImageTool({ type }: JsonObject): boolean {
  return type === "image_generation";
}

function isWebSearch({ type }: JsonObject): boolean {
  return toText(type).startsWith("web_search");
}

function needOf({ type }: JsonObject): string {
  return `the tool '${toText(type)}' is run only by providers of the Responses API`;
}

const CALLABLE_CHOICES: ReadonlySet<unknown> = new Set(["function", "custom", "namespace", "allowed_tools"]);

function isBuiltInChoice({ type }: JsonObject): boolean {
  return typeof type === "string" && !CALLABLE_CHOICES.has(type);
}

/** The tool of the client's that a choice names by its type. */
function chosen(callable: readonly CallableTool[], choice: JsonObject): CallableTool | null {
  const name = clientToolFor(choice)?.name;
  return callable.find((tool) => name !== undefined && clientToolFor(tool.definition)?.name === name) ?? null;
}

/** The tools that `allowed_tools` leaves; null when all are. */
function allowedTools(choice: unknown): readonly JsonObject[] | null {
  if (!isObject(choice) || choice.type !== "allowed_tools") return null;
  return objectsIn(choice.tools);
}

function isAllowed({ type, name, namespace }: CallableTool, allowed: readonly JsonObject[]): boolean {
  return allowed.some((choice) =>
    choice.type === "namespace" ? choice.name === namespace : choice.type === type && (choice.name ?? type) === name,
  );
}

/** Writes `tools`, `tool_choice` and `parallel_tool_calls` into a chat-completions body, as far as they are needed. */
export function convertTools(body: JsonObject, converted: Record<string, unknown>, conversion: Conversion): void {
  const given = readGivenTools(body);
  for (const reason of readBuiltInNeeds(given, body.tool_choice)) conversion.refuse(reason);
  for (const { type } of given.builtIn) {
    conversion.note(
      "tool_dropped",
      HELPERS.has(type)
        ? `dropped the tool '${toText(type)}': all tools are sent in full instead`
        : `dropped the tool '${toText(type)}': only providers of the Responses API run it`,
    );
  }
  const allowed = allowedTools(body.tool_choice);
  const callable = allowed === null ? given.callable : given.callable.filter((tool) => isAllowed(tool, allowed));
  if (callable.length === 0) return;
  converted.tools = callable.map((tool) => convertTool(tool, conversion));
  const choice = convertChoice(body.tool_choice, callable);
  if (choice !== null) converted.tool_choice = choice;
  if (body.parallel_tool_calls === false) converted.parallel_tool_calls = false;
}

function convertTool(tool: CallableTool, conversion: Conversion): JsonObject {
  const { definition, chatName } = tool;
  const description = descriptionOf(tool);
  const converted: Record<string, unknown> = { name: chatName, parameters: parametersOf(tool) };
  if (typeof description === "string") converted.description = description;
  if (tool.type === "custom")
    conversion.note("content_converted", "turned custom tools into functions with one text argument");
  else if (clientToolFor(definition) !== undefined) {
    const reason = "only providers of the Responses API know the tool";
    conversion.note("content_converted", `turned '${tool.name}' into a function: ${reason}`);
    return { type: "function", function: converted };
  } else if (typeof definition.strict === "boolean") converted.strict = definition.strict;
  if (chatName !== tool.name)
    conversion.note("content_converted", "changed tool names: chat-completions takes 64 plain characters");
  return { type: "function", function: converted };
}

const NO_PARAMETERS: JsonObject = { type: "object", properties: {} };

function descriptionOf({ type, definition }: CallableTool): unknown {
  if (type === "custom") return customDescription(definition);
  return clientToolFor(definition)?.description(definition) ?? definition.description;
}

function parametersOf({ type, definition }: CallableTool): JsonObject {
  const own = clientToolFor(definition);
  if (own !== undefined) return own.parameters;
  if (type === "custom") return INPUT_SCHEMA;
  return isObject(definition.parameters) ? definition.parameters : NO_PARAMETERS;
}

/** Other models know no grammars, so they are told of it in words. */
function customDescription({ description, format }: JsonObject): string {
  const said = textOrEmpty(description);
  if (!isObject(format) || format.type !== "grammar") return said;
  const grammar = `The input must match this ${toText(format.syntax)} grammar:\n${toText(format.definition)}`;
  return said === "" ? grammar : `${said}\n\n${grammar}`;
}

function convertChoice(choice: unknown, callable: readonly CallableTool[]): unknown {
  if (typeof choice === "string") return choice;
  if (!isObject(choice)) return null;
  if (choice.type === "allowed_tools") return choice.mode === "required" ? "required" : "auto";
  const own = chosen(callable, choice);
  if (own !== null) return { type: "function", function: { name: own.chatName } };
  if (choice.type !== "function" && choice.type !== "custom") return null;
  return { type: "function", function: { name: chatToolName(toText(choice.name), choice.namespace) } };
}
