// The tool `image_generation` of Responses: made by the gateway for models whose hosts have none, left to those that have it,
// and charged at the price of an image model either way. Asked by the official client, whole and streamed.

import OpenAI from "openai";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { answers, type FakeProvider, fails, sends, startFakeProvider } from "../../support/providers/fake-provider.ts";
import { message, respondsItems, startFakeResponses } from "../../support/providers/fake-responses.ts";
import { round } from "../../support/providers/fake-search.ts";
import { IMAGE_USAGE, IMAGES, PICTURE, sendsEvents } from "../../support/providers/media.ts";
import { finalResponse, type ResponseEvent } from "../../support/providers/responses.ts";
import type { Json } from "../../support/providers/streams.ts";
import { type Bank, bankOf } from "../../support/stores/money.ts";

let lab: FakeProvider;
let vendor: FakeProvider;
let gateway: TestGateway;
let bare: TestGateway;
let bank: Bank;
let openai: OpenAI;

const MODELS = [
  "  - { id: plain, provider: lab, price: { input: 1, output: 4 }, context: 200000, maxOutput: 1000, capabilities: [tools] }",
  "  - { id: pro, provider: vendor, price: { input: 2, output: 8 }, context: 200000, maxOutput: 1000, capabilities: [tools] }",
];
const PAINTERS = [
  "  - { id: painter, provider: lab, price: { input: 5, output: 30, imageInput: 8 }, context: 32768, maxOutput: 4000, capabilities: [images] }",
  "  - { id: master, provider: lab, price: { input: 50, output: 300 }, context: 32768, maxOutput: 4000, capabilities: [images] }",
];
const yamlOf = (models: readonly string[]): string =>
  [
    "catalog: none",
    "limits: { requestsPerMinute: 100000 }",
    "search: { maxRounds: 2 }",
    "providers:",
    `  lab: { kind: openai, baseUrl: "${lab.url}", apiKey: k }`,
    `  vendor: { kind: responses, baseUrl: "${vendor.url}", apiKey: k }`,
    "models:",
    ...models,
    "tiers: { LIGHT: [plain] }",
    "routing: { baseline: plain, markup: 0 }",
  ].join("\n");

beforeAll(async () => {
  lab = await startFakeProvider();
  vendor = await startFakeResponses();
  gateway = await startGateway({ yaml: yamlOf([...MODELS, ...PAINTERS]) });
  bare = await startGateway({ yaml: yamlOf(MODELS.slice(0, 1)) });
  bank = bankOf(lab, gateway);
  openai = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.key, maxRetries: 0 });
});
beforeEach(() => {
  lab.reset();
  vendor.reset();
});
afterAll(async () => {
  await gateway.stop();
  await bare.stop();
  await lab.close();
  await vendor.close();
});

/** 12 tokens in and 5 out, at 1 and 4 USD per million, in nano-USD. */
const ROUND = 32_000n;
/** 50 text tokens at 5 USD a million, 100 image tokens at 8, 3,000 output tokens at 30. */
const PICTURE_COST = 50n * 5_000n + 100n * 8_000n + 3_000n * 30_000n;
const PAINTED = { ...IMAGES, size: "1024x1024", quality: "low" };
const draws = (prompt: string) => ({ name: "image_generation", args: JSON.stringify({ prompt }) });
const spentBy = (work: () => Promise<unknown>): Promise<bigint> => bank.spentBy(work);

type Body = Omit<OpenAI.Responses.ResponseCreateParamsNonStreaming, "stream">;
type Tool = OpenAI.Responses.Tool.ImageGeneration;
const bodyOf = (tool: Partial<Tool> = {}, extra: object = {}): Body => ({
  ...{ model: "plain", input: "Draw a lighthouse.", tools: [{ type: "image_generation", ...tool }] },
  ...extra,
});
const MANNERS = ["whole", "streamed"] as const;
const ask = (manner: (typeof MANNERS)[number], body: Body) =>
  manner === "whole" ? openai.responses.create(body) : openai.responses.stream(body).finalResponse();

async function eventsOf(body: Body): Promise<readonly ResponseEvent[]> {
  const events: ResponseEvent[] = [];
  for await (const event of await openai.responses.create({ ...body, stream: true }))
    events.push(event as unknown as ResponseEvent);
  return events;
}

