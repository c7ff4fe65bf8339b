// Help for prompt caches: breakpoints for models that cache only what is marked, and the session as a key. Behaviour 5.24.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { says, startFakeAnthropic } from "../../support/providers/fake-anthropic.ts";
import { type FakeProvider, startFakeProvider } from "../../support/providers/fake-provider.ts";
import { type Mixed, startMixed } from "../../support/providers/mixed.ts";

const MARK = { type: "ephemeral" };
const RULES = "The harbour opens at dawn and closes at dusk. ".repeat(400);
const TOOL = { name: "look", description: "Looks something up", input_schema: { type: "object", properties: {} } };
const ASK = { role: "user", content: "Write an email to my boss asking for a day off" };
const TALK = [ASK, { role: "assistant", content: "Fine." }, { role: "user", content: "And one to my landlord" }];
const DIRECT = { model: "claude", service_profile: "direct", max_tokens: 50 };

let mixed: Mixed;
beforeAll(async () => {
  mixed = await startMixed();
});
afterAll(() => mixed.close());
beforeEach(() => mixed.reset());

async function sent(body: object, path = "/v1/messages") {
  const response = await mixed.gateway.post(path, { ...DIRECT, ...body });
  expect(response.status).toBe(200);
  return mixed.anthropic.requests.at(-1)?.body as { [field: string]: unknown };
}

describe("breakpoints", () => {
  it("are set on tools, instructions and conversation of an agent, and nothing else changes", async () => {
    const tools = [{ ...TOOL, description: RULES }];
    const body = await sent({ system: RULES, tools, messages: [ASK] });
    expect(body.system).toEqual([{ type: "text", text: RULES, cache_control: MARK }]);
    expect(body.tools).toEqual([{ ...TOOL, description: RULES, cache_control: MARK }]);
    expect(body.cache_control).toEqual(MARK);
    expect(body.messages).toEqual([ASK]);
  });

  it("keep the bytes of blocks that the client wrote", async () => {
    const raw = `{"model":"claude","service_profile":"direct","max_tokens":50,"system":[ {"type":"text","text":"A"}, {"text":${JSON.stringify(RULES)},  "type":"text" } ],"messages":${JSON.stringify(TALK)}}`;
    const response = await mixed.gateway.post("/v1/messages", raw);
    expect(response.status).toBe(200);
    const received = mixed.anthropic.requests.at(-1)?.raw ?? "";
    expect(received).toContain('"system":[ {"type":"text","text":"A"}, {"text":');
    expect(received).toContain('"type":"text" ,"cache_control":{"type":"ephemeral"}} ]');
    expect(received).toContain(`"messages":${JSON.stringify(TALK)}`);
    expect(received.match(/cache_control/g)).toHaveLength(2);
  });

  it("are set in converted requests too", async () => {
    const messages = [{ role: "system", content: RULES }, ...TALK];
    const body = await sent({ messages }, "/v1/chat/completions");
    expect(body.system).toEqual([{ type: "text", text: RULES, cache_control: MARK }]);
    expect(body.cache_control).toEqual(MARK);
  });

  it.each<readonly [string, object]>([
    ["a single question", { system: RULES.replace("dawn", "noon"), messages: [ASK] }],
    ["a short conversation", { system: "Be brief", messages: TALK }],
    ["a client that sets its own", { system: [{ type: "text", text: RULES, cache_control: MARK }], messages: TALK }],
  ])("are not added for %s", async (_name, body) => {
    const received = await sent(body);
    expect(received.cache_control).toBeUndefined();
    expect(received).toMatchObject(body);
    expect(JSON.stringify(received).match(/cache_control/g)?.length ?? 0).toBeLessThanOrEqual(1);
  });

  it("leave out what the format lets nobody mark: empty texts, and tools that are loaded later", async () => {
    const late = { ...TOOL, name: "late", defer_loading: true };
    const tools = [{ ...TOOL, description: RULES }, late];
    const body = await sent({ system: " ", tools, messages: TALK });
    expect(body).toMatchObject({ system: " ", tools, cache_control: MARK });
    expect(JSON.stringify(body.tools)).not.toContain("cache_control");
  });

  it("are set on instructions that were sent a moment ago", async () => {
    const system = RULES.replaceAll("dusk", "midnight");
    mixed.anthropic.on("*", says("ok", { usage: { input_tokens: 5_000, output_tokens: 5 } }));
    expect((await sent({ system, messages: [ASK] })).system).toBe(system);
    const again = await sent({ system, messages: [{ role: "user", content: "Write a poem about rain" }] });
    expect(again.system).toEqual([{ type: "text", text: system, cache_control: MARK }]);
    expect(again.cache_control).toBeUndefined();
  });

  it("that cost a write are charged as the provider counts them", async () => {
    const usage = {
      input_tokens: 100,
      cache_creation_input_tokens: 5_000,
      cache_read_input_tokens: 0,
      output_tokens: 5,
    };
    mixed.anthropic.on("*", says("ok", { usage }));
    await sent({ system: RULES, messages: TALK });
    const listed = (await (await mixed.gateway.api("GET", "/api/requests")).json()) as {
      data: { chargeUsd: string }[];
    };
    // 100 at 3, 5,000 at 3.75 and 5 at 15 USD per million, and 5% on top.
    expect(listed.data[0]?.chargeUsd).toBe("0.02008125");
  });

  it("are set with sessions switched off as well, and left out once a few were never read", async () => {
    const anthropic = await startFakeAnthropic();
    const yaml = ["providers:", `  anthropic: { kind: anthropic, baseUrl: "${anthropic.url}", apiKey: native-secret }`];
    const usage = { input_tokens: 100, cache_creation_input_tokens: 5_000, output_tokens: 5 };
    for (const routing of ["routing: { sessionMinutes: 0 }", "routing: { markup: 0 }"]) {
      const gateway = await startGateway({ yaml: [...yaml, routing].join("\n") });
      anthropic.on("*", says("ok", { usage: { ...usage, cache_read_input_tokens: 0 } }));
      const messages: object[] = [ASK];
      const marked: boolean[] = [];
      for (let turn = 0; turn < 8; turn++) {
        const asked = {
          model: "claude-sonnet-5",
          service_profile: "direct",
          max_tokens: 50,
          system: RULES,
          tools: [TOOL],
        };
        expect((await gateway.post("/v1/messages", { ...asked, messages })).status).toBe(200);
        marked.push(anthropic.requests.at(-1)?.body.cache_control !== undefined);
        messages.push({ role: "assistant", content: "ok" }, { role: "user", content: `And number ${turn}?` });
      }
      expect(marked.slice(0, 2)).toEqual([true, true]);
      expect(marked.slice(-2)).toEqual([false, false]);
      await gateway.stop();
    }
    await anthropic.close();
  });

  it("are left out when the provider refuses the field", async () => {
    mixed.anthropic.once("claude-real-1", ({ response }) => {
      response.writeHead(400, { "content-type": "application/json" });
      const error = { type: "invalid_request_error", message: "cache_control: Extra inputs are not permitted" };
      response.end(JSON.stringify({ type: "error", error }));
    });
    const body = await sent({ system: RULES, messages: TALK });
    expect(body).toMatchObject({ system: RULES, messages: TALK });
    expect(body.cache_control).toBeUndefined();
  });
});

