// Each host's differences, as a provider sees them: names of the output cap, refused and renamed fields, tool ids, roles.

import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import {
  type FakeProvider,
  type ReceivedBody,
  sends,
  startFakeProvider,
} from "../../support/providers/fake-provider.ts";

let provider: FakeProvider;
let gateway: TestGateway;
beforeAll(async () => {
  provider = await startFakeProvider();
  gateway = await startGateway({ yaml: yaml(provider.url) });
});
afterEach(() => provider.reset());
afterAll(async () => {
  await gateway.stop();
  await provider.close();
});

/** Built-in providers and their models with another address, and models whose dialect is written in the file. */
function yaml(url: string): string {
  const model = (id: string, dialect: string): string =>
    `  - { id: ${id}, provider: lab, upstream: ${id}-upstream, price: { input: 1, output: 3 }, maxOutput: 1000, capabilities: [tools], dialect: { ${dialect} } }`;
  return [
    "providers:",
    `  lab: { kind: openai, baseUrl: "${url}", apiKey: k }`,
    `  mistral: { kind: openai, baseUrl: "${url}", apiKey: k }`,
    `  openai: { kind: openai, baseUrl: "${url}", apiKey: k }`,
    `  google: { kind: openai, baseUrl: "${url}", apiKey: k }`,
    `  groq: { kind: openai, baseUrl: "${url}", apiKey: k }`,
    "models:",
    model("plain", "outputCap: as-sent"),
    model("old-cap", "outputCap: max_tokens"),
    model("new-cap", "outputCap: max_completion_tokens"),
    model("picky", "refuses: [temperature, top_k], renames: { seed: random_seed }"),
    model("short-ids", "toolIds: alphanumeric-9"),
    model("no-developer", "hasDeveloperRole: false"),
    model("no-names", "takesMessageNames: false"),
    model("no-stream-options", "takesStreamOptions: false"),
  ].join("\n");
}

const USER = { role: "user", content: "Hi" };

async function sent(model: string, extra: object | string): Promise<ReceivedBody> {
  const fields = typeof extra === "string" ? extra : JSON.stringify({ messages: [USER], ...extra }).slice(1, -1);
  const body = `{"service_profile":"direct","model":${JSON.stringify(model)},${fields}}`;
  const answer = await gateway.post("/v1/chat/completions", body);
  expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining(`"${model}"`)]);
  return provider.requests.at(-1)?.body as ReceivedBody;
}

describe("the output cap", () => {
  it.each([
    ["plain", { max_tokens: 5 }, { max_tokens: 5 }],
    ["plain", { max_completion_tokens: 5 }, { max_completion_tokens: 5 }],
    ["plain", {}, {}],
    ["plain", { max_tokens: 5000 }, { max_tokens: 1000 }],
    ["plain", { max_completion_tokens: 5000 }, { max_completion_tokens: 1000 }],
    ["old-cap", { max_completion_tokens: 5 }, { max_tokens: 5 }],
    ["old-cap", { max_tokens: 5 }, { max_tokens: 5 }],
    ["old-cap", { max_completion_tokens: 5000 }, { max_tokens: 1000 }],
    ["old-cap", {}, {}],
    ["new-cap", { max_tokens: 5 }, { max_completion_tokens: 5 }],
    ["new-cap", { max_tokens: 5000 }, { max_completion_tokens: 1000 }],
    ["new-cap", { max_tokens: 5, max_completion_tokens: 7 }, { max_completion_tokens: 7 }],
    ["new-cap", { max_tokens: null, max_completion_tokens: null }, {}],
    ["gpt-5.4", { max_tokens: 5 }, { max_completion_tokens: 5 }],
    ["mistral-small-latest", { max_completion_tokens: 5 }, { max_tokens: 5 }],
  ])("of %s: %j is sent as %j", async (model, given, expected) => {
    const { max_tokens, max_completion_tokens } = await sent(model, given);
    expect(JSON.parse(JSON.stringify({ max_tokens, max_completion_tokens }))).toEqual(expected);
  });
});

