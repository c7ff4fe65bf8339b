// The sandbox's tool calls do no harm in the hands of an agent that does what they say. The tools are those of real
// agents, by name, description and schema.

import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { sandboxToolCall } from "../../../src/providers/sandbox.ts";

type Properties = Readonly<Record<string, object>>;
const TEXT = { type: "string" };
const PROMPT = "rm -rf ./src && touch made-by-the-prompt";
const MARK = "[simulated by the Switchyard sandbox]";

function tool(name: string, properties: Properties, description = "", required = Object.keys(properties)) {
  return { type: "function", function: { name, description, parameters: { type: "object", properties, required } } };
}

const BASH = tool("bash", { command: TEXT, timeout: { type: "integer" } }, "Executes a given bash command.");
const LIST_SHELL = tool("shell", { command: { type: "array", items: TEXT }, workdir: TEXT }, "Runs a shell command.");
const EXEC = tool("exec_command", { cmd: TEXT, yield_time_ms: { type: "number" } });
const PYTHON = tool("python", { code: TEXT }, "Runs code in a notebook.");
const WRITE = tool("write_file", { file_path: TEXT, content: TEXT }, "Writes a file to the local filesystem.");
const EDITOR = tool("str_replace_based_edit_tool", {
  command: { type: "string", enum: ["create", "str_replace", "view"] },
  path: TEXT,
  file_text: TEXT,
  old_str: TEXT,
  new_str: TEXT,
});
const PATCH = tool("apply_patch", { input: TEXT });
const EMAIL = tool("send_email", { to: TEXT, subject: TEXT, body: TEXT }, "Sends an e-mail.");
const SLACK = tool("slack_post_message", { channel: TEXT, text: TEXT });
const AGENT = tool("Agent", { description: TEXT, prompt: TEXT, subagent_type: TEXT }, "Launch a new agent.");
const KILL = tool("KillProcess", { pid: { type: "integer", minimum: 1 }, force: { type: "boolean" } });
const HOOK = tool("notify", { webhook_url: TEXT, payload: { type: "object", properties: { message: TEXT } } });
const QUIET = tool("helper", { input: TEXT }, "This will execute the given text in a terminal.");
const ACTING = [BASH, LIST_SHELL, EXEC, PYTHON, WRITE, EDITOR, PATCH, EMAIL, SLACK, AGENT, KILL, HOOK, QUIET];

const WEATHER = tool("get_weather", { city: TEXT }, "The weather in a city.");
const READ = tool("read_file", { path: TEXT }, "Reads a file. Never use it to write.");
const GREP = tool("Grep", { pattern: TEXT, path: TEXT });
const ORDER = tool("get_order_status", { order_id: TEXT });

const NAMED = (name: string) => ({ type: "function", function: { name } });
const nameOf = (each: (typeof ACTING)[number]): string => each.function.name;

interface Call {
  readonly id: string;
  readonly function: { readonly name: string; readonly arguments: string };
}

function call(tools: readonly object[], rest: object = {}): Call | null {
  const messages = [{ role: "user", content: PROMPT }];
  return sandboxToolCall({ model: "m", messages, tools, ...rest }) as unknown as Call | null;
}

const argumentsOf = (made: Call | null): Record<string, unknown> =>
  JSON.parse(made?.function.arguments ?? "null") as Record<string, unknown>;

/** A conversation that has called and got a result, with what an agent may add behind it. */
function continued(made: Call | null, ...more: readonly object[]): { readonly messages: readonly object[] } {
  const result = { role: "tool", tool_call_id: made?.id, content: "done" };
  return {
    messages: [
      { role: "user", content: PROMPT },
      { role: "assistant", content: null, tool_calls: [made] },
      result,
      ...more,
    ],
  };
}

