// Tools and tool choice of a Messages request in chat-completions.

import { type ChatRequest, searchesHeld } from "../../../core/chat.ts";
import { type FetchAsk, fetchesHeld, PAGE_TEXT_BYTES_MAX, type SearchAsk } from "../../../core/search/web-search.ts";
import type { Conversion } from "../../convert/conversion.ts";
import { isObject, type JsonObject, objectsIn, toText } from "../../json/fields.ts";
import { shortToolName } from "../../tools/calls.ts";
import { domainsIn } from "../../tools/searches.ts";

/** The fields `tools`, `tool_choice` and `parallel_tool_calls`, as far as they are needed. */
export function convertTools(body: JsonObject, conversion: Conversion): JsonObject {
  const given = toolsOf(body);
  for (const reason of readServerNeeds(body)) conversion.refuse(reason);
  for (const tool of given.filter(isServerTool)) noteServerTool(tool, conversion);
  if (hasServers(body)) conversion.note("tool_dropped", `dropped 'mcp_servers': ${CALLED_THERE}`);
  const tools = given.filter((tool) => !isServerTool(tool)).map((tool) => convertTool(tool, conversion));
  return tools.length === 0 ? {} : { tools, ...convertChoice(body.tool_choice) };
}

/** Reasons for the provider's own tools: the request has no others, or asks for one by name. */
export function readServerNeeds(body: JsonObject): readonly string[] {
  if (toolsOf(body).every(isServerTool)) return serverReasons(body);
  const choice = isObject(body.tool_choice) && body.tool_choice.type === "tool" ? body.tool_choice.name : null;
  return serverTools(body)
    .filter((tool) => tool.name === choice)
    .map(reasonOf);
}

/** The same for tools beside others: a request without them is still worth an answer. */
export function readServerWishes(body: JsonObject): readonly string[] {
  const isBarred = isObject(body.tool_choice) && body.tool_choice.type === "none";
  return isBarred || readServerNeeds(body).length > 0 ? [] : serverReasons(body);
}

/** The searches that the hold covers, where Anthropic may search by itself. */
export function searchesIn(body: JsonObject): Pick<ChatRequest, "searches"> {
  const isBarred = isObject(body.tool_choice) && body.tool_choice.type === "none";
  const tools = isBarred ? [] : toolsOf(body).filter(isWebSearch);
  const searches = tools.reduce((sum, { max_uses: limit }) => sum + searchesHeld(limit), 0);
  return searches === 0 ? {} : { searches };
}

/** The search that the request asks for; undefined where it asks for none. */
export function searchAskIn(body: JsonObject): SearchAsk | undefined {
  const found = askedOf(body, isWebSearch);
  return found === null ? undefined : { ...found.asked, usesMax: searchesHeld(found.tool.max_uses) };
}

/** The pages that the request asks to read. */
export function fetchAskIn(body: JsonObject): FetchAsk | undefined {
  const found = askedOf(body, isWebFetch);
  if (found === null) return undefined;
  const { max_uses: uses, max_content_tokens: tokens, citations } = found.tool;
  const isLimit = typeof tokens === "number" && tokens > 0;
  const bytesMax = isLimit ? Math.min(tokens * BYTES_PER_TOKEN, PAGE_TEXT_BYTES_MAX) : PAGE_TEXT_BYTES_MAX;
  const isCited = isObject(citations) && citations.enabled === true;
  return { ...found.asked, usesMax: fetchesHeld(uses), bytesMax: Math.ceil(bytesMax), found: foundIn(body), isCited };
}

/** Addresses in results of earlier turns, which stand among what the model said. */
function foundIn({ messages }: JsonObject): readonly string[] {
  const results = objectsIn(messages)
    .flatMap(({ content }) => objectsIn(content))
    .filter(({ type }) => toText(type) === "web_search_tool_result");
  return results.flatMap(({ content }) => objectsIn(content)).map(({ url }) => toText(url));
}

/** Bytes of a usual text for one token. */
const BYTES_PER_TOKEN = 4;

type AskedBlock = Omit<SearchAsk, "usesMax">;

function askedOf(
  body: JsonObject,
  isIt: (tool: JsonObject) => boolean,
): { readonly asked: AskedBlock; readonly tool: JsonObject } | null {
  const [tool] = toolsOf(body).filter(isIt);
  const choice = isObject(body.tool_choice) ? body.tool_choice : {};
  if (tool === undefined || choice.type === "none") return null;
  const isNamed = choice.type === "tool" && choice.name === tool.name;
  const others = (given: JsonObject): readonly JsonObject[] => toolsOf(given).filter((each) => !isIt(each));
  const asked: AskedBlock = {
    reasons: [reasonOf(tool)],
    strip: ({ tool_choice: given, ...rest }) => ({
      ...rest,
      ...(isNamed || given === undefined ? {} : { tool_choice: given }),
      tools: others(rest),
    }),
    isForced: isNamed || (choice.type === "any" && others(body).length === 0),
    domains: {
      allowed: domainsIn(tool.allowed_domains, "allowed_domains"),
      blocked: domainsIn(tool.blocked_domains, "blocked_domains"),
    },
  };
  return { asked, tool };
}

function isWebFetch({ type }: JsonObject): boolean {
  return toText(type).startsWith("web_fetch_");
}

function isWebSearch({ type }: JsonObject): boolean {
  return toText(type).startsWith("web_search_");
}

function serverReasons(body: JsonObject): readonly string[] {
  return [...serverTools(body).map(reasonOf), ...(hasServers(body) ? [CALLED_THERE] : [])];
}

