// POST /v1/embeddings: the model that is named gets the request as it came, and nothing is routed.

import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { expectError } from "../../support/errors.ts";
import { type EndpointLab, embeds, openEndpointLab, VECTORS } from "../../support/providers/endpoints.ts";
import { cuts, fails, type ReceivedRequest, sends } from "../../support/providers/fake-provider.ts";
import type { Json } from "../../support/providers/streams.ts";

let lab: EndpointLab;
beforeAll(async () => {
  lab = await openEndpointLab({ env: { DEBUG_ROUTING: "1" } });
});
afterEach(() => lab.provider.reset());
afterAll(() => lab.close());

const ask = (extra: object = {}, headers: Record<string, string> = {}): Promise<Response> =>
  lab.gateway.post("/v1/embeddings", { model: "small", input: "a text", ...extra }, headers);
const sent = (): ReceivedRequest => lab.provider.requests.at(-1) as ReceivedRequest;

it("goes to the model that is named with its provider in front", async () => {
  const answer = await ask({ model: "lab/small" });
  expect(await answer.json()).toMatchObject({ model: "small" });
  expect(sent().body.model).toBe("vendor-small");
});

describe("an answer", () => {
  it.each<[string, unknown, number]>([
    ["a text", "a text", 1],
    ["an empty text", "", 1],
    ["several texts", ["one", "two"], 2],
    ["token ids", [1, 2, 3], 1],
    ["lists of token ids", [[1, 2], [3]], 2],
  ])("to %s is the provider's, with the id of the model", async (_name, input, count) => {
    const answer = await ask({ input, dimensions: 3, user: "u-1" });
    expect([answer.status, answer.headers.get("x-service-model")]).toEqual([200, null]);
    expect(await answer.json()).toEqual({
      object: "list",
      data: VECTORS.slice(0, count).map((embedding, index) => ({ object: "embedding", index, embedding })),
      model: "small",
      usage: { prompt_tokens: 7, total_tokens: 7 },
    });
    expect(sent().path).toBe("/v1/embeddings");
    expect(sent().body).toEqual({ model: "vendor-small", input, dimensions: 3, user: "u-1" });
  });

  it("is recorded with the user and the tags of its caller", async () => {
    const headers = { "x-tag-team": "search", "x-request-id": "labelled-vectors" };
    expect((await ask({ user: "eva", metadata: { run: "4" } }, headers)).status).toBe(200);
    const record = await (await lab.gateway.api("GET", "/api/requests/labelled-vectors")).json();
    expect(record).toMatchObject({ route: "/v1/embeddings", user: "eva", tags: { run: "4", team: "search" } });
  });

  it("keeps every byte but the model's name, on the way in and out", async () => {
    const raw = `{ "data":[{"embedding":[1.0,-2.50e-3, 0.1]}] , "model":"vendor-small","usage":{"prompt_tokens":3},"big": 12345678901234567890 }`;
    lab.provider.on("*", sends(200, raw));
    const body = `{"input" : "caf\\u00e9", "service_tier_floor":"LIGHT", "model":"small", "x": 1.10}`;
    const answer = await lab.gateway.post("/v1/embeddings", body);
    expect(await answer.text()).toBe(
      `{"data":[{"embedding":[1.0,-2.50e-3, 0.1]}] , "model":"small","usage":{"prompt_tokens":3},"big": 12345678901234567890}`,
    );
    expect(sent().raw).toBe(`{"input" : "caf\\u00e9","model":"vendor-small","x": 1.10}`);
  });

  it("is base64 where the client asked for it, whatever the provider sent", async () => {
    const { data } = (await (await ask({ input: ["a", "b"], encoding_format: "base64" })).json()) as {
      data: readonly { embedding: string; index: number; object: string }[];
    };
    expect(sent().body.encoding_format).toBe("base64");
    const decoded = data.map(({ embedding }) => {
      const bytes = Buffer.from(embedding, "base64");
      return [...new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4)];
    });
    expect(decoded).toEqual(VECTORS);
    const encoded = { data: [{ embedding: "AACAPg==" }], model: "x", usage: { prompt_tokens: 1 } };
    lab.provider.on("*", sends(200, encoded));
    expect(await (await ask({ encoding_format: "base64" })).json()).toEqual({ ...encoded, model: "small" });
  });

  it("is recorded as what it is, without a decision", async () => {
    await (await ask({}, { "x-request-id": "vectors-1" })).text();
    const record = (await (await lab.gateway.api("GET", "/api/requests/vectors-1")).json()) as Json;
    expect(record).toMatchObject({
      route: "/v1/embeddings",
      status: 200,
      tier: null,
      category: null,
      model: "small",
      provider: "lab",
      fallback: false,
      decision: null,
      features: null,
      tokens: { input: 7, output: 0 },
      savedUsd: "0",
    });
    expect(record.attempts).toMatchObject([{ model: "small", outcome: "answered", status: 200 }]);
    const line = lab.gateway.logged.findLast(({ fields }) => fields.requestId === "vectors-1");
    expect(line?.fields).toMatchObject({
      event: "request.completed",
      model: "small",
      usage: [7, 0],
      isFallback: false,
    });
    const { data } = (await (await lab.gateway.api("GET", "/api/usage?by=total&group=tier")).json()) as {
      data: Json[];
    };
    expect(data.map(({ group }) => group)).not.toContain("STANDARD");
  });
});

