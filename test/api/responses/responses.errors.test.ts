// Errors and admission on /v1/responses: OpenAI's shape, `param`, and no retry where none helps. The debug endpoint
// takes the same fields.

import { afterAll, beforeAll, beforeEach, describe, expect, it, test } from "vitest";
import { expectError } from "../../support/errors.ts";
import { type Mixed, startMixed } from "../../support/providers/mixed.ts";
import { QUESTION } from "../../support/providers/responses.ts";

let mixed: Mixed;
beforeAll(async () => {
  mixed = await startMixed();
});
beforeEach(() => mixed.reset());
afterAll(() => mixed.close());

const post = (body: unknown, headers: Record<string, string> = {}): Promise<Response> =>
  mixed.gateway.post("/v1/responses", body, headers);

describe("refused", () => {
  test.each([
    ["no input", { model: "auto" }, 400, "input"],
    ["input of the wrong type", { input: 7 }, 400, "input"],
    ["a wrong role", { input: [{ role: "robot", content: "x" }] }, 400, "input[0].role"],
    ["an item that is not stored", { input: [{ type: "item_reference", id: "msg_1" }] }, 404, "input"],
    ["a response that is not stored", { input: "x", previous_response_id: "resp_1" }, 400, "previous_response_id"],
    ["the profile direct without a model", { input: "x", service_profile: "direct" }, 400, "model"],
    ["an unknown format", { input: "x", text: { format: { type: "yaml" } } }, 400, "text.format.type"],
    ["a format without type", { input: "x", text: { format: {} } }, 400, "text.format.type"],
    ["no schema", { input: "x", text: { format: { type: "json_schema", name: "n" } } }, 400, "text.format.schema"],
    ["no name", { input: "x", text: { format: { type: "json_schema", schema: {} } } }, 400, "text.format.name"],
    ["a wrong floor", { input: "x", service_tier_floor: "HUGE" }, 400, "service_tier_floor"],
  ])("%s", async (_name, body, status, param) => {
    const answer = await post(body);
    await expectError(answer, { status, param });
    expect(answer.headers.get("x-should-retry")).toBe("false");
    expect([...mixed.openai.requests, ...mixed.anthropic.requests]).toEqual([]);
  });

  it("a wrong key, a wrong method, no JSON and an unknown path below", async () => {
    await expectError(await post(QUESTION, { authorization: "Bearer sk-service-no" }), { status: 401 });
    await expectError(await mixed.gateway.get("/v1/responses"), { status: 405 });
    await expectError(await post(QUESTION, { "content-type": "text/plain" }), { status: 415 });
    await expectError(await mixed.gateway.post("/v1/responses/x/y/z", QUESTION), { status: 404 });
  });
});

it("is recorded with its path, decision and conversions", async () => {
  const asked = { model: "alpha", service_profile: "direct", input: "hi", truncation: "auto" };
  const answer = await post(asked, { "x-request-id": "seen-in-the-log" });
  await answer.text();
  const record = async (): Promise<unknown> => (await mixed.gateway.api("GET", "/api/requests/seen-in-the-log")).json();
  await expect.poll(record, { timeout: 120_000 }).toMatchObject({
    route: "/v1/responses",
    status: 200,
    attempts: [{ conversions: ["dropped 'truncation': only providers of the Responses API have it"] }],
  });
});

describe("the debug endpoint", () => {
  const TOOL = { type: "function", name: "t", parameters: { type: "object" } };
  const LOOP = [
    { role: "user", content: "Hi" },
    { type: "function_call", call_id: "a", name: "t", arguments: "{}" },
    { type: "function_call_output", call_id: "a", output: "22" },
  ];
  test.each<readonly [string, object]>([
    ["a question", { input: "What is the capital of France?" }],
    ["a hard one", { input: "Prove that the scheduler is deadlock-free and derive its worst-case latency." }],
    ["a tool result", { input: LOOP, tools: [TOOL] }],
    ["controls", { input: "Hi", service_tier_floor: "COMPLEX" }],
    ["an image", { input: [{ role: "user", content: [{ type: "input_image", image_url: "https://x/y.png" }] }] }],
  ])("decides as live does: %s", async (_name, request) => {
    const asked = await mixed.gateway.post("/v1/routing/debug", { prompt: " ", ...request });
    const { decision } = (await asked.json()) as { decision: { model: string; tier: string } };
    const live = (await (await post(request)).json()) as { service: { model: string; tier: string } };
    expect(live.service).toMatchObject({ model: decision.model, tier: decision.tier });
  });

  it("tells what conversion would change", async () => {
    const body = { prompt: " ", input: "Hi", model: "alpha", profile: "direct", tools: [TOOL, { type: "web_search" }] };
    const { decision } = (await (await mixed.gateway.post("/v1/routing/debug", body)).json()) as {
      decision: { conversions: readonly string[] };
    };
    expect(decision.conversions).toEqual(["dropped the tool 'web_search': only providers of the Responses API run it"]);
  });
});
