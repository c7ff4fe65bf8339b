// The old `functions`: an answer of any provider comes back as `function_call`, because such clients read no `tool_calls`.

import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { askAs, type EveryFormat, startEveryFormat } from "../../support/gateway/every-client.ts";
import { saysBlocks, text, toolUse } from "../../support/providers/fake-anthropic.ts";
import { chunk, completion, sends, streams } from "../../support/providers/fake-provider.ts";
import { readStream } from "../../support/providers/streams.ts";

let every: EveryFormat;
beforeAll(async () => {
  every = await startEveryFormat();
});
beforeEach(() => every.reset());
afterAll(() => every.close());

const FUNCTION = { name: "get_weather", parameters: { type: "object", properties: { city: { type: "string" } } } };
const OLD = { service_profile: "direct", functions: [FUNCTION], function_call: "auto" };
const CALLED = { name: "get_weather", arguments: '{"city":"Rome"}' };
const call = (index: number, name: string, args: string) => ({
  index,
  id: `call_${index}x`,
  type: "function",
  function: { name, arguments: args },
});

function script(): void {
  const blocks = [text("Look."), toolUse("toolu_1", "get_weather", { city: "Rome" }), toolUse("toolu_2", "other", {})];
  every.providers.claude.on("*", saysBlocks(blocks, { stopReason: "tool_use" }));
}

test("a whole answer of Anthropic has function_call and its finish reason", async () => {
  script();
  const answer = await askAs(every.gateway, { client: "chat", isStream: false, model: "claude" }, OLD);
  const { choices } = (await answer.json()) as { choices: readonly object[] };
  expect(choices).toMatchObject([
    { message: { content: "Look.", function_call: CALLED }, finish_reason: "function_call" },
  ]);
  expect(JSON.stringify(choices)).not.toContain("tool_calls");
  expect(every.providers.claude.requests.at(-1)?.body.tool_choice).toEqual({
    type: "auto",
    disable_parallel_tool_use: true,
  });
});

test("a stream of Anthropic has them too", async () => {
  script();
  const answer = await askAs(every.gateway, { client: "chat", isStream: true, model: "claude" }, OLD);
  const { chunks } = await readStream(answer);
  expect(JSON.stringify(chunks)).not.toContain("tool_calls");
  const calls = chunks.flatMap(({ choices }) => (choices as readonly { delta?: { function_call?: object } }[]) ?? []);
  const pieces = calls.flatMap(({ delta }) => (delta?.function_call as { name?: string; arguments?: string }) ?? []);
  expect(pieces.filter(({ name }) => name !== undefined)).toMatchObject([{ name: "get_weather" }]);
  expect(JSON.parse(pieces.map((piece) => piece.arguments ?? "").join(""))).toEqual({ city: "Rome" });
  expect(JSON.stringify(chunks)).toContain('"finish_reason":"function_call"');
});

test("a chat-completions host that answers with tool_calls is read the same", async () => {
  const { alpha } = every.providers;
  const message = { role: "assistant", content: null, tool_calls: [call(0, CALLED.name, CALLED.arguments)] };
  const choices = [{ index: 0, message, finish_reason: "tool_calls" }];
  alpha.once("alpha", sends(200, { ...completion("", "alpha"), choices }));
  const whole = await askAs(every.gateway, { client: "chat", isStream: false, model: "alpha" }, OLD);
  expect(await whole.json()).toMatchObject({
    choices: [{ message: { function_call: CALLED }, finish_reason: "function_call" }],
  });
  alpha.once(
    "alpha",
    streams([chunk("alpha", { tool_calls: [call(0, CALLED.name, "")] }), chunk("alpha", {}, "tool_calls")]),
  );
  const { chunks } = await readStream(
    await askAs(every.gateway, { client: "chat", isStream: true, model: "alpha" }, OLD),
  );
  expect(JSON.stringify(chunks)).toContain('"function_call":{"name":"get_weather","arguments":""}');
  expect(JSON.stringify(chunks)).toContain('"function_call":{"arguments":"{}"}');
});

test("clients of `tools` still get tool_calls", async () => {
  script();
  const tools = [{ type: "function", function: FUNCTION }];
  const extra = { service_profile: "direct", tools };
  const answer = await askAs(every.gateway, { client: "chat", isStream: false, model: "claude" }, extra);
  expect(await answer.json()).toMatchObject({
    choices: [{ message: { tool_calls: [{}, {}] }, finish_reason: "tool_calls" }],
  });
});