describe("the key of a session", () => {
  let openai: FakeProvider;
  let anthropic: FakeProvider;
  let gateway: TestGateway;
  beforeAll(async () => {
    openai = await startFakeProvider();
    anthropic = await startFakeAnthropic();
  });
  afterAll(() => Promise.all([openai.close(), anthropic.close()]));
  const yaml = (routing: string): string =>
    [
      "providers:",
      `  openai: { kind: openai, baseUrl: "${openai.url}", apiKey: lab-secret }`,
      `  anthropic: { kind: anthropic, baseUrl: "${anthropic.url}", apiKey: native-secret }`,
      `routing: { ${routing} }`,
    ].join("\n");
  const messages = [{ role: "system", content: RULES }, ...TALK];
  const ask = async (model: string, extra: object = {}): Promise<void> => {
    const body = { model, service_profile: "direct", service_session: "alice", messages, ...extra };
    expect((await gateway.post("/v1/chat/completions", body)).status).toBe(200);
  };

  it("goes to a host that takes it, without the client's text, unless the client has its own", async () => {
    gateway = await startGateway({ yaml: yaml("markup: 0") });
    await ask("gpt-5-mini");
    const key = openai.requests.at(-1)?.body.prompt_cache_key;
    expect(key).toMatch(/^s[\w-]{20}$/);
    await ask("gpt-5-mini");
    expect(openai.requests.at(-1)?.body.prompt_cache_key).toBe(key);
    await ask("gpt-5-mini", { prompt_cache_key: "mine" });
    expect(openai.requests.at(-1)?.body.prompt_cache_key).toBe("mine");
    await ask("gpt-5-mini", { messages: [ASK] });
    expect(openai.requests.at(-1)?.body.prompt_cache_key).toBeUndefined();
    await gateway.stop();
  });

  it("and breakpoints can be switched off", async () => {
    gateway = await startGateway({ yaml: yaml("cacheKey: false, cacheBreakpoints: false") });
    await ask("gpt-5-mini");
    expect(openai.requests.at(-1)?.raw).not.toContain("prompt_cache_key");
    await ask("claude-sonnet-5");
    expect(anthropic.requests.at(-1)?.raw).not.toContain("cache_control");
    await gateway.stop();
  });
});
