// Known fields of a wrong type or range, and routing controls that count and are not valid. Behaviour 4.3, 4.5.

import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { expectError } from "../../support/errors.ts";
import { HELLO, labYaml, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { type FakeProvider, startFakeProvider } from "../../support/providers/fake-provider.ts";

let provider: FakeProvider;
let gateway: TestGateway;
beforeAll(async () => {
  provider = await startFakeProvider();
  gateway = await startGateway({ yaml: labYaml(provider.url) });
});
afterAll(async () => {
  await gateway.stop();
  await provider.close();
});

const wrong: readonly (readonly [string, string])[] = [
  ["service_profile", '"fast"'],
  ["service_profile", "1"],
  ["service_profile", '"Auto"'],
  ["service_tier_floor", '"HUGE"'],
  ["service_tier_floor", '"standard"'],
  ["service_tier_floor", "3"],
  ["service_tier_ceiling", '"HUGE"'],
  ["service_tier_ceiling", '["NANO"]'],
  ["service_max_cost", "-1"],
  ["service_max_cost", "1e400"],
  ["service_max_cost", '"NaN"'],
  ["service_max_cost", '"0.01"'],
  ["service_bfcl_min", "-1"],
  ["service_bfcl_min", '"high"'],
  ["service_code_quality", "3"],
  ["service_code_quality", "-1"],
  ["service_code_quality", "1.5"],
  ["service_code_quality", '"2"'],
  ["service_chat_quality", "3"],
  ["service_chat_quality", "true"],
  ["max_tokens", "-1"],
  ["max_tokens", "0"],
  ["max_tokens", "1.5"],
  ["max_tokens", "9007199254740993"],
  ["max_tokens", '"10"'],
  ["max_tokens", "1e400"],
  ["max_tokens", "[]"],
  ["max_completion_tokens", "-1"],
  ["max_completion_tokens", "1e10"],
  ["n", "0"],
  ["n", "129"],
  ["n", '"2"'],
  ["stream", '"true"'],
  ["stream", "1"],
  ["stream_options", "true"],
  ["model", "5"],
  ["model", "{}"],
  ["tools", "{}"],
  ["tools", '"get_weather"'],
  ["functions", "{}"],
  ["temperature", '"hot"'],
  ["temperature", "2.1"],
  ["top_p", "-0.1"],
  ["presence_penalty", "3"],
  ["frequency_penalty", "[]"],
  ["parallel_tool_calls", '"no"'],
  ["response_format", '"json"'],
  ["stop", "5"],
  ["stop", '["a",5]'],
  ["tool_choice", "5"],
];

describe("400 at /v1/chat/completions", () => {
  it.each(wrong)("%s: %s", async (name, value) => {
    const body = `{"messages":[{"role":"user","content":"Hello"}],${JSON.stringify(name)}:${value}}`;
    const error = await expectError(await gateway.post("/v1/chat/completions", body), {
      status: 400,
      code: "invalid_value",
      param: name,
    });
    expect(error.message).toContain(name);
    expect(provider.requests).toEqual([]);
  });

  it("a tool that is no object is named by its place", async () => {
    const answer = await gateway.post("/v1/chat/completions", { ...HELLO, tools: [{ function: {} }, "x"] });
    await expectError(answer, { status: 400, param: "tools[1]" });
  });

  it.each([
    ["no service_tier", {}],
    ["a vendor's service_tier", { service_tier: "flex" }],
    ["an unknown tier", { service_tier: "HUGE" }],
    ["a null tier", { service_tier: null }],
  ])("profile tier with %s", async (_name, extra) => {
    const body = { ...HELLO, service_profile: "tier", ...extra };
    await expectError(await gateway.post("/v1/chat/completions", body), { status: 400, param: "service_tier" });
  });

  it.each([[{ model: undefined }], [{ model: null }], [{ model: "" }], [{ model: "auto" }]])(
    "profile direct with %j",
    async (extra) => {
      const body = { ...HELLO, service_profile: "direct", ...extra };
      await expectError(await gateway.post("/v1/chat/completions", body), { status: 400, param: "model" });
    },
  );
});

describe("400 at /v1/routing/debug", () => {
  it.each(wrong.filter(([name]) => name !== "model"))("%s: %s", async (name, value) => {
    const answer = await gateway.post("/v1/routing/debug", `{"prompt":"Hello",${JSON.stringify(name)}:${value}}`);
    await expectError(answer, { status: 400, code: "invalid_value", param: name });
  });

  it.each([
    ["no prompt", "{}", "prompt"],
    ["a null prompt", '{"prompt":null}', "prompt"],
    ["an empty prompt", '{"prompt":""}', "prompt"],
    ["a prompt that is a number", '{"prompt":5}', "prompt"],
    ["messages and an empty prompt", '{"prompt":"","messages":[{"role":"user","content":"x"}]}', "prompt"],
    ["system_prompt as a number", '{"prompt":"x","system_prompt":5}', "system_prompt"],
    ["max_output_tokens 0", '{"prompt":"x","max_output_tokens":0}', "max_output_tokens"],
    ["max_output_tokens as text", '{"prompt":"x","max_output_tokens":"9"}', "max_output_tokens"],
  ])("%s", async (_name, body, param) => {
    await expectError(await gateway.post("/v1/routing/debug", body), { status: 400, param });
  });
});

describe("null counts as absent", () => {
  it("for every field the gateway reads", async () => {
    const names = [...new Set(wrong.map(([name]) => name))];
    const body = { ...HELLO, service_tier: null, ...Object.fromEntries(names.map((name) => [name, null])) };
    expect((await gateway.post("/v1/chat/completions", body)).status).toBe(200);
  });
});

describe("service_tier outside the profile tier", () => {
  it.each(["flex", "auto", "standard_only", "COMPLEX", 5, { x: 1 }, null])(
    "%j is ignored and dropped",
    async (service_tier) => {
      provider.requests.length = 0;
      const answer = await gateway.post("/v1/chat/completions", { ...HELLO, service_tier });
      expect(answer.status).toBe(200);
      const { service } = (await answer.json()) as { service: { tier: string; profile: string } };
      expect(service.profile).toBe("auto");
      expect(service.tier).not.toBe("COMPLEX");
      expect(provider.requests.map(({ raw }) => raw.includes("service_tier"))).toEqual([false]);
    },
  );
});

describe("a need that no model meets", () => {
  it("is a 400 that names it", async () => {
    const long = { messages: [{ role: "user", content: "word ".repeat(400_000) }] };
    const error = await expectError(await gateway.post("/v1/chat/completions", long), {
      status: 400,
      code: "context_length_exceeded",
    });
    expect(error.message).toMatch(/context window/);
    const logged = async () => (await gateway.api("GET", `/api/requests/${error.request_id}`)).json();
    await vi.waitFor(async () => expect(await logged()).toMatchObject({ errorMessage: error.message }), 120_000);
  });
});
