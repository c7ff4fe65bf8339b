// Content is never lost in silence: what a model cannot be sent goes to one that can take it, and without one the client is
// told. Behaviour 5.15.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type EveryFormat, startEveryFormat } from "../../support/gateway/every-client.ts";
import { HELLO } from "../../support/gateway/gateway.ts";
import { type Mixed, startMixed } from "../../support/providers/mixed.ts";

const ALL = ["NANO", "SIMPLE", "LIGHT", "STANDARD", "COMPLEX"];
const chains = (models: readonly string[]) => Object.fromEntries(ALL.map((tier) => [tier, models]));

let both: Mixed;
let claude: Mixed;
let alphaFirst: Mixed;
beforeAll(async () => {
  [both, claude, alphaFirst] = await Promise.all([
    startMixed({ tiers: chains(["claude", "alpha"]) }),
    startMixed({ tiers: chains(["claude"]) }),
    startMixed({ tiers: chains(["alpha", "claude"]) }),
  ]);
});
beforeEach(() => Promise.all([both.reset(), claude.reset(), alphaFirst.reset()]));
afterAll(() => Promise.all([both.close(), claude.close(), alphaFirst.close()]));

const VIDEO = { type: "video_url", video_url: { url: "https://example.com/a.mp4" } };
const AUDIO = { type: "input_audio", input_audio: { data: "UklGRg==", format: "wav" } };
const about = (part: object) => ({
  messages: [{ role: "user", content: [{ type: "text", text: "What happens here?" }, part] }],
});

it("a video goes to the model whose provider takes it", async () => {
  const answer = await both.gateway.post("/v1/chat/completions", about(VIDEO));
  expect(await answer.json()).toMatchObject({ model: "alpha", service: { model: "alpha", fallback: false } });
  expect(both.openai.requests[0]?.body).toMatchObject(about(VIDEO));
  expect(both.anthropic.requests).toEqual([]);
});

it.each([
  [VIDEO, 'takes content of the type "video_url"'],
  [AUDIO, "supports audio"],
])("without such a model it is 400, and nobody is called: %o", async (part, reason) => {
  const answer = await claude.gateway.post("/v1/chat/completions", about(part));
  const { error } = (await answer.json()) as { error: { code: string; message: string } };
  expect([answer.status, error.code]).toEqual([400, "no_capable_model"]);
  expect(error.message).toContain(reason);
  expect(claude.anthropic.requests).toEqual([]);
});

it("a block that only Anthropic reads goes to Anthropic", async () => {
  const content = [
    { type: "text", text: "Hi" },
    { type: "novel_block", data: "x" },
  ];
  const body = { model: "auto", max_tokens: 50, service_host_order: "cheapest", messages: [{ role: "user", content }] };
  const answer = await both.gateway.post("/v1/messages", body);
  expect(await answer.json()).toMatchObject({ model: "claude" });
  const direct = { ...body, model: "alpha", service_profile: "direct" };
  const refused = await both.gateway.post("/v1/messages", direct);
  expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining("novel_block")]);
});

describe("a tool that Anthropic runs, beside a function", () => {
  const look = { name: "look", input_schema: { type: "object" } };
  const server = { type: "url", url: "https://mcp.example", name: "docs" };
  const body = { model: "auto", max_tokens: 50, messages: [{ role: "user", content: "News of today?" }] };

  it.each([
    { tools: [look, { type: "web_search_20250305", name: "web_search" }] },
    { tools: [look], mcp_servers: [server] },
  ])("is run by a model that can: %o", async (asked) => {
    const answer = await alphaFirst.gateway.post("/v1/messages", { ...body, ...asked });
    const { model, service } = (await answer.json()) as { model: string; service: object };
    expect([model, service]).toEqual(["claude", expect.not.objectContaining({ notes: expect.anything() })]);
    expect(alphaFirst.anthropic.requests[0]?.body).toMatchObject(asked);
    const direct = { ...body, ...asked, model: "alpha", service_profile: "direct" };
    const elsewhere = await alphaFirst.gateway.post("/v1/messages", direct);
    expect(await elsewhere.json()).toMatchObject({ model: "alpha", service: { notes: [{ code: "tool_dropped" }] } });
  });

  it("is a need alone", async () => {
    const direct = { ...body, mcp_servers: [server], model: "alpha", service_profile: "direct" };
    const answer = await alphaFirst.gateway.post("/v1/messages", direct);
    expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining("MCP servers")]);
  });
});

