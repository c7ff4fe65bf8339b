// Google's official client, unchanged: only its base URL and its key are set. Each story runs on the sandbox, on a
// chat-completions provider and on one of Messages.

import { ApiError, type Content, FunctionCallingConfigMode, GoogleGenAI, type Part, Type } from "@google/genai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  CAPITAL,
  CITIES,
  CITY,
  HOUSES,
  type Houses,
  NEXT_STEP,
  openHouses,
  PIXEL,
  REFUSED,
  STEPS,
  WEATHER,
} from "../support/gateway/acting.ts";
import { chunk, streams } from "../support/providers/fake-provider.ts";

let houses: Houses;
beforeAll(async () => {
  houses = await openHouses();
});
afterAll(() => houses.close());

const model = "auto";
const contents = "What is the capital of France?";
const WEATHER_TOOL = {
  functionDeclarations: [
    {
      name: WEATHER,
      description: "The weather of a city",
      parameters: { type: Type.OBJECT, properties: { city: { type: Type.STRING } }, required: ["city"] },
    },
  ],
};

function connect(house: keyof Omit<Houses, "providers" | "close">, apiKey = houses[house].key): GoogleGenAI {
  return new GoogleGenAI({ apiKey, httpOptions: { baseUrl: houses[house].url } });
}

describe.each(HOUSES)("@google/genai on %s", (house) => {
  const expectsText = (words: string): unknown => (house === "sandbox" ? expect.stringContaining("simulated") : words);
  let client: GoogleGenAI;
  beforeAll(() => {
    client = connect(house);
  });

  it("a plain response", async () => {
    const response = await client.models.generateContent({
      model,
      contents,
      config: { systemInstruction: "Be brief." },
    });
    expect(response.text).toEqual(expectsText(CAPITAL));
    expect(response.candidates?.[0]?.finishReason).toBe("STOP");
    expect(response.usageMetadata?.candidatesTokenCount).toBeGreaterThan(0);
    expect(response.modelVersion).not.toBe(model);
  });

  it("a stream", async () => {
    const texts: unknown[] = [];
    let last: unknown;
    for await (const response of await client.models.generateContentStream({ model, contents })) {
      texts.push(response.text ?? "");
      last = response;
    }
    expect(texts.length).toBeGreaterThan(2);
    expect(texts.join("")).toEqual(expectsText(CAPITAL));
    expect(last).toMatchObject({ candidates: [{ finishReason: "STOP" }], usageMetadata: expect.anything() });
  });

  it("a chat keeps its history, whole and streamed", async () => {
    const chat = client.chats.create({ model });
    await chat.sendMessage({ message: contents });
    for await (const _ of await chat.sendMessageStream({ message: contents }));
    const third = await chat.sendMessage({ message: contents });
    expect(third.text).toEqual(expectsText(CAPITAL));
    const said = chat.getHistory(true).map(({ role }) => role);
    expect(said.filter((role) => role === "user").length).toBe(3);
    expect(said[1]).toBe("model");
  });

  // Google's own README gives the results the role `tool`.
  it.each([
    ["whole", "user"],
    ["streamed", "tool"],
  ])("a tool loop with calls in parallel, %s, results as %s", async (manner, role) => {
    const history: Content[] = [{ role: "user", parts: [{ text: "What is the weather in Rome and Oslo?" }] }];
    const config = { tools: [WEATHER_TOOL] };
    const parts = await turn(client, { model, contents: history, config }, manner);
    const calls = parts.flatMap(({ functionCall }) => functionCall ?? []);
    if (house !== "sandbox") expect(calls.map(({ args }) => args?.city).sort()).toEqual([...CITIES].sort());
    expect(calls.length).toBeGreaterThan(0);
    const results = calls.map(({ id, name, args }) => ({
      functionResponse: {
        ...(id && { id }),
        ...(name && { name }),
        response: { output: `20 degrees in ${args?.city}` },
      },
    }));
    history.push({ role: "model", parts }, { role, parts: results });
    const answered = await turn(client, { model, contents: history, config }, manner);
    expect(answered.map(({ text }) => text ?? "").join("")).toContain("20 degrees");
  });

  it("structured output by schema", async () => {
    const properties = { name: { type: Type.STRING }, people: { type: Type.INTEGER } };
    const responseSchema = { type: Type.OBJECT, properties, required: ["name", "people"] };
    const config = { responseMimeType: "application/json", responseSchema };
    const response = await client.models.generateContent({ model, contents: "Describe Rome.", config });
    const described: unknown = JSON.parse(response.text ?? "");
    expect(described).toEqual(house === "sandbox" ? { name: expect.any(String), people: expect.any(Number) } : CITY);
  });

  it("an image", async () => {
    const parts: Part[] = [{ text: "What is this?" }, { inlineData: { mimeType: "image/png", data: PIXEL } }];
    const response = await client.models.generateContent({ model, contents: [{ role: "user", parts }] });
    expect(response.text).toEqual(expectsText("A red square."));
  });

  it("counts and lists", async () => {
    expect((await client.models.countTokens({ model, contents })).totalTokens).toBeGreaterThan(3);
    const names: unknown[] = [];
    for await (const { name } of await client.models.list({ config: { pageSize: 1 } })) names.push(name);
    expect(names.length).toBeGreaterThan(1);
    expect(names[0]).toBe("models/auto");
    const id = String(names[1]).replace("models/", "");
    expect(await client.models.get({ model: id })).toMatchObject({ name: names[1] });
    const config = { httpOptions: { extraBody: { service_profile: "direct" } } };
    expect((await client.models.generateContent({ model: id, contents, config })).modelVersion).toBe(id);
  });

  it("errors are raised with their status", async () => {
    const stranger = connect(house, "sk-service-wrong");
    const unknown = await stranger.models.generateContent({ model, contents }).catch((error: unknown) => error);
    expect(unknown).toBeInstanceOf(ApiError);
    expect((unknown as ApiError).status).toBe(401);
    if (house === "sandbox") return;
    const refused = await client.models.generateContent({ model, contents: REFUSED }).catch((error: unknown) => error);
    expect([(refused as ApiError).status, (refused as ApiError).message]).toEqual([
      400,
      expect.stringContaining("The prompt is not acceptable."),
    ]);
  });
});