function serverTools(body: JsonObject): readonly JsonObject[] {
  return toolsOf(body).filter((tool) => isServerTool(tool) && !isToolSearch(tool));
}

function reasonOf({ type }: JsonObject): string {
  return `the tool '${toText(type)}' runs at Anthropic only`;
}

const CALLED_THERE = "MCP servers are called by Anthropic only";

function hasServers({ mcp_servers: servers }: JsonObject): boolean {
  return objectsIn(servers).length > 0;
}

function toolsOf({ tools }: JsonObject): readonly JsonObject[] {
  return objectsIn(tools);
}

function noteServerTool(tool: JsonObject, conversion: Conversion): void {
  const type = toText(tool.type);
  conversion.note(
    "tool_dropped",
    isToolSearch(tool)
      ? `dropped the tool '${type}': all tools are sent in full instead`
      : `dropped the tool '${type}': it runs at Anthropic only`,
  );
}

/** Fields of tools that change how they are offered, not what they do. */
const LEFT_OUT = ["defer_loading", "eager_input_streaming", "input_examples", "allowed_callers"] as const;

function convertTool(tool: JsonObject, conversion: Conversion): JsonObject {
  for (const name of LEFT_OUT) {
    if (tool[name] !== undefined)
      conversion.note("option_dropped", `dropped '${name}' of tools: chat-completions has no counterpart`);
  }
  const known = clientToolFor(tool.type);
  const description = tool.description ?? known?.description;
  const name = shortToolName(toText(tool.name ?? tool.type));
  if (name !== tool.name)
    conversion.note("content_converted", "shortened tool names: chat-completions takes 64 plain characters");
  return {
    type: "function",
    function: {
      name,
      ...(typeof description === "string" ? { description } : {}),
      parameters: isObject(tool.input_schema) ? tool.input_schema : (known?.parameters ?? NO_PARAMETERS),
      ...(typeof tool.strict === "boolean" ? { strict: tool.strict } : {}),
    },
  };
}

const NO_PARAMETERS: JsonObject = { type: "object", properties: {} };

function convertChoice(choice: unknown): JsonObject {
  if (!isObject(choice)) return {};
  const parallel = choice.disable_parallel_tool_use === true ? { parallel_tool_calls: false } : {};
  switch (choice.type) {
    case "auto":
      return { tool_choice: "auto", ...parallel };
    case "any":
      return { tool_choice: "required", ...parallel };
    case "none":
      return { tool_choice: "none" };
    case "tool":
      return {
        tool_choice: { type: "function", function: { name: shortToolName(toText(choice.name)) } },
        ...parallel,
      };
    default:
      return parallel;
  }
}

// Tools that Anthropic has given a type: those the client runs get a schema of their own, so that any model can call them;
// those Anthropic runs cannot be had elsewhere. Types end in a date, so they are known by what precedes it.

/** A tool of the vendor's that the client runs itself. */
interface ClientTool {
  readonly prefix: string;
  readonly description: string;
  readonly parameters: JsonObject;
}

const text = { type: "string" };
const whole = { type: "integer" };
const pair = { type: "array", items: whole };

const CLIENT_TOOLS: readonly ClientTool[] = [
  {
    prefix: "bash_20",
    description: "Runs a command in a bash session that stays open between calls.",
    parameters: object({ command: text, restart: { type: "boolean", description: "Restarts the session." } }, []),
  },
  {
    prefix: "text_editor_",
    description:
      "Views and edits text files. Commands: view (path, view_range), create (path, file_text), str_replace (path, old_str, new_str), insert (path, insert_line, insert_text).",
    parameters: object(
      {
        command: { type: "string", enum: ["view", "create", "str_replace", "insert"] },
        path: text,
        file_text: text,
        old_str: text,
        new_str: text,
        insert_line: whole,
        insert_text: text,
        view_range: pair,
      },
      ["command", "path"],
    ),
  },
  {
    prefix: "memory_",
    description:
      "Keeps notes in files under /memories. Commands: view (path), create (path, file_text), str_replace (path, old_str, new_str), insert (path, insert_line, insert_text), delete (path), rename (old_path, new_path).",
    parameters: object(
      {
        command: { type: "string", enum: ["view", "create", "str_replace", "insert", "delete", "rename"] },
        path: text,
        file_text: text,
        old_str: text,
        new_str: text,
        insert_line: whole,
        insert_text: text,
        old_path: text,
        new_path: text,
        view_range: pair,
      },
      ["command"],
    ),
  },
  {
    prefix: "computer_20",
    description:
      "Uses a computer by its screen, mouse and keyboard. The action is what to do, such as screenshot, left_click, type, key, scroll or wait.",
    parameters: object(
      {
        action: text,
        coordinate: pair,
        start_coordinate: pair,
        text,
        duration: { type: "number" },
        scroll_direction: { type: "string", enum: ["up", "down", "left", "right"] },
        scroll_amount: whole,
        region: pair,
      },
      ["action"],
    ),
  },
];

const HELPER_PREFIX = "tool_search_";

function isServerTool({ type }: JsonObject): boolean {
  return typeof type === "string" && type !== "custom" && clientToolFor(type) === null;
}

/** Finds tools for the model; other models are given all tools from the start. */
function isToolSearch({ type }: JsonObject): boolean {
  return typeof type === "string" && type.startsWith(HELPER_PREFIX);
}

function clientToolFor(type: unknown): Omit<ClientTool, "prefix"> | null {
  if (typeof type !== "string") return null;
  return CLIENT_TOOLS.find((tool) => type.startsWith(tool.prefix)) ?? null;
}

function object(properties: JsonObject, required: readonly string[]): JsonObject {
  return { type: "object", properties, required };
}
