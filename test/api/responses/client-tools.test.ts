// OpenAI's tools that the client runs, on models that do not know them: the official client gets its own items, whole and
// streamed, and its next turn with call and output reaches any model.

import OpenAI from "openai";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { saysBlocks, toolUse } from "../../support/providers/fake-anthropic.ts";
import { answers, chunk, completion, sends, streams, USAGE } from "../../support/providers/fake-provider.ts";
import { type Mixed, startMixed } from "../../support/providers/mixed.ts";
import { finalResponse, readResponseEvents } from "../../support/providers/responses.ts";
import type { Json } from "../../support/providers/streams.ts";

let mixed: Mixed;
let client: OpenAI;
beforeAll(async () => {
  mixed = await startMixed();
  client = new OpenAI({ baseURL: `${mixed.gateway.url}/v1`, apiKey: mixed.gateway.key, maxRetries: 0 });
});
beforeEach(() => mixed.reset());
afterAll(() => mixed.close());

type Body = Omit<OpenAI.Responses.ResponseCreateParamsNonStreaming, "stream">;
type Item = OpenAI.Responses.ResponseInputItem;

interface Case {
  readonly tool: object;
  /** The name of the function, and the arguments that the model writes. */
  readonly name: string;
  readonly args: object;
  /** The item that the client gets, beside ids. */
  readonly item: object;
  /** What the client sends back, and what a model reads of it. */
  readonly output: object;
  readonly result: string;
}

const PIXEL = "data:image/png;base64,iVBORw0KGgo=";
const DIFF = '@@\n-a\n+"é"';

const CASES: Readonly<Record<string, Case>> = {
  shell: {
    tool: { type: "shell" },
    name: "shell",
    args: { commands: ["ls", "pwd"], timeout_ms: 500 },
    item: {
      type: "shell_call",
      action: { commands: ["ls", "pwd"], timeout_ms: 500, max_output_length: null },
      environment: { type: "local" },
    },
    output: {
      type: "shell_call_output",
      output: [
        { stdout: "a.txt", stderr: "", outcome: { type: "exit", exit_code: 0 } },
        { stdout: "", stderr: "no", outcome: { type: "timeout" } },
      ],
    },
    result: "a.txt\n[exit code 0]\n\nno\n[timed out]",
  },
  local_shell: {
    tool: { type: "local_shell" },
    name: "local_shell",
    args: { command: ["ls", "-l"], working_directory: "/w" },
    item: {
      type: "local_shell_call",
      action: { type: "exec", command: ["ls", "-l"], env: {}, working_directory: "/w" },
    },
    output: { type: "local_shell_call_output", output: "a.txt" },
    result: "a.txt",
  },
  apply_patch: {
    tool: { type: "apply_patch" },
    name: "apply_patch",
    args: { type: "update_file", path: "a", diff: DIFF },
    item: { type: "apply_patch_call", operation: { type: "update_file", path: "a", diff: DIFF } },
    output: { type: "apply_patch_call_output", status: "failed", output: "no such line" },
    result: "Error: no such line",
  },
  computer: {
    tool: { type: "computer" },
    name: "computer",
    args: { actions: [{ type: "click", x: 1, y: 2, button: "left" }, { type: "screenshot" }] },
    item: {
      type: "computer_call",
      actions: [{ type: "click", x: 1, y: 2, button: "left" }, { type: "screenshot" }],
      pending_safety_checks: [],
    },
    output: { type: "computer_call_output", output: { type: "computer_screenshot", image_url: PIXEL } },
    result: "[image in the next user message]",
  },
  computer_use_preview: {
    tool: { type: "computer_use_preview", display_width: 800, display_height: 600, environment: "browser" },
    name: "computer",
    args: { type: "type", text: "hi" },
    item: { type: "computer_call", action: { type: "type", text: "hi" }, pending_safety_checks: [] },
    output: { type: "computer_call_output", output: { type: "computer_screenshot", image_url: PIXEL } },
    result: "[image in the next user message]",
  },
};

