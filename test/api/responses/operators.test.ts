// Operators' tools on providers of the Responses format: the test of a provider, its list of models, the preview of a
// request, and which provider a request may need.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { DEFAULT_TIMEOUTS } from "../../../src/catalog/build.ts";
import { providerKind } from "../../../src/catalog/provider-kinds.ts";
import { listModels } from "../../../src/gateway/operate/list-models.ts";
import { createRegistry } from "../../../src/providers/registry.ts";
import { fails } from "../../support/providers/fake-provider.ts";
import { lists, startListProvider } from "../../support/providers/list-provider.ts";
import { type ResponsesGateway, startResponsesGateway } from "./provider-gateway.ts";

let lab: ResponsesGateway;
beforeAll(async () => {
  lab = await startResponsesGateway();
});
beforeEach(() => lab.reset());
afterAll(() => lab.close());

describe("the test of a provider", () => {
  const test = async (provider: string, body?: object): Promise<unknown> =>
    (await lab.gateway.api("POST", `/api/providers/${provider}/test`, body)).json();

  it("asks a few tokens in the provider's format", async () => {
    expect(await test("responses")).toMatchObject({ ok: true, model: "pro", problem: null });
    expect(await test("both", { model: "only" })).toMatchObject({ ok: true, model: "only" });
    const [sent, other] = [lab.responses.requests[0], lab.both.requests[0]];
    expect(sent?.body).toMatchObject({
      input: [{ role: "user", content: "Say ok." }],
      max_output_tokens: 16,
      store: false,
    });
    expect([sent?.path, other?.path]).toEqual(["/v1/responses", "/v1/responses"]);
  });

  it("tries once more without a refused field, and says what is wrong", async () => {
    lab.responses.once("pro-real", fails(400, { code: "unknown_parameter", param: "include" }));
    expect(await test("responses")).toMatchObject({ ok: true });
    expect(lab.responses.requests.map(({ body }) => "include" in body)).toEqual([true, false]);
    lab.responses.on("*", fails(401));
    expect(await test("responses")).toMatchObject({
      ok: false,
      status: 401,
      problem: expect.stringContaining("refuses the key"),
    });
  });
});

describe("a list of models", () => {
  it("is asked for with the key", async () => {
    const list = await startListProvider(lists("pro-real"));
    const kind = providerKind("responses");
    const provider = {
      id: "lab",
      ...kind,
      baseUrl: `${list.url}/v1`,
      apiKey: "k",
      headers: {},
      timeouts: DEFAULT_TIMEOUTS,
    };
    const registry = createRegistry(new Map([["lab", provider]]));
    const listing = await listModels(provider, { registry, now: Date.now });
    await registry.close();
    expect(listing).toMatchObject({ problem: null, models: [{ id: "pro-real" }] });
    expect(list.asked).toEqual([{ line: "GET /v1/models", key: "Bearer k" }]);
  });
});

describe("the debug endpoint", () => {
  it("says what is changed for a model of the format, and sends nothing", async () => {
    const body = { model: "only", profile: "direct", prompt: "Hi", seed: 7 };
    const debug = (await (await lab.gateway.post("/v1/routing/debug", body)).json()) as { decision: object };
    expect(debug.decision).toMatchObject({ conversions: ["dropped 'seed': the Responses format has no counterpart"] });
    expect(lab.both.requests).toHaveLength(0);
  });
});
