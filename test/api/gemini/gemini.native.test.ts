// Gemini's endpoints on a model of a provider that speaks Gemini: the client's bytes go through, whole and streamed, and
// what only Google has works.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { functionCall, generated, says, saysParts, text, thought } from "../../support/providers/fake-gemini.ts";
import { type ReceivedRequest, sends } from "../../support/providers/fake-provider.ts";
import { type GeminiGateway, startGeminiGateway } from "../../support/providers/gemini-gateway.ts";

type Json = Record<string, unknown>;

let world: GeminiGateway;
beforeAll(async () => {
  world = await startGeminiGateway();
});
beforeEach(() => world.reset());
afterAll(() => world.close());

const DIRECT = { service_profile: "direct" };
const ASK = { contents: [{ role: "user", parts: [{ text: "Weather?" }] }] };
const ask = (call: string, body: object): Promise<Response> =>
  world.gateway.post(`/v1beta/models/gem:${call}`, { ...DIRECT, ...body });
const received = (): ReceivedRequest => world.gemini.requests.at(-1) as ReceivedRequest;

describe("a request", () => {
  it("passes with every field that we do not know, and without ours", async () => {
    const body = {
      ...ASK,
      tools: [{ googleSearch: { novelty: 1 } }],
      safetySettings: [{ category: "HARM_CATEGORY_HARASSMENT", threshold: "BLOCK_NONE" }],
      cachedContent: "cachedContents/1",
      novelty: { a: [1, 2] },
    };
    expect((await ask("generateContent", body)).status).toBe(200);
    expect(JSON.parse(received().raw)).toEqual(body);
    expect(received().path).toBe("/v1beta/models/gem-1:generateContent");
    expect(received().headers).toMatchObject({ "x-goog-api-key": "google-secret" });
  });

  it("in snake_case keeps one output cap, within what the model can take", async () => {
    const body = {
      ...ASK,
      generation_config: { max_output_tokens: 60_000 },
      system_instruction: { parts: [{ text: "Be brief." }] },
    };
    expect((await ask("generateContent", body)).status).toBe(200);
    expect(JSON.parse(received().raw)).toEqual({
      ...ASK,
      system_instruction: body.system_instruction,
      generationConfig: { maxOutputTokens: 16_384 },
    });
  });

  it.each(["user", "tool"])("carries the client's own signatures back, and results of the role %s", async (role) => {
    const contents = [
      ...ASK.contents,
      { role: "model", parts: [functionCall("look", {}, { signature: "Q29vZ2xl" })] },
      { role, parts: [{ functionResponse: { name: "look", response: { output: "done" } } }] },
    ];
    await (await ask("generateContent", { contents, tools: [{ functionDeclarations: [{ name: "look" }] }] })).text();
    expect((JSON.parse(received().raw) as Json).contents).toEqual(contents);
  });
});

describe("a tool of Google's beside a function", () => {
  const look = { functionDeclarations: [{ name: "look" }] };

  it.each([{ googleSearch: {} }, { mcpServers: [{ name: "docs" }] }])("is run where it can be: %o", async (tool) => {
    const body = { ...ASK, tools: [look, tool] };
    const answer = await ask("generateContent", { ...body, service_profile: "tier", service_tier: "STANDARD" });
    const { modelVersion, service } = (await answer.json()) as { modelVersion: string; service: Json };
    // Of this tier's chain, `alpha` is the first.
    expect([modelVersion, service.notes]).toEqual(["gem", undefined]);
    expect(received().body.tools).toEqual([look, tool]);
    const elsewhere = await world.gateway.post("/v1beta/models/alpha:generateContent", { ...body, ...DIRECT });
    const [name] = Object.keys(tool);
    expect(((await elsewhere.json()) as { service: Json }).service.notes).toEqual([
      { code: "tool_dropped", message: `Dropped the tool '${name}': it runs at Google only.` },
    ]);
  });
});

describe("a response", () => {
  const PARTS = [thought("Hm."), text("Looking."), functionCall("look", { at: 1 }, { signature: "Q29vZ2xl" })];

  it("passes whole but for the model name and service", async () => {
    const own = generated(PARTS, { extra: { novelty: true } }) as Json;
    world.gemini.on("*", sends(200, own));
    const response = (await (await ask("generateContent", ASK)).json()) as Json;
    expect(response).toEqual({ ...own, modelVersion: "gem", service: expect.objectContaining({ model: "gem" }) });
  });

  it.each(["?alt=sse", ""])("passes as a stream, with service in the first and the last piece (%s)", async (query) => {
    world.gemini.on("*", saysParts(PARTS));
    const body = await (await ask(`streamGenerateContent${query}`, ASK)).text();
    const pieces =
      query === ""
        ? (JSON.parse(body) as readonly Json[])
        : body
            .split("\n\n")
            .filter((event) => event.startsWith("data: "))
            .map((event) => JSON.parse(event.slice("data: ".length)) as Json);
    const parts = pieces.flatMap(({ candidates }) =>
      (candidates as readonly { content?: { parts?: readonly Json[] } }[]).flatMap(
        ({ content }) => content?.parts ?? [],
      ),
    );
    const textOf = (isThought: boolean): string =>
      parts.map((part) => ((part.thought === true) === isThought ? String(part.text ?? "") : "")).join("");
    expect([textOf(true), textOf(false)]).toEqual(["Hm.", "Looking."]);
    expect(parts).toContainEqual(PARTS[2]);
    expect(pieces[0]).toMatchObject({ modelVersion: "gem", service: { model: "gem" } });
    expect(pieces.at(-1)).toMatchObject({ modelVersion: "gem", service: { model: "gem" } });
    expect(JSON.stringify(pieces)).toContain('"finishReason":"STOP"');
  });

  it("is charged what Google counted", async () => {
    const usage = { promptTokenCount: 12, candidatesTokenCount: 5, thoughtsTokenCount: 3, totalTokenCount: 20 };
    world.gemini.on("*", says("fine", { usage }));
    const id = { "x-request-id": "counted" };
    await (await world.gateway.post("/v1beta/models/gem:generateContent", { ...DIRECT, ...ASK }, id)).text();
    const record = (await (await world.gateway.api("GET", "/api/requests/counted")).json()) as Json;
    expect(record).toMatchObject({ status: 200 });
    expect(JSON.stringify(record)).toContain('"output":8');
  });
});