describe.each(ACTING.map((each) => [nameOf(each), each] as const))("%s", (name, each) => {
  const forced = { tool_choice: NAMED(name) };

  test.each<readonly [string, object]>([
    ["auto", {}],
    ["required", { tool_choice: "required" }],
    ["forced", forced],
  ])("gets made-up arguments: %s", (_kind, choice) => {
    const made = call([each], choice);
    expect(made?.function.name).toBe(name);
    expect(made?.function.arguments).not.toMatch(/rm -rf|made-by-the-prompt/);
    expect(made?.function.arguments).toMatch(/simulated|2147483647/);
    expect(Object.keys(argumentsOf(made)).sort()).toEqual(Object.keys(each.function.parameters.properties).sort());
  });

  test("is called once per conversation, then answered with a text, also when forced", () => {
    const made = call([each]);
    const again = { role: "user", content: "Do it again." };
    const reminder = { role: "user", content: "<system-reminder>Go on.</system-reminder>" };
    for (const choice of [{}, { tool_choice: "required" }, forced]) {
      for (const rest of [
        continued(made),
        continued(made, reminder),
        continued(made, { role: "assistant", content: "ok" }, again),
      ]) {
        expect(call([each], { ...rest, ...choice })).toBeNull();
        expect(call([...ACTING, each], { ...rest, ...choice })).toBeNull();
      }
    }
  });
});

describe("what an agent would do with a call", () => {
  test("a shell command prints, and touches nothing", () => {
    const folder = mkdtempSync(join(tmpdir(), "switchyard-agent-"));
    const { command } = argumentsOf(call([BASH])) as { command: string };
    const shell = spawnSync("sh", ["-c", command], { cwd: folder, encoding: "utf8" });
    expect(shell).toMatchObject({ status: 0, stdout: `${MARK}\n`, stderr: "" });
    const [program = "", ...words] = argumentsOf(call([LIST_SHELL])).command as string[];
    expect(spawnSync(program, words, { cwd: folder, encoding: "utf8" }).stdout).toBe(`${MARK}\n`);
    expect(spawnSync("sh", ["-c", String(argumentsOf(call([PYTHON])).code)], { cwd: folder }).status).not.toBe(0);
    expect(readdirSync(folder)).toEqual([]);
    rmSync(folder, { recursive: true });
  });

  test("a file cannot be written, even by one that makes the folders first", () => {
    const { file_path: path, content } = argumentsOf(call([WRITE])) as { file_path: string; content: string };
    expect(() => {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, content);
    }).toThrow();
    expect(argumentsOf(call([EDITOR]))).toMatchObject({ command: "view", path, old_str: MARK });
  });

  test("a message reaches nobody, and no process is killed", () => {
    expect(argumentsOf(call([EMAIL]))).toEqual({ to: "nobody@simulated.invalid", subject: MARK, body: MARK });
    expect(argumentsOf(call([HOOK]))).toMatchObject({ webhook_url: "https://simulated.invalid/" });
    expect(argumentsOf(call([KILL]))).toEqual({ pid: 2_147_483_647, force: false });
  });

  test("an agent that it starts calls nothing, also no tool that only reads", () => {
    const { prompt } = argumentsOf(call([AGENT])) as { prompt: string };
    const messages = [{ role: "user", content: [{ type: "text", text: `Your task: ${prompt}` }] }];
    expect(call([AGENT, BASH, GREP], { messages })).toBeNull();
    expect(call([AGENT], { messages, tool_choice: "required" })).toBeNull();
  });
});

describe("tools that only read", () => {
  test.each([WEATHER, READ, GREP, ORDER].map((each) => [nameOf(each), each] as const))(
    "%s is preferred, and called again when the user asks again",
    (name, each) => {
      const made = call([...ACTING, each]);
      expect(made?.function.name).toBe(name);
      expect(made?.function.arguments).not.toContain("rm -rf");
      expect(call([each], continued(made))).toBeNull();
      const next = continued(made, { role: "assistant", content: "ok" }, { role: "user", content: "And in Oslo?" });
      expect(call([each], next)?.function.name).toBe(name);
      expect(call([each], { ...continued(made), tool_choice: "required" })?.function.name).toBe(name);
    },
  );

  test("arguments keep to formats, lengths and dry runs", () => {
    const properties = {
      day: { type: "string", format: "date" },
      id: { type: "string", format: "uuid" },
      code: { type: "string", maxLength: 3 },
      dry_run: { type: "boolean" },
      count: { type: "integer" },
    };
    expect(argumentsOf(call([tool("get_plan", properties)]))).toEqual({
      day: "2000-01-01",
      id: "00000000-0000-4000-8000-000000000000",
      code: "[si",
      dry_run: true,
      count: 0,
    });
  });
});
