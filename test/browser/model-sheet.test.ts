// One model on the models page: its place in the chains, and what was seen of its tool calls.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TIERS } from "../../src/core/tiers.ts";
import { completion, sends, startFakeProvider } from "../support/providers/fake-provider.ts";
import { hasBrowser, settled, show, startDashboard } from "./dashboard.ts";

const provider = await startFakeProvider();
afterAll(() => provider.close());

const model = (id: string, score: number): string =>
  `  - { id: ${id}, provider: lab, price: { input: 1, output: 1 }, capabilities: [tools], bfcl: { overall: ${score}, single: ${score} } }`;
const CHAINS = { NANO: "steady", LIGHT: "steady, careful", STANDARD: "careful, steady, modest" } as const;
const yaml = [
  "catalog: none",
  `providers: { lab: { kind: openai, baseUrl: "${provider.url}", apiKey: lab-secret } }`,
  "models:",
  ...[model("careful", 80), model("steady", 72), model("modest", 30)],
  "tiers:",
  ...TIERS.map((tier) => `  ${tier}: [${(CHAINS as Partial<Record<string, string>>)[tier] ?? "steady"}]`),
  "routing: { baseline: careful }",
].join("\n");

const BAD_CALLS = 32;
const TOOL = {
  name: "get_weather",
  description: "Current weather of a city",
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
};

describe.runIf(hasBrowser)("a model's sheet", () => {
  const { gateway, visit } = startDashboard({ yaml });
  beforeAll(async () => {
    const call = { id: "c1", type: "function", function: { name: TOOL.name, arguments: '{"town":"Rome"}' } };
    const message = { role: "assistant", content: null, tool_calls: [call] };
    provider.on("*", sends(200, completion("", "careful", { choices: [{ index: 0, message }] })));
    const asked = {
      ...{ model: "careful", service_profile: "direct", tools: [{ type: "function", function: TOOL }] },
      messages: [{ role: "user", content: "What is the weather in Rome?" }],
    };
    for (let sent = 0; sent < BAD_CALLS; sent += 1) {
      expect((await gateway().post("/v1/chat/completions", asked)).status).toBe(200);
    }
  });

  test("says where it stands in each chain, and opens the one before it", async () => {
    const { page, troubles } = await visit("/models?model=careful");
    const sheet = page.getByRole("region", { name: "Model careful" });
    const light = sheet.getByRole("list", { name: "LIGHT chain" });
    await light.waitFor();
    const rows = sheet.locator(".standing > li");
    await expect
      .poll(() => rows.allTextContents())
      .toEqual([expect.stringMatching(/^LIGHT *#2 of 2/), expect.stringMatching(/^STANDARD *#1 of 3/)]);
    await expect.poll(() => light.getByRole("listitem").allTextContents()).toEqual(["steady", "careful"]);
    await light.getByRole("link", { name: "steady" }).click();
    await page.getByRole("region", { name: "Model steady" }).getByText("#1 of 2", { exact: true }).waitFor();
    await page.goBack();
    await light.waitFor();
    expect(troubles).toEqual([]);
  });

  test("shows how many of its tool calls could be used, and what that takes off its score", async () => {
    const { page } = await visit("/models?model=careful");
    const sheet = page.getByRole("region", { name: "Model careful" });
    await sheet.getByText(`${BAD_CALLS} calls, 0 valid: score 80.0 → 60.0 (−25%)`).waitFor();
    const single = sheet.locator(".scores > div").filter({ hasText: "single" });
    await expect.poll(() => single.locator("dd").textContent()).toMatch(/^60\.0/);
    await expect.poll(() => sheet.locator(".scores .lost").count()).toBe(1);
    await show(page, "/models?model=modest");
    await page.getByRole("region", { name: "Model modest" }).getByText("overall").waitFor();
    await settled(page);
    expect(await page.locator(".scores .seen").count()).toBe(0);
  });
});
