// Tools of the Responses format that the client runs itself. Models of other formats call them as functions, and the
// client gets its own items back. Calls come whole: clients act on a finished item only.

import { isObject, type JsonObject, objectsIn, textOrEmpty, toText } from "../../json/fields.ts";

export interface ClientRunTool {
  /** Types under which requests offer or choose the tool. */
  readonly types: readonly string[];
  /** The name under which models of other formats know it. */
  readonly name: string;
  /** The type of the item that calls it. */
  readonly call: string;
  readonly idPrefix: string;
  readonly description: (definition: JsonObject) => string;
  readonly parameters: JsonObject;
  /** The arguments of an earlier call. */
  readonly readCall: (item: JsonObject) => unknown;
  /** The fields of a call beside id and status. */
  readonly writeCall: (given: JsonObject) => JsonObject;
  /** Reads the client's answer: a text, or parts of the Responses format. */
  readonly readOutput: (item: JsonObject) => unknown;
}

/** The tool of this type; undefined where the client does not run it. */
export function clientToolFor({ type, environment }: JsonObject): ClientRunTool | undefined {
  const isHosted = isObject(environment) && environment.type !== "local";
  return isHosted ? undefined : CLIENT_TOOLS.find(({ types }) => types.includes(toText(type)));
}

/** The tool that an item of this type calls or answers. */
export function clientToolOfItem(type: string): ClientRunTool | undefined {
  const call = type.endsWith(OUTPUT) ? type.slice(0, -OUTPUT.length) : type;
  return CLIENT_TOOLS.find((tool) => tool.call === call);
}

const OUTPUT = "_output";

/** Reads the arguments as a model wrote them; null for what is no object, or was cut. */
export function readArguments(text: string): JsonObject | null {
  try {
    const given: unknown = JSON.parse(text);
    return isObject(given) ? given : null;
  } catch {
    return null;
  }
}

const text = { type: "string" };
const whole = { type: "integer" };
const texts = { type: "array", items: text };
const TIMEOUT = { type: "integer", description: "Milliseconds after which a command is stopped." };

function object(properties: JsonObject, required: readonly string[]): JsonObject {
  return { type: "object", properties, required };
}

const ACTION = object(
  {
    type: {
      type: "string",
      enum: ["click", "double_click", "drag", "keypress", "move", "screenshot", "scroll", "type", "wait"],
    },
    x: whole,
    y: whole,
    button: { type: "string", enum: ["left", "right", "wheel", "back", "forward"] },
    keys: texts,
    path: { type: "array", items: object({ x: whole, y: whole }, ["x", "y"]) },
    scroll_x: whole,
    scroll_y: whole,
    text,
  },
  ["type"],
);

const COMPUTER = "Uses a computer by its screen, mouse and keyboard, and returns a screenshot.";

const computerCall = {
  name: "computer",
  call: "computer_call",
  idPrefix: "cu",
  readCall: ({ action, actions }: JsonObject) => (Array.isArray(actions) ? { actions } : action),
  readOutput: ({ output }: JsonObject) => (isObject(output) ? [{ ...output, type: "input_image" }] : output),
};

const CLIENT_TOOLS: readonly ClientRunTool[] = [
  {
    types: ["shell"],
    name: "shell",
    call: "shell_call",
    idPrefix: "sh",
    description: () => "Runs shell commands, in order, and returns what each printed.",
    parameters: object({ commands: texts, timeout_ms: TIMEOUT, max_output_length: whole }, ["commands"]),
    readCall: ({ action }) => action,
    writeCall: ({ commands, timeout_ms: timeout = null, max_output_length: length = null }) => ({
      action: { commands: listOf(commands), timeout_ms: timeout, max_output_length: length },
      environment: { type: "local" },
    }),
    readOutput: ({ output }) => (Array.isArray(output) ? objectsIn(output).map(shellText).join("\n\n") : output),
  },
  {
    types: ["local_shell"],
    name: "local_shell",
    call: "local_shell_call",
    idPrefix: "lsh",
    description: () => "Runs one command, given as program and arguments, and returns what it printed.",
    parameters: object(
      {
        command: texts,
        working_directory: text,
        env: { type: "object", additionalProperties: text },
        timeout_ms: TIMEOUT,
        user: text,
      },
      ["command"],
    ),
    readCall: ({ action }) => action,
    writeCall: ({ command, env, working_directory: place = null, timeout_ms: timeout = null, user = null }) => ({
      action: {
        type: "exec",
        command: typeof command === "string" ? ["sh", "-c", command] : listOf(command),
        env: isObject(env) ? env : {},
        working_directory: place,
        timeout_ms: timeout,
        user,
      },
    }),
    readOutput: ({ output }) => output,
  },
  {
    types: ["apply_patch"],
    name: "apply_patch",
    call: "apply_patch_call",
    idPrefix: "apc",
    description: () =>
      "Creates, updates or deletes a file. The diff of an update has sections that begin with a line '@@', and lines that begin with ' ' (kept), '-' (removed) or '+' (added). In the diff of a new file every line begins with '+'.",
    parameters: object(
      {
        type: { type: "string", enum: ["create_file", "update_file", "delete_file"] },
        path: text,
        diff: { type: "string", description: "Left out when a file is deleted." },
      },
      ["type", "path"],
    ),
    readCall: ({ operation }) => operation,
    writeCall: ({ type, path, diff }) => ({
      operation: { type, path, ...(type === "delete_file" ? {} : { diff: textOrEmpty(diff) }) },
    }),
    readOutput: ({ status, output }) => {
      const said = textOrEmpty(output);
      if (status === "failed") return said === "" ? "Error: the patch was not applied" : `Error: ${said}`;
      return said === "" ? "Done." : said;
    },
  },
  {
    ...computerCall,
    types: ["computer", "computer_use"],
    description: () => `${COMPUTER} Takes several actions at once.`,
    parameters: object({ actions: { type: "array", items: ACTION } }, ["actions"]),
    writeCall: ({ actions, ...action }) => ({
      actions: Array.isArray(actions) ? actions : oneAction(action),
      pending_safety_checks: [],
    }),
  },
  {
    ...computerCall,
    types: ["computer_use_preview"],
    description: ({ display_width: width, display_height: height, environment }) =>
      `${COMPUTER} Takes one action. The screen has ${toText(width)} by ${toText(height)} pixels (${toText(environment)}).`,
    parameters: ACTION,
    writeCall: (action) => ({ action, pending_safety_checks: [] }),
  },
];

/** A model that ignores the schema may write one text for a list of them. */
function listOf(value: unknown): readonly unknown[] {
  if (typeof value === "string") return [value];
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

function oneAction(action: JsonObject): readonly JsonObject[] {
  return typeof action.type === "string" ? [action] : [];
}

function shellText({ stdout, stderr, outcome }: JsonObject): string {
  const { type, exit_code: code } = isObject(outcome) ? outcome : { type: null };
  const ending = type === "timeout" ? "[timed out]" : `[exit code ${toText(code ?? 0)}]`;
  return [textOrEmpty(stdout), textOrEmpty(stderr), ending].filter((part) => part !== "").join("\n");
}
