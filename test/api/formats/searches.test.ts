// Searches that a provider runs itself: charged for each, whole and streamed, and covered by the hold up to a bound.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { askAs, type ClientName } from "../../support/gateway/every-client.ts";
import { startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { text as claudeText, saysBlocks, startFakeAnthropic } from "../../support/providers/fake-anthropic.ts";
import { chunksOf, generated, startFakeGemini, streamsChunks, text } from "../../support/providers/fake-gemini.ts";
import { type Behaviour, type FakeProvider, sends, startFakeProvider } from "../../support/providers/fake-provider.ts";
import {
  message,
  responds,
  respondsItems,
  responseEvents,
  startFakeResponses,
  streamsResponse,
} from "../../support/providers/fake-responses.ts";
import { type Bank, bankOf } from "../../support/stores/money.ts";

type Lab = "claude" | "gem" | "pro" | "plain";
let labs: Readonly<Record<Lab, FakeProvider>>;
let gateway: TestGateway;
let bank: Bank;

beforeAll(async () => {
  labs = {
    claude: await startFakeAnthropic(),
    gem: await startFakeGemini(),
    pro: await startFakeResponses(),
    plain: await startFakeProvider(),
  };
  gateway = await startGateway({ yaml: yaml() });
  bank = bankOf(labs.pro, gateway);
});
beforeEach(() => {
  for (const lab of Object.values(labs)) lab.reset();
});
afterAll(async () => {
  await gateway.stop();
  for (const lab of Object.values(labs)) await lab.close();
});

function yaml(): string {
  const kinds = { claude: "anthropic", gem: "gemini", pro: "responses", plain: "openai" };
  const fees = {
    claude: "search: 0.01",
    gem: "search: 0.014",
    pro: "search: 0.01, factors: { flex: 0.5 }",
    plain: "request: 0",
  };
  const names = Object.keys(kinds) as Lab[];
  return [
    "catalog: none",
    "limits: { requestsPerMinute: 100000 }",
    "providers:",
    ...names.map((lab) => `  ${lab}: { kind: ${kinds[lab]}, baseUrl: "${labs[lab].url}", apiKey: k }`),
    `  gem-old: { kind: gemini, baseUrl: "${labs.gem.url}", apiKey: k }`,
    "models:",
    ...names.map(
      (lab) =>
        `  - { id: ${lab}, provider: ${lab}, price: { input: 1, output: 4, ${fees[lab]} }, context: 200000, maxOutput: 1000, capabilities: [tools] }`,
    ),
    "  - { id: gem-old, provider: gem-old, price: { input: 1, output: 4, searchedPrompt: 0.035 }, context: 200000, maxOutput: 1000, capabilities: [tools] }",
    "tiers: { LIGHT: [plain] }",
    "routing: { baseline: plain, markup: 0 }",
  ].join("\n");
}

/** 1,000 tokens in and 100 out, at 1 and 4 USD per million. */
const TOKENS = 1_400_000n;
const CENT = 10_000_000n;

interface Asked {
  readonly client: ClientName;
  readonly model: string;
  readonly isStream: boolean;
  readonly body: object;
}

/** What it cost, and what was on hold while the provider answered. */
async function spend({ body, ...asked }: Asked, lab: Lab, behaves: Behaviour) {
  let held = 0n;
  labs[lab].on("*", async (exchange) => {
    held = (await bank.balance()).held;
    await behaves(exchange);
  });
  const spent = await bank.spentBy(async () => {
    const answer = await askAs(gateway, asked, { service_profile: "direct", ...body });
    expect(answer.status).toBe(200);
    await answer.text();
  });
  return { spent, held };
}

const call = (id: string, action: object | null, status = "completed") => ({
  type: "web_search_call",
  id,
  status,
  ...(action === null ? {} : { action }),
});
const SEARCHES = [
  call("ws_1", { type: "search", query: "one" }),
  call("ws_2", { type: "open_page", url: "https://example.com" }),
  call("ws_3", { type: "search", query: "two" }),
  call("ws_4", { type: "search", query: "three" }, "failed"),
  call("ws_5", null),
];
const WEB_SEARCH = { tools: [{ type: "web_search" }], max_output_tokens: 500 };
const RESPONSES_USAGE = { input_tokens: 1_000, output_tokens: 100, total_tokens: 1_100 };

describe.each([false, true])("stream %s", (isStream) => {
  it("Responses: the items of the output are counted", async () => {
    const asked = { client: "responses", model: "pro", isStream, body: WEB_SEARCH } as const;
    const items = [...SEARCHES, message("fine")];
    const { spent, held } = await spend(asked, "pro", respondsItems(items, { usage: RESPONSES_USAGE }));
    expect(spent).toBe(TOKENS + 3n * CENT);
    expect(held).toBeGreaterThanOrEqual(spent);
    // Eight searches, with what they bring in.
    expect(held).toBeGreaterThan(8n * CENT + 8n * 8_000n * 1_000n);
    expect(held).toBeLessThan(17n * CENT);
  });

  it("Responses: a limit of the request bounds the hold, and a tier makes no search cheaper", async () => {
    const body = { ...WEB_SEARCH, max_tool_calls: 3, service_tier: "flex" };
    const asked = { client: "responses", model: "pro", isStream, body } as const;
    const extra = { service_tier: "flex" };
    const items = [...SEARCHES, message("fine")];
    const { spent, held } = await spend(asked, "pro", respondsItems(items, { usage: RESPONSES_USAGE, extra }));
    expect(spent).toBe(TOKENS / 2n + 3n * CENT);
    expect(held).toBeGreaterThanOrEqual(spent);
    expect(held).toBeLessThan(7n * CENT);
  });

  it("Anthropic: its own count, with a bound by max_uses", async () => {
    const tool = { type: "web_search_20250305", name: "web_search", max_uses: 3 };
    const asked = { client: "messages", model: "claude", isStream, body: { tools: [tool] } } as const;
    const usage = { input_tokens: 1_000, output_tokens: 100, server_tool_use: { web_search_requests: 3 } };
    const { spent, held } = await spend(asked, "claude", saysBlocks([claudeText("fine")], { usage }));
    expect(spent).toBe(TOKENS + 3n * CENT);
    expect(held).toBeGreaterThanOrEqual(spent);
  });

  it.each([
    ["gem", 3n * 14_000_000n],
    ["gem-old", 35_000_000n],
  ] as const)("Gemini: %s charges its different queries, or the prompt", async (model, fee) => {
    const asked = { client: "gemini", model, isStream, body: { tools: [{ googleSearch: {} }] } } as const;
    const usage = { promptTokenCount: 1_000, candidatesTokenCount: 100, totalTokenCount: 1_100 };
    const candidate = { groundingMetadata: { webSearchQueries: ["one", "", "two", "one", "three"] } };
    const whole = generated([text("fine")], { usage, candidate });
    const early = { candidates: [{ ...candidate, index: 0 }] };
    const [piece] = chunksOf([text("fine")], { usage });
    const behaves = isStream ? streamsChunks([early, piece as object]) : sends(200, whole);
    const { spent, held } = await spend(asked, "gem", behaves);
    expect(spent).toBe(TOKENS + fee);
    expect(held).toBeGreaterThanOrEqual(spent);
  });
});

it("searches are counted where the last event of a stream leaves the output out", async () => {
  const items = [...SEARCHES, message("fine")];
  const events = responseEvents(items, "pro", { usage: RESPONSES_USAGE });
  const last = events.at(-1) as { response?: object } & (typeof events)[number];
  const bare = { ...last, response: { ...last.response, output: [] } };
  const asked = { client: "responses", model: "pro", isStream: true, body: WEB_SEARCH } as const;
  const { spent } = await spend(asked, "pro", streamsResponse([...events.slice(0, -1), bare]));
  expect(spent).toBe(TOKENS + 3n * CENT);
});

it("nothing is held for searches that nobody can run", async () => {
  const isStream = false;
  const usage = { usage: RESPONSES_USAGE };
  const barred = { ...WEB_SEARCH, tool_choice: "none" };
  const pro = await spend({ client: "responses", model: "pro", isStream, body: barred }, "pro", responds("ok", usage));
  expect(pro.held).toBeLessThan(CENT);
});
