// Long requests let their messages go while a provider answers. As a rule nobody reads them again, and a provider that is
// asked later still gets all of them.

import { afterAll, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { TIERS } from "../../../src/core/tiers.ts";
import { anthropicMessages } from "../../../src/formats/anthropic/codec.ts";
import { openaiChat } from "../../../src/formats/openai-chat/codec.ts";
import { startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { startFakeAnthropic } from "../../support/providers/fake-anthropic.ts";
import {
  type FakeProvider,
  fails,
  startFakeProvider,
  streams,
  textChunks,
} from "../../support/providers/fake-provider.ts";

let chat: FakeProvider;
let claude: FakeProvider;
let gateway: TestGateway;

beforeAll(async () => {
  chat = await startFakeProvider();
  claude = await startFakeAnthropic();
});
afterAll(async () => {
  await chat.close();
  await claude.close();
});
beforeEach(() => {
  chat.reset();
  claude.reset();
  return async () => {
    vi.restoreAllMocks();
    await gateway.stop();
  };
});

function yaml(chain: string): string {
  const row = (id: string, provider: string): string =>
    `  - { id: ${id}, provider: ${provider}, price: { input: 1, output: 3, cacheRead: 0.1 }, context: 128000, maxOutput: 16384, capabilities: [tools] }`;
  return [
    "catalog: none",
    "providers:",
    `  chat: { kind: openai, baseUrl: "${chat.url}", apiKey: chat-secret }`,
    `  claude: { kind: anthropic, baseUrl: "${claude.url}", apiKey: claude-secret }`,
    "models:",
    row("chat-m", "chat"),
    row("claude-m", "claude"),
    "tiers:",
    ...TIERS.map((tier) => `  ${tier}: [${chain}]`),
  ].join("\n");
}

const RULES = "Größere Häfen öffnen bei Sonnenaufgang. ".repeat(600);
const SAID = [
  { role: "user", content: "Fasse die Regeln zusammen." },
  { role: "assistant", content: "Häfen öffnen früh." },
  { role: "user", content: "Und wann schließen sie?" },
];
const BODY = { model: "auto", messages: [{ role: "system", content: RULES }, ...SAID], max_tokens: 50 };

/** Resolves when the request is in the log. */
async function recorded(count: number): Promise<void> {
  await vi.waitFor(() =>
    expect(gateway.logged.filter(({ fields }) => fields.event === "request.completed")).toHaveLength(count),
  );
}

it.each([
  ["as they come", {}, {}],
  ["in a named session", {}, { service_session: "harbour" }],
  ["without sessions", { SWITCHYARD_SESSION_MINUTES: "0" }, {}],
  ["where content is kept", { SWITCHYARD_LOG_CONTENT: "true" }, {}],
])("messages are read once: %s", async (_, env, fields) => {
  gateway = await startGateway({ yaml: yaml("chat-m, claude-m"), env });
  const read = vi.spyOn(openaiChat, "readRequest");
  for (const count of [1, 2]) {
    expect((await gateway.post("/v1/chat/completions", { ...BODY, ...fields })).status).toBe(200);
    await recorded(count);
    expect(read).toHaveBeenCalledTimes(count);
  }
});

it("messages are read once: in a stream", async () => {
  gateway = await startGateway({ yaml: yaml("chat-m") });
  chat.on("*", streams(textChunks("Bei Sonnenuntergang.", "chat-m")));
  const read = vi.spyOn(openaiChat, "readRequest");
  await (await gateway.post("/v1/chat/completions", { ...BODY, stream: true })).text();
  await recorded(1);
  expect(read).toHaveBeenCalledTimes(1);
});

it("messages are read once: in the Messages format", async () => {
  gateway = await startGateway({ yaml: yaml("claude-m") });
  const read = vi.spyOn(anthropicMessages, "readRequest");
  const body = { model: "auto", system: RULES, messages: SAID, max_tokens: 50 };
  expect((await gateway.post("/v1/messages", body)).status).toBe(200);
  await recorded(1);
  expect(read).toHaveBeenCalledTimes(1);
});

it("a fallback in another format gets every message", async () => {
  gateway = await startGateway({ yaml: yaml("chat-m, claude-m") });
  chat.on("*", fails(500));
  expect((await gateway.post("/v1/chat/completions", BODY)).status).toBe(200);
  const sent = claude.requests[0]?.body;
  expect(JSON.stringify(sent?.system)).toContain(RULES);
  expect(sent?.messages).toMatchObject(SAID.map(({ role }) => ({ role })));
  expect(JSON.stringify(sent?.messages)).toContain("Und wann schließen sie?");
});

it("the request log shows the newest ask of a long request", async () => {
  gateway = await startGateway({ yaml: yaml("chat-m"), env: { SWITCHYARD_LOG_CONTENT: "true" } });
  await gateway.post("/v1/chat/completions", BODY);
  await recorded(1);
  await vi.waitFor(async () => {
    const listed = await (await gateway.api("GET", "/api/requests")).text();
    expect(listed).toContain("Und wann schließen sie?");
  });
});
