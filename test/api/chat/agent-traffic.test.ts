// What coding agents send: long system blocks, tool lists, reminders, tool results and notes of the harness around one human
// sentence. It is the sentence that is classified, so that turns with different asks get different tiers.

import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { startGateway, type TestGateway } from "../../support/gateway/gateway.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

const text = (words: string): object => ({ type: "text", text: words });
const reminder = (words: string): object => text(`<system-reminder>\n${words}\n</system-reminder>\n`);
const ephemeral = { cache_control: { type: "ephemeral", ttl: "1h" } };

const RULES = [
  "You are an interactive agent that helps users with software engineering tasks. Use the instructions below and the tools available.",
  "IMPORTANT: analyse the architecture, refactor carefully, debug step by step, prove correctness and write exhaustive tests.",
  "Do not create files unless they are necessary. Prefer editing. Be concise and direct; answer in fewer than four lines.",
].join("\n");

const TOOLS = [
  "Bash",
  "Read",
  "Edit",
  "Write",
  "Glob",
  "Grep",
  "Task",
  "TodoWrite",
  "WebFetch",
  "NotebookEdit",
  "Skill",
  "ToolSearch",
].map((name) => ({
  name,
  description: `${name}: ${"Executes, analyses, debugs and refactors code in the working directory. ".repeat(20)}`,
  input_schema: {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    properties: {
      target: { type: "string" },
      timeout: { type: "number", exclusiveMinimum: 0, maximum: 9007199254740991 },
    },
    required: ["target"],
    additionalProperties: false,
  },
}));

const CLAUDE_MD = `Codebase and user instructions are shown below.\n${"Use strict types, prove invariants, optimise the scheduler, design for distributed consensus. ".repeat(40)}`;

const opening = (ask: string): object => ({
  role: "user",
  content: [
    reminder("The following deferred tools are available through ToolSearch: a, b, c"),
    reminder(CLAUDE_MD),
    reminder("The task list is empty. Consider using TodoWrite for complex multi-step refactoring."),
    { ...text(ask), ...ephemeral },
  ],
});

const AFTERTHOUGHT = {
  role: "system",
  content: [text("Current branch: main. Status: clean. Recent commits: fix the race in the lock-free queue.")],
  output_config: { effort: "high" },
};

/** As Claude Code sends it: the ask last among reminders, a system turn after it. */
const agentBody = (messages: readonly object[]): object => ({
  model: "claude-opus-5-5",
  max_tokens: 32_000,
  system: [
    text("x-anthropic-billing-header: cc_version=2.1.325; cch=1f2e3"),
    { ...text("You are Claude Code, Anthropic's official CLI for Claude."), ...ephemeral },
    { ...text(RULES.repeat(15)), ...ephemeral },
  ],
  tools: TOOLS,
  thinking: { type: "adaptive", display: "omitted" },
  context_management: { edits: [{ type: "clear_thinking_20251015", keep: "all" }] },
  metadata: { user_id: JSON.stringify({ device_id: "d".repeat(64), session_id: "s".repeat(36) }) },
  messages,
});

const bare = (ask: string): object => ({
  model: "auto",
  max_tokens: 32_000,
  tools: TOOLS,
  messages: [{ role: "user", content: ask }],
});

async function tierOf(body: object): Promise<string> {
  const answer = await gateway.post("/v1/messages?beta=true", body, { "anthropic-beta": "claude-code-20250219" });
  const told = (await answer.json()) as { service?: { tier: string } };
  expect([answer.status, told.service]).toEqual([200, expect.anything()]);
  return told.service?.tier ?? "";
}

const called = (id: string, name = "Bash"): object => ({
  role: "assistant",
  content: [text("I will look at it."), { type: "tool_use", id, name, input: { target: "x" } }],
});
const returned = (id: string, ...more: readonly object[]): object => ({
  role: "user",
  content: [
    {
      type: "tool_result",
      tool_use_id: id,
      content: [text("segfault in lock_free_queue.c; prove linearizability. ".repeat(60))],
    },
    ...more,
  ],
});

const ASKS = [
  "hi",
  "thanks!",
  "What does HTTP 404 mean?",
  "Translate 'good morning' into French.",
  "Write a function that reverses a string in Python.",
  "Summarize this file in two sentences.",
  "Prove that the scheduler is deadlock-free, derive its worst-case latency under contention and redesign it as a lock-free structure with formal invariants.",
];

describe("the tier", () => {
  test.each(ASKS)("is that of the ask alone: %s", async (ask) => {
    const alone = await tierOf(bare(ask));
    expect(await tierOf(agentBody([opening(ask)]))).toBe(alone);
    expect(await tierOf(agentBody([opening(ask), AFTERTHOUGHT]))).toBe(alone);
    // Within the tool loop the ask is still the same one, whatever came back.
    expect(
      await tierOf(agentBody([opening(ask), called("toolu_1"), returned("toolu_1", reminder("Keep going."))])),
    ).toBe(alone);
  });

  it("differs between turns of one conversation", async () => {
    const easy = [opening("hi"), { role: "assistant", content: "Hello! What shall we do?" }];
    const hard = { role: "user", content: [reminder("x"), text(ASKS.at(-1) as string)] };
    const done = { role: "assistant", content: "Here is the proof." };
    const tiers = [
      await tierOf(agentBody(easy.slice(0, 1))),
      await tierOf(agentBody([...easy, hard])),
      await tierOf(
        agentBody([
          ...easy,
          hard,
          done,
          { role: "user", content: [reminder("x"), text("What is the capital of France?")] },
        ]),
      ),
    ];
    expect(new Set(tiers).size).toBeGreaterThanOrEqual(2);
    expect(tiers[1]).not.toBe(tiers[0]);
    expect(tiers[2]).not.toBe(tiers[1]);
  });

  test.each([
    [
      "Claude Code's record of a local command",
      (ask: string) =>
        `<local-command-caveat>Generated while running local commands.</local-command-caveat>\n<local-command-stdout>prove lemma 4, derive the bound, refactor the scheduler</local-command-stdout>\n${ask}`,
    ],
    [
      "Cline's environment",
      (ask: string) =>
        `${ask}\n<environment_details>\n# Visible files\nprove.v\nscheduler.c\nderive_complexity.py\n</environment_details>`,
    ],
    [
      "a hook's words",
      (ask: string) =>
        `<user-prompt-submit-hook>refactor the consensus module, prove the invariants and derive the bounds</user-prompt-submit-hook>${ask}`,
    ],
  ])("does not hear %s", async (_name, wrap) => {
    for (const ask of [ASKS[0] as string, ASKS.at(-1) as string]) {
      expect(await tierOf(bare(wrap(ask)))).toBe(await tierOf(bare(ask)));
    }
  });
});