function calls(name: string, args: object): void {
  const text = JSON.stringify(args);
  const pieces = text.match(/.{1,9}/gs) ?? [];
  const part = (fields: object, id?: string): object =>
    chunk("alpha-1", {
      tool_calls: [{ index: 0, ...(id === undefined ? {} : { id, type: "function" }), function: fields }],
    });
  mixed.openai.on("*", (exchange) =>
    exchange.request.body.stream === true
      ? streams(
          [
            part({ name, arguments: "" }, "call_abc"),
            ...pieces.map((piece) => part({ arguments: piece })),
            chunk("alpha-1", {}, "tool_calls"),
          ],
          { usage: USAGE },
        )(exchange)
      : sends(200, {
          ...completion("", "alpha-1"),
          choices: [
            {
              index: 0,
              finish_reason: "tool_calls",
              message: {
                role: "assistant",
                content: null,
                tool_calls: [{ id: "call_abc", type: "function", function: { name, arguments: text } }],
              },
            },
          ],
        })(exchange),
  );
  mixed.anthropic.on("*", saysBlocks([toolUse("call_abc", name, args)], { stopReason: "tool_use" }));
}

const MANNERS = {
  whole: (body: Body) => client.responses.create(body),
  streamed: (body: Body) => client.responses.stream(body).finalResponse(),
} as const;
type Manner = keyof typeof MANNERS;
const EACH = Object.keys(CASES).flatMap((name) =>
  (["alpha", "claude"] as const).flatMap((model) =>
    (Object.keys(MANNERS) as Manner[]).map((manner) => [name, model, manner] as const),
  ),
);

const asked = (model: string, tools: readonly object[], extra: object = {}): Body =>
  ({ model, service_profile: "direct", input: "Go.", tools, ...extra }) as unknown as Body;
const sentTo = (model: string): Json =>
  (model === "alpha" ? mixed.openai : mixed.anthropic).requests.at(-1)?.body as Json;
const said = (answer: unknown): Json => answer as Json;

it.each(EACH)("%s on %s, %s", async (name, model, manner) => {
  const { tool, name: called, args, item, output, result } = CASES[name] as Case;
  calls(called, args);
  const answer = await MANNERS[manner](asked(model, [tool]));
  expect(answer.output).toMatchObject([{ ...item, id: expect.any(String), call_id: "call_abc", status: "completed" }]);
  expect(said(answer).service).toMatchObject({
    notes: [{ code: "content_converted", message: expect.stringContaining(`Turned '${name}' into a function`) }],
  });
  const provider = model === "alpha" ? mixed.openai : mixed.anthropic;
  const [offered] = sentTo(model).tools as Json[];
  expect(said(offered?.function ?? offered)).toMatchObject({
    name: called,
    description: expect.stringMatching(/^\w+s\W.*\.$/),
  });

  mixed.openai.on("*", answers("Done."));
  mixed.anthropic.on("*", saysBlocks([{ type: "text", text: "Done." }]));
  const next = [{ role: "user", content: "Go." }, ...answer.output, { ...output, call_id: "call_abc" }] as Item[];
  const last = await MANNERS[manner]({ ...asked(model, [tool]), input: next });
  expect(last.output_text).toBe("Done.");
  const sent = provider.requests.at(-1)?.raw as string;
  expect(sent).toContain(JSON.stringify(result));
  expect(sent.includes("iVBORw0KGgo=")).toBe(result.startsWith("[image"));
  const [, turn] = sentTo(model).messages as Json[];
  const sentCall = (turn?.tool_calls ?? turn?.content) as Json[];
  const given = model === "alpha" ? JSON.parse(said(sentCall[0]?.function).arguments as string) : sentCall[0]?.input;
  expect(given).toMatchObject(args);
});

