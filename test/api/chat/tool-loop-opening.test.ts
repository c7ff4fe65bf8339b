// A tool loop that another process has opened: what it chose is chosen again, from the messages it had.

import { afterAll, beforeAll, expect, test } from "vitest";
import { TIERS } from "../../../src/core/tiers.ts";
import { startGateway, type TestGateway } from "../../support/gateway/gateway.ts";

/** One is better at opening a loop, the other at going on. */
const scores = (opening: number, goingOn: number): string =>
  `overall: 50, single: ${opening}, parallel: ${opening}, web_search: ${opening}, memory: ${opening}, optional: ${opening}, multi_turn: ${goingOn}`;
const SCORES = { opener: scores(90, 10), later: scores(10, 90) };
const YAML = [
  "catalog: none",
  "providers: { lab: { kind: sandbox } }",
  "models:",
  ...Object.entries(SCORES).map(
    ([id, scored]) =>
      `  - { id: ${id}, provider: lab, price: { input: 1, output: 2 }, context: 128000, capabilities: [tools], bfcl: { ${scored} } }`,
  ),
  "tiers:",
  ...TIERS.map((tier) => `  ${tier}: [later, opener]`),
  "routing: { baseline: later }",
].join("\n");

const asked = { role: "user", content: "What is the weather in Paris? Use the tool." };
const tools = [
  { type: "function", function: { name: "get_weather", parameters: { type: "object", properties: { city: {} } } } },
];
const call = (id: string) => ({
  role: "assistant",
  content: null,
  tool_calls: [{ id, type: "function", function: { name: "get_weather", arguments: '{"city":"Paris"}' } }],
});
const result = (id: string) => ({ role: "tool", tool_call_id: id, content: "rain" });

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ yaml: YAML });
});
afterAll(() => gateway.stop());

interface Decided {
  readonly model: string;
  readonly toolScenario: string;
}

async function decide(messages: readonly object[]): Promise<Decided> {
  const answer = await gateway.post("/v1/routing/debug", { prompt: asked.content, messages, tools });
  return ((await answer.json()) as { decision: Decided }).decision;
}

test("it goes on with the model that its opening leads to, although its scenario is another by now", async () => {
  const opening = await decide([asked]);
  expect(opening).toMatchObject({ model: "opener" });
  const first = await decide([asked, call("call_1"), result("call_1")]);
  expect(first).toMatchObject({ model: "opener", toolScenario: "multi_turn" });
  const second = await decide([asked, call("call_1"), result("call_1"), call("call_2"), result("call_2")]);
  expect(second.model).toBe("opener");
});

test("a loop that is over, or was cut short by a new request, is routed by what it is now", async () => {
  const over = [asked, call("call_1"), result("call_1"), { role: "assistant", content: "It rains." }];
  const next = { role: "user", content: "And what is the weather in Rome? Use the tool." };
  expect(await decide([...over, next])).toMatchObject({ model: "later", toolScenario: "multi_turn" });
  expect((await decide([asked, call("call_1"), result("call_1"), next])).model).toBe("later");
});
