// An agent on a fresh gateway, which has only the sandbox: it does what each call says, and it ends after one.

import { afterAll, beforeAll, expect, it } from "vitest";
import { startGateway, type TestGateway } from "../../support/gateway/gateway.ts";

const PROMPT = "touch made-by-the-prompt.txt";
const COMMAND = { type: "object", properties: { command: { type: "string" } }, required: ["command"] };
const TASK = { type: "object", properties: { prompt: { type: "string" } }, required: ["prompt"] };
/** An agent that has not ended by then runs in circles. */
const TURNS_MAX = 10;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

interface ChatAnswer {
  readonly choices: readonly [{ readonly message: { readonly tool_calls?: readonly { readonly id: string }[] } }];
}

it("through chat completions", async () => {
  const tools = [{ type: "function", function: { name: "bash", description: "Runs a command.", parameters: COMMAND } }];
  const messages: object[] = [{ role: "user", content: PROMPT }];
  let turns = 0;
  for (let isOver = false; !isOver && turns < TURNS_MAX; turns += 1) {
    const answer = await gateway.post("/v1/chat/completions", { model: "auto", messages, tools });
    const { message } = ((await answer.json()) as ChatAnswer).choices[0];
    const [call] = message.tool_calls ?? [];
    isOver = call === undefined;
    if (call === undefined) continue;
    expect(JSON.stringify(call)).not.toContain("touch");
    messages.push(message, { role: "tool", tool_call_id: call.id, content: "exit 0" });
  }
  expect(turns).toBe(2);
});

interface MessagesAnswer {
  readonly content: readonly { readonly type: string; readonly id?: string; readonly input?: { prompt?: string } }[];
}

it("through Messages, with reminders behind the results and an agent that it starts", async () => {
  const tools = [
    { name: "Agent", description: "Launch a new agent for a task.", input_schema: TASK },
    { name: "Bash", description: "Executes a command.", input_schema: COMMAND },
  ];
  let requests = 0;
  const run = async (prompt: string): Promise<void> => {
    const messages: object[] = [{ role: "user", content: prompt }];
    while (requests < TURNS_MAX) {
      requests += 1;
      const body = { model: "auto", max_tokens: 500, messages, tools };
      const { content } = (await (await gateway.post("/v1/messages", body)).json()) as MessagesAnswer;
      const use = content.find(({ type }) => type === "tool_use");
      if (use === undefined) return;
      expect(JSON.stringify(use)).not.toContain("touch");
      if (use.input?.prompt !== undefined) await run(use.input.prompt);
      const result = { type: "tool_result", tool_use_id: use.id, content: "done" };
      const reminder = { type: "text", text: "<system-reminder>Keep your list of tasks up to date.</system-reminder>" };
      messages.push({ role: "assistant", content }, { role: "user", content: [result, reminder] });
    }
  };
  await run(PROMPT);
  // The first call, the agent that it starts, and the answer.
  expect(requests).toBe(3);
});
