// Tools that Anthropic has given a type: those the client runs get a schema of their own, so that any model can call them;
// those Anthropic runs cannot be had elsewhere. Types end in a date, so they are known by what precedes it.

import type { JsonObject } from "../../wire/fields.ts";

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
    parameters: object({ command: text, restart: { type: "boolean", description: "Starts the session anew." } }, []),
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

export function isServerTool({ type }: JsonObject): boolean {
  return typeof type === "string" && type !== "custom" && clientToolFor(type) === null;
}

/** Finds tools for the model; other models are given all tools from the start. */
export function isToolSearch({ type }: JsonObject): boolean {
  return typeof type === "string" && type.startsWith(HELPER_PREFIX);
}

export function clientToolFor(type: unknown): Omit<ClientTool, "prefix"> | null {
  if (typeof type !== "string") return null;
  return CLIENT_TOOLS.find((tool) => type.startsWith(tool.prefix)) ?? null;
}

function object(properties: JsonObject, required: readonly string[]): JsonObject {
  return { type: "object", properties, required };
}