it("streams open an item and close it whole, between text and another call", async () => {
  const args = JSON.stringify({ commands: ["ls"] });
  mixed.openai.on(
    "*",
    streams([
      chunk("alpha-1", { content: "I look." }),
      chunk("alpha-1", {
        tool_calls: [{ index: 0, id: "a", type: "function", function: { name: "shell", arguments: args } }],
      }),
      chunk("alpha-1", {
        tool_calls: [{ index: 1, id: "b", type: "function", function: { name: "f", arguments: "{}" } }],
      }),
      chunk("alpha-1", {}, "tool_calls"),
    ]),
  );
  const tools = [{ type: "shell" }, { type: "function", name: "f", parameters: { type: "object" } }];
  const events = await readResponseEvents(
    await mixed.gateway.post("/v1/responses", { ...asked("alpha", tools), stream: true }),
  );
  const { output } = finalResponse(events);
  expect(output.map(({ type }) => type)).toEqual(["message", "shell_call", "function_call"]);
  const added = events.find(({ type, item }) => type.endsWith("item.added") && said(item).type === "shell_call");
  expect(added?.item).toMatchObject({ status: "in_progress", action: { commands: [] } });
});

it.each(['{"commands":["rm -', "rm -rf /", "[]"])("what a model left broken is nothing to run: %s", async (broken) => {
  for (const manner of Object.keys(MANNERS) as Manner[]) {
    mixed.openai.on("*", ({ request, ...rest }) => {
      const call = { id: "a", type: "function", function: { name: "shell", arguments: broken } };
      const message = { role: "assistant", content: null, tool_calls: [call] };
      const behaviour =
        request.body.stream === true
          ? streams([chunk("alpha-1", { tool_calls: [{ index: 0, ...call }] }), chunk("alpha-1", {}, "tool_calls")])
          : sends(200, { ...completion("", "alpha-1"), choices: [{ index: 0, message, finish_reason: "tool_calls" }] });
      return behaviour({ request, ...rest });
    });
    const { output } = await MANNERS[manner](asked("alpha", [{ type: "shell" }]));
    expect(output).toMatchObject([{ type: "shell_call", status: "incomplete", action: { commands: [] } }]);
  }
});

describe("tool_choice", () => {
  it.each([
    [{ type: "shell" }, { type: "function", function: { name: "shell" } }],
    [{ type: "allowed_tools", mode: "required", tools: [{ type: "shell" }] }, "required"],
  ])("%o is kept", async (choice, expected) => {
    const tools = [{ type: "shell" }, { type: "function", name: "f", parameters: { type: "object" } }];
    await client.responses.create(asked("alpha", tools, { tool_choice: choice }));
    expect(mixed.openai.requests.at(-1)?.body.tool_choice).toEqual(expected);
  });

  it("of a tool that was not offered is still refused", async () => {
    const tools = [{ type: "function", name: "f", parameters: { type: "object" } }];
    const asks = client.responses.create(asked("alpha", tools, { tool_choice: { type: "apply_patch" } }));
    await expect(asks).rejects.toMatchObject({ status: 400 });
  });
});

it("a shell in OpenAI's container stays OpenAI's", async () => {
  const asks = client.responses.create(asked("alpha", [{ type: "shell", environment: { type: "container_auto" } }]));
  await expect(asks).rejects.toMatchObject({ status: 400, message: expect.stringContaining("the tool 'shell'") });
});

it("a result of local_shell is found by its id alone", async () => {
  const call = {
    type: "local_shell_call",
    id: "lsh_1",
    call_id: "c1",
    action: { type: "exec", command: ["ls"], env: {} },
  };
  const input = [
    { role: "user", content: "Go." },
    call,
    { type: "local_shell_call_output", id: "lsh_1", output: "a.txt" },
  ];
  await client.responses.create({ ...asked("alpha", []), input: input as Item[] });
  expect(mixed.openai.requests.at(-1)?.body.messages).toMatchObject([
    {},
    { role: "assistant", tool_calls: [{ id: "c1" }] },
    { role: "tool", tool_call_id: "c1", content: "a.txt" },
  ]);
});