it("what Anthropic's tools found in an earlier turn reaches other models as text", async () => {
  const turn = [
    { type: "text", text: "I search." },
    { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "Rome" } },
    {
      type: "web_search_tool_result",
      tool_use_id: "srvtoolu_1",
      content: [{ type: "web_search_result", url: "https://rome.example", title: "On Rome", encrypted_content: "e" }],
    },
  ];
  const messages = [
    { role: "user", content: "Where is Rome?" },
    { role: "assistant", content: turn },
    { role: "user", content: "So?" },
  ];
  const body = { model: "alpha", service_profile: "direct", max_tokens: 50, messages };
  expect((await both.gateway.post("/v1/messages", body)).status).toBe(200);
  const content =
    'I search.\n[Called web_search with {"query":"Rome"}]\n\n[web_search returned: On Rome\nhttps://rome.example]\n';
  expect(both.openai.requests[0]?.body).toMatchObject({ messages: [{}, { role: "assistant", content }, {}] });
});

describe("what a model did with tools of the Responses API in an earlier turn", () => {
  let every: EveryFormat;
  beforeAll(async () => {
    every = await startEveryFormat();
  });
  beforeEach(() => every.reset());
  afterAll(() => every.close());

  const DID: readonly (readonly [string, readonly object[]])[] = [
    ["code_interpreter_call", [{ type: "code_interpreter_call", id: "c", code: "1", outputs: [] }]],
    ["image_generation_call", [{ type: "image_generation_call", id: "i", result: "aGk=" }]],
    ["mcp_call", [{ type: "mcp_call", id: "m", name: "f", arguments: "{}", output: "1" }]],
  ];
  const asked = (items: readonly object[]) => ({
    model: "auto",
    input: [{ role: "user", content: "Look." }, ...items, { role: "user", content: "What did you see?" }],
  });

  it.each(DID)("%s goes to a model that can read it", async (_type, items) => {
    const answer = await every.gateway.post("/v1/responses", asked(items));
    expect(await answer.json()).toMatchObject({ service: { model: "pro", fallback: false } });
    expect(every.providers.pro.requests[0]?.body).toMatchObject({ input: asked(items).input });
  });

  it.each(DID)("%s is 400 with the reason where no model can", async (type, items) => {
    const answer = await both.gateway.post("/v1/responses", asked(items));
    const { error } = (await answer.json()) as { error: { code: string; message: string } };
    expect([answer.status, error.code]).toEqual([400, "no_capable_model"]);
    expect(error.message).toContain(`'${type}' of an earlier turn can be read only by providers of the Responses API`);
    expect([...both.openai.requests, ...both.anthropic.requests]).toEqual([]);
  });

  it("that left nothing to read is no obstacle, and it is said", async () => {
    const body = { ...asked([{ type: "web_search_call", id: "ws_1", status: "completed" }]), model: "alpha" };
    const answer = await every.gateway.post("/v1/responses", { ...body, service_profile: "direct" });
    expect(await answer.json()).toMatchObject({ service: { notes: [{ code: "content_converted" }] } });
  });
});

describe("an option that only some have", () => {
  it("citations: the model that cites is preferred, and elsewhere their loss is said", async () => {
    const source = { type: "text", media_type: "text/plain", data: "Rome is old." };
    const content = [
      { type: "document", source, citations: { enabled: true } },
      { type: "text", text: "How old?" },
    ];
    const body = { model: "auto", max_tokens: 50, messages: [{ role: "user", content }] };
    const answer = await alphaFirst.gateway.post("/v1/messages", body);
    expect(await answer.json()).toMatchObject({ model: "claude", service: { fallback: false } });
    const direct = { ...body, model: "alpha", service_profile: "direct" };
    const notes = [{ code: "option_dropped", message: expect.stringContaining("citations") }];
    expect(await (await alphaFirst.gateway.post("/v1/messages", direct)).json()).toMatchObject({ service: { notes } });
  });

  it("web_search_options: their loss is said", async () => {
    const body = { ...HELLO, model: "claude", service_profile: "direct", web_search_options: {} };
    const notes = [{ code: "option_dropped", message: expect.stringContaining("web_search_options") }];
    const answer = await both.gateway.post("/v1/chat/completions", body);
    expect(await answer.json()).toMatchObject({ service: { notes } });
  });
});
