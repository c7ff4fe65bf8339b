// Chains for requests with tools, over HTTP: which model is asked, what it is asked for, and where the chains are shown.

import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { HELLO, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { answers, type FakeProvider, startFakeProvider } from "../../support/providers/fake-provider.ts";

let lab: FakeProvider;
let gateway: TestGateway;
beforeAll(async () => {
  lab = await startFakeProvider(answers("ok"));
  const model = (id: string) =>
    `  - { id: ${id}, provider: lab, price: { input: 1, output: 3 }, capabilities: [tools, reasoning] }`;
  gateway = await startGateway({
    yaml: [
      "catalog: none",
      `providers: { lab: { kind: openai, baseUrl: "${lab.url}", apiKey: k } }`,
      "models:",
      ...["alpha", "beta"].map(model),
      "tiers: { LIGHT: [alpha, beta], STANDARD: [alpha] }",
      "tiersWithTools: { LIGHT: [beta@high, alpha] }",
      "routing: { baseline: beta }",
    ].join("\n"),
  });
});
beforeEach(() => lab.reset());
afterAll(async () => {
  await gateway.stop();
  await lab.close();
});

const TOOLS = { tools: [{ type: "function", function: { name: "look", parameters: { type: "object" } } }] };
const inTier = (tier: string) => ({ ...HELLO, service_profile: "tier", service_tier: tier });

it("a request with tools goes to the chain for tools, where its tier has one", async () => {
  await gateway.post("/v1/chat/completions", { ...inTier("LIGHT"), ...TOOLS });
  expect(lab.requests.at(-1)?.body).toMatchObject({ model: "beta", reasoning_effort: "high" });
  await gateway.post("/v1/chat/completions", inTier("LIGHT"));
  expect(lab.requests.at(-1)?.body).toMatchObject({ model: "alpha" });
  await gateway.post("/v1/chat/completions", { ...inTier("STANDARD"), ...TOOLS });
  expect(lab.requests.at(-1)?.body).toMatchObject({ model: "alpha" });
});

it("the debug endpoint and the list of models show it", async () => {
  const asked = { prompt: "Hi", profile: "tier", service_tier: "LIGHT" };
  const chainOf = async (body: object) => {
    const answer = await gateway.post("/v1/routing/debug", { ...asked, ...body });
    return ((await answer.json()) as { decision: { filteredChain: readonly string[] } }).decision.filteredChain;
  };
  expect(await chainOf({})).toEqual(["alpha", "beta"]);
  expect(await chainOf(TOOLS)).toEqual(["beta", "alpha"]);
  const { data } = (await (await gateway.api("GET", "/api/models")).json()) as { data: readonly { id: string }[] };
  expect(data.find(({ id }) => id === "beta")).toMatchObject({
    chains: [{ tier: "LIGHT", place: 2, of: 2, effort: null }],
    chainsWithTools: [{ tier: "LIGHT", place: 1, of: 2, effort: "high" }],
  });
});