describe("a request that cannot be served", () => {
  it.each<[string, object, number, string, RegExp]>([
    ["no model", { model: null }, 400, "model_required", /small, other/],
    ["an unknown model", { model: "none" }, 404, "model_not_found", /"none" for embeddings.*small, other/],
    ["a chat model", { model: "alpha" }, 400, "wrong_endpoint", /alpha is a model for chat.*small/],
    ["a model of another endpoint", { model: "ranker" }, 400, "wrong_endpoint", /ranker is a model for rerank/],
    ["no input", { input: null }, 422, "invalid_input", /'input' must be text/],
    ["an empty list", { input: [] }, 422, "invalid_input", /not empty/],
    ["an empty list of ids", { input: [[]] }, 422, "invalid_input", /token ids/],
    ["a mixed list", { input: ["a", 1] }, 422, "invalid_input", /token ids/],
    ["an unknown encoding", { encoding_format: "hex" }, 400, "invalid_value", /float, base64/],
    ["no dimensions", { dimensions: 0 }, 400, "invalid_value", /dimensions/],
  ])("%s", async (_name, extra, status, code, message) => {
    const error = await expectError(await ask(extra), { status, code });
    expect(error.message).toMatch(message);
    expect(lab.provider.requests).toEqual([]);
  });

  it("a model of this endpoint on chat", async () => {
    const body = { model: "small", service_profile: "direct", messages: [{ role: "user", content: "hi" }] };
    const error = await expectError(await lab.gateway.post("/v1/chat/completions", body), { status: 400 });
    expect([error.code, error.message]).toEqual(["wrong_endpoint", expect.stringContaining("not for chat")]);
  });
});

describe("a provider that fails", () => {
  it.each<[string, Parameters<EndpointLab["provider"]["on"]>[1]]>([
    ["with 500", fails(500)],
    ["by closing the connection", cuts],
    ["without vectors", sends(200, { object: "list", data: [], model: "x" })],
    ["with something else", sends(200, { choices: [] })],
    ["with a page", sends(200, "<html>")],
    ["with an error in place of an answer", sends(200, { error: { message: "overloaded" }, data: [1] })],
  ])("%s is 503", async (_name, behaviour) => {
    lab.provider.on("*", behaviour);
    const error = await expectError(await ask(), { status: 503, code: "all_providers_failed" });
    expect(error.message).toMatch(/^The requested model failed\. The last one /);
  });

  it("by not knowing the model is 503, and the operator has to act", async () => {
    lab.provider.on("*", fails(404));
    const answer = await ask({ model: "other" });
    expect(answer.headers.get("x-should-retry")).toBe("false");
    const { message } = await expectError(answer, { status: 503 });
    expect(message).toContain("The last one returned 404. A retry won't help");
  });

  it("by refusing the input is 400 with its words, and without its key", async () => {
    lab.provider.on("*", fails(400, { message: "too long: lab-secret", code: "too_long" }));
    const error = await expectError(await ask(), { status: 400, code: "too_long" });
    expect(error.message).toBe("too long: •••");
  });

  it("is tried once more where that may help, with the same bytes", async () => {
    lab.provider.once("vendor-small", fails(500), embeds(7));
    expect((await ask()).status).toBe(200);
    expect(lab.provider.callsTo("vendor-small")).toBe(2);
  });

  it("by refusing 'user' gets the request without it", async () => {
    const refused = fails(400, { message: "Unknown parameter: 'user'", code: "unknown_parameter", param: "user" });
    lab.provider.once("vendor-small", refused, embeds(7));
    expect((await ask({ user: "u" })).status).toBe(200);
    expect(sent().body).toEqual({ model: "vendor-small", input: "a text" });
  });
});

describe("a profile", () => {
  async function keyWith(profile: object): Promise<Record<string, string>> {
    const name = `p-${Math.random()}`;
    const made = await lab.gateway.api("POST", "/api/profiles", { name, ...profile });
    const { id } = (await made.json()) as { id: string };
    const key = (await (await lab.gateway.api("POST", "/api/keys", { name, profile: id })).json()) as { key: string };
    return { authorization: `Bearer ${key.key}` };
  }

  it("allows and blocks models here too, and what it requires of chat does not count", async () => {
    const allowed = await keyWith({ allowedModels: ["small"], capabilities: ["tools"], tierCeiling: "NANO" });
    expect((await ask({}, allowed)).status).toBe(200);
    const error = await expectError(await ask({ model: "other" }, allowed), { status: 404, code: "model_not_found" });
    expect(error.message).toContain("This key can use small.");
    const blocked = await keyWith({ blockedModels: ["small"] });
    expect((await ask({}, blocked)).status).toBe(404);
  });
});

describe("the list of models", () => {
  const idsOf = async (query: string): Promise<readonly unknown[]> => {
    const { data } = (await (await lab.gateway.get(`/v1/models${query}`)).json()) as { data: readonly Json[] };
    return data.map(({ id }) => id);
  };

  it("has chat models unless others are asked for", async () => {
    expect(await idsOf("")).toEqual(["alpha"]);
    expect(await idsOf("?output_modalities=embeddings")).toEqual(["small", "other", "hasty"]);
    expect(await idsOf("?output_modalities=rerank,moderation")).toEqual(["ranker", "judge"]);
    expect(await idsOf("?output_modalities=all")).toEqual(["alpha", "small", "other", "hasty", "ranker", "judge"]);
  });

  it("names the price and the kind of each", async () => {
    expect(await (await lab.gateway.get("/v1/models/small")).json()).toMatchObject({
      id: "small",
      architecture: { input_modalities: ["text"], output_modalities: ["embeddings"] },
      pricing: { prompt: "0.000000021", completion: "0" },
      service: { tiers: [] },
    });
    const { data } = (await (await lab.gateway.api("GET", "/api/models")).json()) as { data: readonly Json[] };
    const small = data.find(({ id }) => id === "small");
    expect(small).toMatchObject({ tier: null, chains: [], capabilities: ["embeddings"], isRoutable: true });
  });
});