describe("fields", () => {
  it("that the host refuses are dropped, others stay", async () => {
    const body = await sent("picky", { temperature: 0.5, top_k: 4, top_p: 0.9 });
    expect(body).toEqual({ messages: [USER], model: "picky-upstream", top_p: 0.9 });
  });

  it("that the host knows by another name are renamed, with the number as it was written", async () => {
    await sent("picky", '"messages":[{"role":"user","content":"Hi"}],"seed":12345678901234567890');
    expect(provider.requests.at(-1)?.raw).toContain('"random_seed":12345678901234567890');
    expect(provider.requests.at(-1)?.raw).not.toContain('"seed"');
  });

  it("dropped are named in the log", async () => {
    await sent("picky", { temperature: 0.5 });
    await expect
      .poll(() => JSON.stringify(gateway.logged.map(({ fields }) => fields)))
      .toContain('"droppedFields":["temperature"]');
  });

  it("of the built-in hosts follow their rules", async () => {
    const given = { temperature: 1, logprobs: true, user: "u", seed: 3, stop: ["x"], store: true };
    expect(await sent("gpt-5.4", given)).not.toHaveProperty("temperature");
    expect(await sent("gpt-4o-mini", given)).toMatchObject({ temperature: 1, logprobs: true, user: "u", seed: 3 });
    const mistral = await sent("mistral-small-latest", given);
    expect(mistral).toMatchObject({ temperature: 1, random_seed: 3, stop: ["x"] });
    for (const name of ["seed", "logprobs", "user", "store"]) expect(mistral).not.toHaveProperty(name);
    expect(await sent("gemini-2.5-flash", given)).not.toHaveProperty("logprobs");
    expect(await sent("gpt-oss-20b", given)).not.toHaveProperty("logprobs");
  });

  it("that a provider refuses by name are left out on a retry", async () => {
    const refusal = { error: { message: "Unsupported parameter", code: "unsupported_parameter", param: "logit_bias" } };
    provider.once("plain-upstream", sends(400, refusal));
    expect(await sent("plain", { logit_bias: {}, user: "u" })).toEqual({
      messages: [USER],
      model: "plain-upstream",
      user: "u",
    });
    expect(provider.requests).toHaveLength(2);
  });

  it.each([
    ["stream_options", "plain", { stream: true }, "stream_options"],
    ["a cap above the model's", "plain", { max_tokens: 5000 }, "max_tokens"],
  ])("that the gateway itself wrote can be refused too: %s", async (_name, model, extra, param) => {
    const refusal = { error: { message: "Unsupported parameter", code: "unsupported_parameter", param } };
    provider.once(`${model}-upstream`, sends(400, refusal));
    const body = await sent(model, extra);
    expect(provider.requests[0]?.body).toHaveProperty(param);
    expect(body).not.toHaveProperty(param);
  });
});

describe("messages", () => {
  const conversation = (id: string) => [
    USER,
    {
      role: "assistant",
      content: null,
      tool_calls: [{ id, type: "function", function: { name: "f", arguments: "{}" } }],
    },
    { role: "tool", tool_call_id: id, content: "1" },
  ];
  type Conversation = readonly { tool_calls?: { id: string }[]; tool_call_id?: string }[];

  it.each(["short-ids", "mistral-small-latest"])(
    "of %s have tool ids it takes, the same in call and result",
    async (model) => {
      const ids = ["call_1234567890abcdef", "toolu_01A09q90qw90lq917835lq9", "call_x", "", "ünïcode", "abcDEF123"];
      const seen = new Set<string>();
      for (const id of ids) {
        const messages = (await sent(model, { messages: conversation(id) })).messages as Conversation;
        const called = messages[1]?.tool_calls?.[0]?.id as string;
        expect(called).toMatch(/^[A-Za-z0-9]{9}$/);
        expect(messages[2]?.tool_call_id).toBe(called);
        seen.add(called);
      }
      expect(seen.size).toBe(ids.length);
      expect(seen).toContain("abcDEF123");
    },
  );

  it.each([null, 5, {}])("with a tool id that is %j do no harm", async (tool_call_id) => {
    await sent("short-ids", { messages: [USER, { role: "tool", tool_call_id, content: "1" }] });
  });

  it("keep their ids where the host takes any", async () => {
    const messages = (await sent("plain", { messages: conversation("call_é !") })).messages as Conversation;
    expect(messages[2]?.tool_call_id).toBe("call_é !");
  });

  it("have `system` where the host does not know `developer`", async () => {
    const developer = { role: "developer", content: "Be brief.", x: 1 };
    const messages = [developer, USER];
    expect((await sent("no-developer", { messages })).messages).toEqual([{ ...developer, role: "system" }, USER]);
    expect((await sent("mistral-small-latest", { messages })).messages).toEqual([
      { ...developer, role: "system" },
      USER,
    ]);
    expect((await sent("plain", { messages })).messages).toEqual(messages);
  });

  it("have no names where the host does not take them", async () => {
    const messages = [{ role: "user", name: "anna", content: "Hi" }];
    expect((await sent("no-names", { messages })).messages).toEqual([USER]);
    expect((await sent("plain", { messages })).messages).toEqual(messages);
  });
});

describe("a stream", () => {
  it("is asked for usage where the host takes the question", async () => {
    expect(await sent("plain", { stream: true })).toMatchObject({ stream_options: { include_usage: true } });
    expect(
      await sent("plain", { stream: true, stream_options: { include_usage: false, include_obfuscation: false } }),
    ).toMatchObject({ stream_options: { include_usage: true, include_obfuscation: false } });
    for (const model of ["no-stream-options", "mistral-small-latest"]) {
      const body = await sent(model, { stream: true, stream_options: { include_usage: true } });
      expect(body).not.toHaveProperty("stream_options");
    }
  });

  it("options without a stream are dropped, since hosts refuse them", async () => {
    expect(await sent("plain", { stream_options: { include_usage: true } })).not.toHaveProperty("stream_options");
  });
});
