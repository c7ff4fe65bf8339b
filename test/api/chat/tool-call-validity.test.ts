// Unusable tool calls lower a model in the chains of the account that saw them, by at most a quarter; good ones bring it
// back; and nobody lowers a model for others alone.

import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { TIERS } from "../../../src/core/tiers.ts";
import { startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { completion, type FakeProvider, sends, startFakeProvider } from "../../support/providers/fake-provider.ts";

const SCORES = { careful: 80, steady: 72, modest: 30 } as const;
type Id = keyof typeof SCORES;

const model = (id: Id): string =>
  `  - { id: ${id}, provider: lab, price: { input: 1, output: 1 }, context: 128000, maxOutput: 16384, capabilities: [tools], bfcl: { overall: ${SCORES[id]}, single: ${SCORES[id]} } }`;

const yaml = (baseUrl: string): string =>
  [
    "catalog: none",
    `providers: { lab: { kind: openai, baseUrl: "${baseUrl}", apiKey: lab-secret } }`,
    "models:",
    ...(["careful", "steady", "modest"] as const).map(model),
    "tiers:",
    ...TIERS.map((tier) => `  ${tier}: [careful, steady, modest]`),
    "routing: { baseline: careful }",
    "limits: { requestsPerMinute: 100000 }",
  ].join("\n");

const ASK = "What is the weather in Rome?";
const TOOLS = [
  {
    type: "function",
    function: {
      name: "get_weather",
      description: "Current weather of a city",
      parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
    },
  },
];

let provider: FakeProvider;
let gateway: TestGateway;
beforeEach(async () => {
  provider = await startFakeProvider();
  gateway = await startGateway({ yaml: yaml(provider.url) });
});
afterEach(async () => {
  await gateway.stop();
  await provider.close();
});

async function json<Body>(response: Promise<Response>): Promise<Body> {
  const answer = await response;
  expect(answer.status).toBeLessThan(300);
  return (await answer.json()) as Body;
}

/** A new account with credits, and the header of its key. */
async function openAccount(name: string): Promise<{ id: string; headers: { authorization: string } }> {
  const { id } = await json<{ id: string }>(gateway.api("POST", "/api/accounts", { name }));
  await json(gateway.api("POST", `/api/credits/topups?account=${id}`, { amountUsd: "5" }));
  const { key } = await json<{ key: string }>(gateway.api("POST", `/api/keys?account=${id}`, { name }));
  return { id, headers: { authorization: `Bearer ${key}` } };
}

type Account = Awaited<ReturnType<typeof openAccount>>;

/** So many requests that one model answers with a tool call of these arguments. */
async function call(account: Account, id: Id, times: number, args: string): Promise<void> {
  const toolCall = { id: "c1", type: "function", function: { name: "get_weather", arguments: args } };
  const message = { role: "assistant", content: null, tool_calls: [toolCall] };
  const choices = [{ index: 0, message, finish_reason: "tool_calls" }];
  provider.on("*", sends(200, completion("", id, { choices })));
  const body = { model: id, service_profile: "direct", messages: [{ role: "user", content: ASK }], tools: TOOLS };
  const ask = () => json<{ model: string }>(gateway.post("/v1/chat/completions", body, account.headers));
  for (let sent = 0; sent < times; sent += AT_ONCE) {
    const answers = await Promise.all(Array.from({ length: Math.min(AT_ONCE, times - sent) }, ask));
    expect(answers.every(({ model: answered }) => answered === id)).toBe(true);
  }
}

const AT_ONCE = 20;
const BAD = '{"town":"Rome"}';
const GOOD = '{"city":"Rome"}';

interface Counts {
  readonly scenario: string;
  readonly calls: number;
  readonly valid: number;
  readonly staticScore: number;
  readonly blendedScore: number;
  readonly basis: string;
}

async function countsOf(account: Account, id: Id): Promise<Counts | undefined> {
  const { data } = await json<{ data: { id: string; toolCalls: Counts[] }[] }>(
    gateway.api("GET", `/api/models?account=${account.id}`),
  );
  return data.find((each) => each.id === id)?.toolCalls.find(({ scenario }) => scenario === "single");
}

interface Debugged {
  readonly filteredChain: readonly string[];
  readonly reasoning: string;
  readonly toolScenario: string;
  readonly bfclScore: number;
}

async function decide(account: Account): Promise<Debugged> {
  const body = { prompt: ASK, tools: TOOLS };
  const { decision } = await json<{ decision: Debugged }>(gateway.post("/v1/routing/debug", body, account.headers));
  expect(decision.toolScenario).toBe("single");
  return decision;
}

const BY_BENCHMARK = ["careful", "steady", "modest"];

describe("tool calls that could not be used", () => {
  it("lower the model for that account from thirty on, by at most a quarter, and good ones bring it back", async () => {
    const account = await openAccount("bad luck");
    await call(account, "careful", 29, BAD);
    expect(await countsOf(account, "careful")).toMatchObject({ calls: 29, valid: 0, blendedScore: 80 });
    expect((await decide(account)).filteredChain).toEqual(BY_BENCHMARK);

    await call(account, "careful", 6, BAD);
    expect(await countsOf(account, "careful")).toMatchObject({
      ...{ calls: 35, valid: 0, staticScore: 80, blendedScore: 60, basis: "account" },
    });
    const lowered = await decide(account);
    // Above the one that a quarter less still beats.
    expect(lowered.filteredChain).toEqual(["steady", "careful", "modest"]);
    expect(lowered.reasoning).toContain(
      "ranked careful with score 60 instead of 80: 35 of its 35 observed tool calls were unusable",
    );
    expect(lowered.bfclScore).toBe(72);

    await call(account, "careful", 280, GOOD);
    const counts = await countsOf(account, "careful");
    expect(counts?.blendedScore).toBeGreaterThan(72);
    expect(counts?.blendedScore).toBeLessThan(80);
    expect((await decide(account)).filteredChain).toEqual(BY_BENCHMARK);
  });

  it("of one account move no chain of another's, with calls of its own or without", async () => {
    const [hostile, young, busy] = await Promise.all(["hostile", "young", "busy"].map(openAccount));
    if (hostile === undefined || young === undefined || busy === undefined) throw new Error("no accounts");
    await call(busy, "careful", 31, GOOD);
    await call(hostile, "careful", 120, BAD);
    expect(await countsOf(hostile, "careful")).toMatchObject({ calls: 120, valid: 0, blendedScore: 60 });
    expect((await decide(hostile)).reasoning).toContain("ranked careful with score 60 instead of 80");
    expect(await countsOf(busy, "careful")).toMatchObject({ calls: 31, blendedScore: 80, basis: "account" });
    expect((await decide(busy)).filteredChain).toEqual(BY_BENCHMARK);
    expect((await decide(young)).filteredChain).toEqual(BY_BENCHMARK);
    expect(await countsOf(young, "careful")).toBeUndefined();
  });

  it("of several accounts warn one that has no calls of its own yet", async () => {
    const accounts = await Promise.all(["first", "second", "third"].map(openAccount));
    const young = await openAccount("newcomer");
    for (const account of accounts) await call(account, "steady", 12, BAD);
    const counts = await countsOf(young, "steady");
    expect(counts).toMatchObject({ calls: 0, staticScore: 72, basis: "everyone" });
    expect(counts?.blendedScore).toBeLessThan(72);
    expect(counts?.blendedScore).toBeGreaterThanOrEqual(54);
  });
});