it.each(["chat", "native"] as const)("three turns of the client's own function calling on %s", async (house) => {
  const declaration = {
    name: NEXT_STEP,
    parametersJsonSchema: { type: "object", properties: { step: { type: "string" } } },
  };
  const steps: unknown[] = [];
  const callable = {
    tool: async () => ({ functionDeclarations: [declaration] }),
    callTool: async (calls: readonly { id?: string; name?: string; args?: Record<string, unknown> }[]) =>
      calls.map(({ id, name, args }) => {
        steps.push(args?.step);
        const response = { output: `${args?.step} done` };
        return { functionResponse: { ...(id && { id }), ...(name && { name }), response } };
      }),
  };
  const config = {
    tools: [callable],
    toolConfig: { functionCallingConfig: { mode: FunctionCallingConfigMode.AUTO } },
  };
  const response = await connect(house).models.generateContent({ model, contents: "Do both steps.", config });
  expect(steps).toEqual([...STEPS]);
  expect(response.text).toContain("second done");
});

it("a stream that breaks raises an error", async () => {
  houses.providers.chat.once("alpha-1", streams([chunk("m", { content: "Hel" })], { ending: "cut" }));
  const stream = await connect("chat").models.generateContentStream({ model, contents });
  const read = async (): Promise<void> => {
    for await (const _ of stream);
  };
  await expect(read()).rejects.toMatchObject({ name: "ApiError", status: 503 });
});

it("a client that cancels ends the provider's call", async () => {
  houses.providers.chat.once("alpha-1", streams([chunk("m", { content: "Hel" })], { ending: "hang" }));
  const received = houses.providers.chat.nextRequest();
  const controller = new AbortController();
  const config = { abortSignal: controller.signal };
  const stream = await connect("chat").models.generateContentStream({ model, contents, config });
  await stream.next();
  controller.abort();
  await expect(stream.next()).rejects.toThrow();
  expect(await (await received).closed).toEqual({ wasCut: true });
});

type Question = Parameters<GoogleGenAI["models"]["generateContent"]>[0];

/** The parts of a response, whole or in chunks. */
async function turn(client: GoogleGenAI, question: Question, manner: string): Promise<Part[]> {
  if (manner === "whole") return (await client.models.generateContent(question)).candidates?.[0]?.content?.parts ?? [];
  const parts: Part[] = [];
  for await (const { candidates } of await client.models.generateContentStream(question)) {
    parts.push(...(candidates?.[0]?.content?.parts ?? []));
  }
  return parts;
}
