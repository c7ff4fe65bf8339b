// A model that has retired and one that will soon, over HTTP: routed requests go on without a word, a request by name is
// told, and the log and the list of models say it.

import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { HELLO, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { answers, type FakeProvider, fails, startFakeProvider } from "../../support/providers/fake-provider.ts";
import type { Json } from "../../support/providers/streams.ts";

let lab: FakeProvider;
let gateway: TestGateway;
const SOON = new Date(Date.now() + 5 * 86_400_000).toISOString().slice(0, 10);
const GONE = "2020-01-01";

beforeAll(async () => {
  lab = await startFakeProvider(answers("ok"));
  const model = (id: string, extra = "") =>
    `  - { id: ${id}, provider: lab, price: { input: 1, output: 3 }, capabilities: [tools]${extra} }`;
  gateway = await startGateway({
    yaml: [
      "catalog: none",
      `providers: { lab: { kind: openai, baseUrl: "${lab.url}", apiKey: k } }`,
      "models:",
      ...[model("gone", `, retires: ${GONE}`), model("soon", `, retires: ${SOON}`), model("fresh")],
      "tiers: { LIGHT: [gone, soon, fresh], STANDARD: [gone] }",
      "routing: { baseline: fresh }",
    ].join("\n"),
  });
});
beforeEach(() => lab.reset());
afterAll(async () => {
  await gateway.stop();
  await lab.close();
});

async function asked(body: object) {
  const answer = await gateway.post("/v1/chat/completions", { ...HELLO, ...body });
  expect(answer.status).toBe(200);
  const { service } = (await answer.json()) as { service: Json };
  const { model } = lab.requests.at(-1)?.body ?? {};
  const { deprecation, sunset } = Object.fromEntries(answer.headers);
  return { service, model, deprecation, sunset };
}

it("a routed request goes on with the next model, and where its tier has none left, with the next tier", async () => {
  const { service, model, ...headers } = await asked({ service_profile: "tier", service_tier: "LIGHT" });
  expect(headers).toEqual({});
  expect([model, service.fallback]).toEqual(["soon", false]);
  expect(service).not.toHaveProperty("notes");
  const above = await asked({ service_profile: "tier", service_tier: "STANDARD" });
  expect(above.model).toBe("soon");
});

it.each([
  ["gone", `gone retired on ${GONE}, so its provider may stop answering at any time. Ask for another model.`],
  ["soon", `soon retires on ${SOON}. Ask for another model before then.`],
])("a request by name for %s is tried, and told", async (name, message) => {
  const { service, model, deprecation, sunset } = await asked({ service_profile: "direct", model: name });
  expect(model).toBe(name);
  const endMs = Date.parse(name === "gone" ? GONE : SOON);
  expect(Date.parse(sunset ?? "")).toBe(endMs);
  expect(deprecation).toBe(`@${endMs / 1000 - 30 * 86_400}`);
  expect(service.notes).toEqual([{ code: "model_retires", message }]);
});

it("an error of a model that retired names its end too", async () => {
  lab.on("gone", fails(404, { message: "The model does not exist." }));
  const answer = await gateway.post("/v1/chat/completions", { ...HELLO, service_profile: "direct", model: "gone" });
  expect(answer.ok).toBe(false);
  expect(Date.parse(answer.headers.get("sunset") ?? "")).toBe(Date.parse(GONE));
});

it("clients' own lists of models have the dates", async () => {
  const list = async (headers: Record<string, string>) => {
    const { data } = (await (await gateway.get("/v1/models", headers)).json()) as { data: readonly Json[] };
    return (id: string) => data.find((each) => each.id === id) as Json;
  };
  const openai = await list({});
  expect(openai("soon").service).toMatchObject({ retires: SOON });
  expect(openai("fresh").service).not.toHaveProperty("retires");
  const anthropic = await list({ "anthropic-version": "2023-06-01" });
  expect(anthropic("soon")).toMatchObject({ lifecycle: "deprecated", retires_at: `${SOON}T00:00:00Z` });
  expect(anthropic("fresh")).toMatchObject({ lifecycle: "active", deprecated_at: null, retires_at: null });
});

it("the list of models has the dates, and the chains that are left", async () => {
  const { data } = (await (await gateway.api("GET", "/api/models")).json()) as { data: readonly Json[] };
  const of = (id: string) => data.find((each) => each.id === id);
  expect(of("gone")).toMatchObject({ retires: GONE, retirement: "retired", chains: [] });
  expect(of("soon")).toMatchObject({ retires: SOON, retirement: "soon", chains: [{ tier: "LIGHT", place: 1, of: 2 }] });
  expect(of("fresh")).toMatchObject({ retires: null, retirement: null });
});
