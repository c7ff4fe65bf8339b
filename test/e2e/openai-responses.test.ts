// The official OpenAI client's Responses API, unchanged, on models of the sandbox, of chat-completions and of Anthropic:
// create, stream, parse, images, tool loops of three turns and errors.

import OpenAI from "openai";
import { zodTextFormat } from "openai/helpers/zod";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
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

type Body = Omit<OpenAI.Responses.ResponseCreateParamsNonStreaming, "stream">;
type Item = OpenAI.Responses.ResponseInputItem;

let houses: Houses;
beforeAll(async () => {
  houses = await openHouses();
});
afterAll(() => houses.close());

function clientOf(house: (typeof HOUSES)[number]): OpenAI {
  const { url, key } = houses[house];
  return new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0 });
}

const HELLO: Body = { model: "auto", input: "What is the capital of France?" };
const tool = (name: string, property: string): OpenAI.Responses.FunctionTool => ({
  type: "function",
  name,
  description: `Takes a ${property}`,
  parameters: { type: "object", properties: { [property]: { type: "string" } }, required: [property] },
  strict: false,
});

/** The same request whole, by the helper of streams, and event by event. */
const MANNERS = {
  whole: (client: OpenAI, body: Body) => client.responses.create(body),
  helper: (client: OpenAI, body: Body) => client.responses.stream(body).finalResponse(),
  events: async (client: OpenAI, body: Body) => {
    let last: OpenAI.Responses.Response | null = null;
    for await (const event of await client.responses.create({ ...body, stream: true })) {
      if (event.type === "response.completed") last = event.response;
    }
    return last as OpenAI.Responses.Response;
  },
} as const;
const CASES = HOUSES.flatMap((house) => Object.keys(MANNERS).map((manner) => [house, manner as Manner] as const));
/** The sandbox neither sees nor answers by script. */
const ACTING = CASES.filter(([house]) => house !== "sandbox");
type Manner = keyof typeof MANNERS;

it.each(CASES)("a question: %s, %s", async (house, manner) => {
  const response = await MANNERS[manner](clientOf(house), {
    ...HELLO,
    instructions: "Be brief.",
    metadata: { job: "7" },
  });
  expect(response).toMatchObject({ object: "response", status: "completed", error: null, metadata: { job: "7" } });
  expect(response.id).toMatch(/^resp_/);
  if (manner !== "events") {
    if (house === "sandbox") expect(response.output_text).toContain("simulated");
    else expect(response.output_text).toBe(CAPITAL);
  }
  expect(response.usage?.total_tokens).toBe((response.usage?.input_tokens ?? 0) + (response.usage?.output_tokens ?? 0));
  expect(response).toHaveProperty("service.tier");
});

describe.each(ACTING)("%s, %s", (house, manner) => {
  const ask = (body: Body): Promise<OpenAI.Responses.Response> => MANNERS[manner](clientOf(house), body);

  it("an image", async () => {
    const content = [
      { type: "input_text" as const, text: "What is this?" },
      { type: "input_image" as const, image_url: `data:image/png;base64,${PIXEL}`, detail: "auto" as const },
    ];
    const response = await ask({ model: "auto", input: [{ role: "user", content }] });
    expect(response.output.at(-1)).toMatchObject({ type: "message", content: [{ text: "A red square." }] });
  });

  it("a tool loop with calls in parallel", async () => {
    const input: Item[] = [{ role: "user", content: "What is the weather in Rome and Oslo?" }];
    const body = { model: "auto", tools: [tool(WEATHER, "city")], reasoning: { effort: "low" as const } };
    const first = await ask({ ...body, input });
    const calls = first.output.filter((item) => item.type === "function_call");
    expect(calls.map((call) => JSON.parse(call.arguments))).toEqual(CITIES.map((city) => ({ city })));
    input.push(...(first.output as Item[]));
    calls.forEach(({ call_id: id }, index) => {
      input.push({ type: "function_call_output", call_id: id, output: `${20 + index} degrees` });
    });
    const second = await ask({ ...body, input });
    expect(second.output.at(-1)).toMatchObject({ content: [{ text: "I was told: 20 degrees and 21 degrees." }] });
  });

  it("a tool loop of three turns, with reasoning sent back", async () => {
    const input: Item[] = [{ role: "user", content: "Go." }];
    const body = {
      model: "auto",
      tools: [tool(NEXT_STEP, "step")],
      reasoning: { effort: "high" as const, summary: "auto" as const },
      include: ["reasoning.encrypted_content" as const],
      store: false,
    };
    for (const step of STEPS) {
      const { output } = await ask({ ...body, input });
      const call = output.find((item) => item.type === "function_call");
      expect(JSON.parse(call?.arguments ?? "")).toEqual({ step });
      if (house === "native")
        expect(output[0]).toMatchObject({ type: "reasoning", encrypted_content: expect.any(String) });
      input.push(...(output as Item[]));
      input.push({ type: "function_call_output", call_id: call?.call_id ?? "", output: `${step} done` });
    }
    const last = await ask({ ...body, input });
    expect(last.output.at(-1)).toMatchObject({ type: "message", content: [{ text: expect.stringContaining("done") }] });
    if (house === "native") expect(houses.providers.native.requests.at(-1)?.raw.match(/signed==/g)).toHaveLength(2);
  });
});

describe.each(["chat", "native"] as const)("%s", (house) => {
  const client = (): OpenAI => clientOf(house);

  it("structured output, parsed whole and streamed", async () => {
    const format = zodTextFormat(z.object({ name: z.string(), people: z.number() }), "city");
    const whole = await client().responses.parse({ ...HELLO, text: { format } });
    expect(whole.output_parsed).toEqual(CITY);
    const streamed = await client()
      .responses.stream({ ...HELLO, text: { format } })
      .finalResponse();
    expect(streamed.output_parsed).toEqual(CITY);
  });

  it("a refused request", async () => {
    const error = await client()
      .responses.create({ model: "auto", input: REFUSED })
      .catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(OpenAI.BadRequestError);
    expect(error).toMatchObject({ status: 400, message: "400 The prompt is not acceptable." });
  });
});

describe("errors", () => {
  it.each([
    [401, { apiKey: "sk-service-no" }, HELLO],
    [400, {}, { ...HELLO, input: [] }],
    [404, {}, { ...HELLO, service_profile: "direct", model: "nobody" }],
  ])("%i", async (status, options, body) => {
    const client = clientOf("chat").withOptions(options);
    await expect(client.responses.create(body as Body)).rejects.toMatchObject({ status, type: expect.any(String) });
  });

  it("a stream that breaks is an exception that names the cause", async () => {
    houses.providers.chat.once("alpha-1", streams([chunk("alpha-1", { content: "Par" })], { ending: "cut" }));
    const stream = clientOf("chat").responses.stream(HELLO);
    await expect(stream.finalResponse()).rejects.toMatchObject({ code: "server_error" });
  });

  it("leaving in the middle of a stream cancels the call at the provider", async () => {
    const { chat } = houses.providers;
    chat.once("alpha-1", streams([chunk("alpha-1", { content: "Par" })], { ending: "hang" }));
    const arrived = chat.nextRequest();
    for await (const event of await clientOf("chat").responses.create({ ...HELLO, stream: true })) {
      if (event.type === "response.output_text.delta") break;
    }
    expect(await (await arrived).closed).toEqual({ wasCut: true });
  });
});