describe.each(MANNERS)("%s", (manner) => {
  it("the cheapest image model draws, the client gets the picture, and both are charged in one hold", async () => {
    lab.once("plain", round("", draws("a lighthouse at dusk")), round("Here it is."));
    let held = 0n;
    lab.on("painter", async (exchange) => {
      held = (await bank.balance()).held;
      return sends(200, PAINTED)(exchange);
    });
    let answer: OpenAI.Responses.Response | undefined;
    const spent = await spentBy(async () => {
      answer = await ask(manner, bodyOf({ quality: "low", size: "auto", output_format: "webp" }));
    });
    expect(answer?.output).toMatchObject([
      {
        type: "image_generation_call",
        status: "completed",
        result: PICTURE,
        revised_prompt: "a lighthouse at dusk",
        ...{ size: "1024x1024", quality: "low", output_format: "webp" },
      },
      { type: "message", content: [{ text: "Here it is." }] },
    ]);
    expect(answer?.usage).toMatchObject({ input_tokens: 24, output_tokens: 10 });
    expect(spent).toBe(2n * ROUND + PICTURE_COST);
    // Two pictures at their dearest.
    expect(held).toBeGreaterThanOrEqual(2n * 4_000n * 300_000n);
    const [first, drawn, second] = lab.requests.map(({ body }) => body as Json);
    expect(first?.tools).toMatchObject([{ function: { name: "image_generation" } }]);
    expect(drawn).toEqual({
      ...{ model: "painter", prompt: "a lighthouse at dusk" },
      ...{ quality: "low", output_format: "webp" },
    });
    const told = ((second as Json).messages as Json[]).at(-1);
    expect(told?.content).toMatch(/was made, and the user sees it/);
    expect(JSON.stringify(second)).not.toContain(PICTURE);
  });

  it("a picture that fails costs nothing, and the model says so", async () => {
    lab.once("plain", round("", draws("a lighthouse")), round("I could not."));
    lab.on("painter", fails(400));
    let answer: OpenAI.Responses.Response | undefined;
    const spent = await spentBy(async () => {
      answer = await ask(manner, bodyOf());
    });
    expect(answer?.output).toMatchObject([{ type: "image_generation_call", status: "failed", result: null }, {}]);
    expect(spent).toBe(2n * ROUND);
  });

  it("a host of the client's own format keeps the tool, and its pictures are charged at the dearest image model", async () => {
    const made = { type: "image_generation_call", id: "ig_1", status: "completed", result: PICTURE };
    const extra = { tool_usage: { image_gen: IMAGE_USAGE } };
    vendor.on("pro", respondsItems([made, message("Here.")], { extra }));
    const spent = await spentBy(async () => {
      const answer = await ask(manner, bodyOf({ model: "painter" }, { model: "pro", service_profile: "direct" }));
      expect(answer.output).toMatchObject([{ type: "image_generation_call", result: PICTURE }, {}]);
    });
    expect(spent).toBe(12n * 2_000n + 5n * 8_000n + PICTURE_COST);
    expect(vendor.requests.at(-1)?.body).toMatchObject({ tools: [{ type: "image_generation" }] });
  });
});

it("a stream shows beginnings of the picture, in the events of the vendor", async () => {
  lab.once("plain", round("", draws("a lighthouse")), round("Here."));
  const partial = { type: "image_generation.partial_image", b64_json: "cGFydA==", partial_image_index: 0 };
  const done = { type: "image_generation.completed", b64_json: PICTURE, usage: IMAGE_USAGE };
  lab.on("painter", sendsEvents([partial, done]));
  let events: readonly ResponseEvent[] = [];
  const spent = await spentBy(async () => {
    events = await eventsOf(bodyOf({ partial_images: 2 }));
  });
  expect(finalResponse(events).output).toMatchObject([{ result: PICTURE }, { type: "message" }]);
  const told = events.filter(({ type }) => type.includes("image_generation_call"));
  expect(told.map(({ type }) => type.split(".").at(-1))).toEqual([
    ...["in_progress", "generating", "partial_image", "completed"],
  ]);
  expect(told[2]).toMatchObject({ partial_image_index: 0, partial_image_b64: "cGFydA==", output_index: 0 });
  expect(spent).toBe(2n * ROUND + PICTURE_COST);
  expect(lab.requests[1]?.body).toMatchObject({ stream: true, partial_images: 2 });
});

it("a stream of a picture that breaks off costs nothing and ends as a failed call", async () => {
  lab.once("plain", round("", draws("a lighthouse")), round("No."));
  const partial = { type: "image_generation.partial_image", b64_json: "cGFydA==", partial_image_index: 0 };
  lab.on("painter", sendsEvents([partial], true));
  const spent = await spentBy(async () => {
    const { output } = finalResponse(await eventsOf(bodyOf({ partial_images: 1 })));
    expect(output).toMatchObject([{ type: "image_generation_call", status: "failed" }, {}]);
  });
  expect(spent).toBe(2n * ROUND);
});

it("a request may name the image model, force the tool, and limit the pictures", async () => {
  lab.once("plain", round("", draws("one"), draws("two")), round("Done."));
  lab.on("master", sends(200, PAINTED));
  const extra = { tool_choice: { type: "image_generation" }, max_tool_calls: 1 };
  const answer = await ask("whole", bodyOf({ model: "master" }, extra));
  expect(answer.output).toMatchObject([{ status: "completed" }, { status: "failed" }, { type: "message" }]);
  const bodies = lab.requests.map(({ body }) => body as Json);
  expect(bodies[0]?.tool_choice).toEqual({ type: "function", function: { name: "image_generation" } });
  expect(bodies.filter(({ model }) => model === "master")).toHaveLength(1);
});

it("the next turn says to any model what was drawn", async () => {
  lab.on("plain", answers("A lighthouse."));
  const item = { type: "image_generation_call", id: "ig_1", status: "completed", result: PICTURE };
  const input = [
    { role: "user", content: "Draw." },
    { ...item, revised_prompt: "a lighthouse" },
    { role: "user", content: "What is it?" },
  ];
  await ask("whole", { model: "plain", input: input as OpenAI.Responses.ResponseInput });
  expect(lab.requests[0]?.body).toMatchObject({ messages: [{}, { content: "[Made a picture: a lighthouse]" }, {}] });
});

it("without an image model, or for a change of a picture, the request is refused with the reason", async () => {
  const client = new OpenAI({ baseURL: `${bare.url}/v1`, apiKey: bare.key, maxRetries: 0 });
  await expect(client.responses.create(bodyOf())).rejects.toMatchObject({
    status: 400,
    message: expect.stringMatching(/image_generation/),
  });
  const edited = bodyOf({ action: "edit" }, { service_profile: "direct" });
  await expect(openai.responses.create(edited)).rejects.toMatchObject({ status: 400 });
  await expect(openai.responses.create(bodyOf({ partial_images: 9 }))).rejects.toMatchObject({ status: 400 });
  expect(lab.requests).toEqual([]);
});
