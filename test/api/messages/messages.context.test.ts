// Edits of the context in the Messages API, done by the gateway for models of other providers, through the official client.

import Anthropic from "@anthropic-ai/sdk";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { answers } from "../../support/providers/fake-provider.ts";
import { type Mixed, startMixed } from "../../support/providers/mixed.ts";
import type { Json } from "../../support/providers/streams.ts";

type Params = Anthropic.Beta.Messages.MessageCreateParamsNonStreaming;
type Edits = NonNullable<NonNullable<Params["context_management"]>["edits"]>;
type Notes = { readonly service: { readonly notes?: readonly { readonly code: string; readonly message: string }[] } };

let mixed: Mixed;
let client: Anthropic;
beforeAll(async () => {
  mixed = await startMixed();
  client = new Anthropic({ baseURL: mixed.gateway.url, apiKey: mixed.gateway.key, maxRetries: 0 });
});
beforeEach(async () => {
  await mixed.reset();
  mixed.openai.on("*", answers("Done."));
});
afterAll(() => mixed.close());

/** Long enough to be left in the body unparsed. */
const FOUND = (n: number): string => `found ${n} ${"x".repeat(2_000)}`;
const USES = [0, 1, 2, 3, 4];
const nameOf = (n: number): string => (n === 1 ? "memory" : "look");

function turns(): Params["messages"] {
  const loop = USES.flatMap((n): Params["messages"] => [
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: `thought ${n}`, signature: "" },
        { type: "tool_use", id: `toolu_${n}`, name: nameOf(n), input: { n } },
      ],
    },
    {
      role: "user",
      content: [{ type: "tool_result", tool_use_id: `toolu_${n}`, content: n === 0 ? [text(FOUND(n))] : FOUND(n) }],
    },
  ]);
  return [{ role: "user", content: "Look." }, ...loop];
}

function text(words: string): { type: "text"; text: string } {
  return { type: "text", text: words };
}

const bodyOf = (edits: Edits, messages = turns()): Params => ({
  ...{
    model: "alpha",
    max_tokens: 100,
    messages,
    context_management: { edits },
    betas: ["context-management-2025-06-27"],
  },
  tools: ["look", "memory"].map((name) => ({ name, input_schema: { type: "object" as const } })),
  ...{ service_profile: "direct" },
});
const sent = (): Json[] => (mixed.openai.requests[0] as { body: Json }).body.messages as Json[];
const results = (): unknown[] => sent().flatMap(({ role, content }) => (role === "tool" ? [content] : []));
const notesOf = (answer: unknown) => (answer as Notes).service.notes ?? [];
const SHORT = expect.stringMatching(/^\[Cleared to save context\./);
const CLEAR = { type: "clear_tool_uses_20250919", trigger: { type: "tool_uses", value: 4 } } as const;

it.each(["whole", "streamed"])("results of old calls are cleared, and the answer says so, %s", async (manner) => {
  const body = bodyOf([{ ...CLEAR, exclude_tools: ["memory"], clear_tool_inputs: true }]);
  const answer =
    manner === "whole"
      ? await client.beta.messages.create(body)
      : await client.beta.messages.stream(body as never).finalMessage();
  expect(results()).toEqual([SHORT, ...USES.slice(1).map(FOUND)]);
  const [, first, , second] = sent();
  expect([first, second]).toMatchObject([
    { tool_calls: [{ function: { arguments: "{}" } }] },
    { tool_calls: [{ function: { arguments: '{"n":1}' } }] },
  ]);
  const [edit] = answer.context_management?.applied_edits ?? [];
  expect(edit).toMatchObject({ type: "clear_tool_uses_20250919", cleared_tool_uses: 1 });
  expect(edit?.cleared_input_tokens).toBeGreaterThan(500);
  if (manner === "whole")
    expect(notesOf(answer)).toContainEqual({
      code: "context_edited",
      message: expect.stringMatching(/clear_tool_uses_20250919/),
    });
});

it.each<[string, Edits, unknown[]]>([
  ["below its trigger", [{ ...CLEAR, trigger: { type: "tool_uses", value: 5 } }], USES.map(FOUND)],
  ["below the usual trigger", [{ type: "clear_tool_uses_20250919" }], USES.map(FOUND)],
  [
    "above a trigger of tokens",
    [{ ...CLEAR, trigger: { type: "input_tokens", value: 1_000 }, keep: { type: "tool_uses", value: 1 } }],
    [SHORT, SHORT, SHORT, SHORT, FOUND(4)],
  ],
  [
    "for less than it wants to clear",
    [{ ...CLEAR, clear_at_least: { type: "input_tokens", value: 9_000 } }],
    USES.map(FOUND),
  ],
])("an edit %s clears what it says", async (_name, edits, expected) => {
  const answer = await client.beta.messages.create(bodyOf(edits));
  expect(results()).toEqual(expected);
  const isCleared = expected[0] !== FOUND(0) && expected[0] === SHORT;
  expect(answer.context_management?.applied_edits).toHaveLength(isCleared ? 1 : 0);
});

it("thinking of old turns is cleared, and never that of the calls that are open", async () => {
  const messages: Params["messages"] = [
    { role: "user", content: "Think." },
    { role: "assistant", content: [{ type: "thinking", thinking: "an old thought", signature: "" }, text("Yes.")] },
    ...turns(),
  ];
  const answer = await client.beta.messages.create(bodyOf([{ type: "clear_thinking_20251015" }], messages));
  expect(answer.context_management?.applied_edits).toMatchObject([
    { type: "clear_thinking_20251015", cleared_thinking_turns: 1 },
  ]);
  expect(results()).toEqual(USES.map(FOUND));
});

it("an edit that only Anthropic does is said to be dropped, and a request without edits tells of none", async () => {
  const compacted = await client.beta.messages.create(bodyOf([{ type: "compact_20260112" }]));
  expect(compacted.context_management?.applied_edits).toEqual([]);
  expect(notesOf(compacted)).toContainEqual({
    code: "option_dropped",
    message: expect.stringMatching(/compact_20260112/),
  });
  const { context_management: _, ...plain } = bodyOf([]);
  expect(await client.beta.messages.create(plain)).not.toHaveProperty("context_management");
});
