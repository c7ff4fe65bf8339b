// POST /v1/images/generations: the model that is named draws, and what it cost is known by its counts or by the picture.

import OpenAI, { toFile } from "openai";
import { afterAll, afterEach, beforeAll, describe, expect, it, test } from "vitest";
import { expectError } from "../../support/errors.ts";
import { cuts, fails, hangs, type ReceivedRequest, sends } from "../../support/providers/fake-provider.ts";
import {
  formOf,
  IMAGE_USAGE,
  IMAGES,
  type MediaLab,
  openMediaLab,
  PICTURE,
  sendsEvents,
} from "../../support/providers/media.ts";
import type { Json } from "../../support/providers/streams.ts";
import { describeStores } from "../../support/stores/stores.ts";

const PATH = "/v1/images/generations";
const PARTIAL = { type: "image_generation.partial_image", b64_json: PICTURE, partial_image_index: 0 };
const DONE = { type: "image_generation.completed", b64_json: PICTURE, usage: IMAGE_USAGE, size: "1024x1024" };
/** 50 text tokens at 5 USD a million, 100 image tokens at 8, 3,000 output tokens at 30. */
const TOKENS_COST = 50n * 5_000n + 100n * 8_000n + 3_000n * 30_000n;
const withFee = (nano: bigint): bigint => (nano * 105n + 99n) / 100n;

await describeStores("images", ({ url }) => {
  let lab: MediaLab;
  beforeAll(async () => {
    lab = await openMediaLab({ database: url });
  });
  afterEach(() => lab.provider.reset());
  afterAll(() => lab.close());
  const ask = (extra: object = {}, headers: Record<string, string> = {}): Promise<Response> =>
    lab.gateway.post(PATH, { model: "painter", prompt: "a lighthouse", ...extra }, headers);
  const spentBy = (work: () => Promise<unknown>): Promise<bigint> => lab.bank.spentBy(work);
  const client = (): OpenAI => new OpenAI({ baseURL: `${lab.gateway.url}/v1`, apiKey: lab.gateway.key, maxRetries: 0 });

  test("the official client gets picture and usage, and pays for the tokens by their kind", async () => {
    lab.provider.on("*", sends(200, IMAGES));
    const spent = await spentBy(async () => {
      const made = await client().images.generate({ model: "painter", prompt: "a lighthouse", quality: "low" });
      expect([made.data?.[0]?.b64_json, made.usage]).toEqual([PICTURE, IMAGE_USAGE]);
    });
    expect(spent).toBe(withFee(TOKENS_COST));
    const [sent] = lab.provider.requests;
    expect([sent?.path, sent?.body]).toEqual([
      PATH,
      { model: "vendor-painter", prompt: "a lighthouse", quality: "low" },
    ]);
  });

  test("the answer's bytes are the provider's", async () => {
    const raw = `{ "data":[ {"b64_json":"${PICTURE}"} ], "usage":{"input_tokens":1,"output_tokens":2}, "x":1.10 }`;
    lab.provider.on("*", sends(200, raw));
    expect(await (await ask()).text()).toBe(raw);
  });

  test("the official client reads partial pictures as they come", async () => {
    lab.provider.on("*", sendsEvents([PARTIAL, DONE]));
    const types: string[] = [];
    const spent = await spentBy(async () => {
      const stream = await client().images.generate({
        ...{ model: "painter", prompt: "a lighthouse", partial_images: 1 },
        stream: true,
      });
      for await (const event of stream) types.push(event.type);
    });
    expect(types).toEqual([PARTIAL.type, DONE.type]);
    expect(spent).toBe(withFee(TOKENS_COST));
  });

  test("an event that a host repeats is charged once", async () => {
    lab.provider.on("*", sendsEvents([DONE, DONE, DONE]));
    expect(await spentBy(() => ask({ stream: true }))).toBe(withFee(TOKENS_COST));
  });

  test("a host that does not stream answers whole", async () => {
    lab.provider.on("*", sends(200, IMAGES));
    const answer = await ask({ stream: true });
    expect([answer.headers.get("content-type"), await answer.json()]).toEqual([
      expect.stringContaining("application/json"),
      IMAGES,
    ]);
  });

  test.each<[string, object, object, bigint]>([
    ["size and quality that were asked for", { size: "1024x1024", quality: "low" }, {}, 10_000_000n],
    ["size and quality that the answer tells", {}, { size: "1024x1024", quality: "low" }, 10_000_000n],
    ["quality alone", { size: "512x512", quality: "high" }, {}, 200_000_000n],
    ["any", { size: "512x512" }, {}, 40_000_000n],
  ])("a picture with a price of its own costs that of %s", async (_name, asked, told, nano) => {
    lab.provider.on("*", sends(200, { data: [{ url: "https://x" }, { url: "https://y" }], ...told }));
    expect(await spentBy(() => ask({ model: "printer", n: 2, ...asked }))).toBe(withFee(2n * nano));
  });

  test("the hold covers all pictures at their dearest", async () => {
    let held = 0n;
    lab.provider.on("*", async (exchange) => {
      held = (await lab.bank.balance()).held;
      return sends(200, IMAGES)(exchange);
    });
    await (await ask({ n: 4 })).text();
    // Four times the most of one picture, and the input at its dearest.
    expect(held).toBeGreaterThanOrEqual(withFee(4n * 1_000n * 30_000n));
    await (await ask({ model: "printer", n: 4, quality: "high" })).text();
    expect(held).toBe(withFee(4n * 200_000_000n));
  });

  test("without counts it is estimated, and the request log says so", async () => {
    lab.provider.on("*", sends(200, { data: [{ b64_json: PICTURE }] }));
    const spent = await spentBy(() => ask({ quality: "low" }, { "x-request-id": "uncounted-picture" }));
    expect(spent).toBeGreaterThan(withFee(300n * 30_000n) - 1n);
    const record = (await (await lab.gateway.api("GET", "/api/requests/uncounted-picture")).json()) as Json;
    expect(record).toMatchObject({ route: PATH, usageEstimated: true, model: "painter", tier: null });
  });

  test.each([
    ["5xx", fails(503)],
    ["a cut", cuts],
    ["no picture", sends(200, { data: [] })],
    ["an error event", sendsEvents([{ type: "error", ...{ error: { message: "overloaded" } } }])],
  ])("%s costs nothing", async (_name, behaviour) => {
    lab.provider.on("*", behaviour);
    expect(await spentBy(async () => expect((await ask({ stream: true })).status).toBe(503))).toBe(0n);
  });

  test("a stream that breaks tells so and costs nothing", async () => {
    lab.provider.on("*", sendsEvents([PARTIAL], true));
    const spent = await spentBy(async () => {
      expect(await (await ask({ stream: true })).text()).toContain("stream_interrupted");
    });
    expect(spent).toBe(0n);
  });

  test("a balance that covers less than all pictures is 402", async () => {
    await lab.bank.empty();
    await lab.bank.topUp("0.02");
    const { message } = await expectError(await ask({ n: 10 }), { status: 402, code: "insufficient_credits" });
    expect(message).toContain("Send a smaller 'n'");
    await lab.bank.topUp("100");
    expect(lab.provider.requests).toEqual([]);
  });

  test("the same Idempotency-Key is charged once and answered alike", async () => {
    lab.provider.on("*", sends(200, IMAGES));
    const once = { "idempotency-key": "picture" };
    const spent = await spentBy(async () => {
      for (let turn = 0; turn < 2; turn++) expect(await (await ask({}, once)).json()).toEqual(IMAGES);
    });
    expect([spent, lab.provider.requests.length]).toEqual([withFee(TOKENS_COST), 1]);
  });

  test("a client that leaves a stream pays for what had come", async () => {
    lab.provider.on("*", ({ response }) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(`data: ${JSON.stringify(PARTIAL)}\n\n`);
    });
    const spent = await spentBy(async () => {
      const leaving = new AbortController();
      const { url: address, key } = lab.gateway;
      const answer = await fetch(`${address}${PATH}`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify({ model: "painter", prompt: "x", quality: "low", stream: true }),
        signal: leaving.signal,
      });
      await answer.body?.getReader().read();
      leaving.abort();
      await lab.provider.requests[0]?.closed;
    });
    expect(spent).toBeGreaterThan(0n);
  });

  describe("a request that cannot be served", () => {
    it.each<[string, object, number, string]>([
      ["no model", { model: null }, 400, "model_required"],
      ["an unknown model", { model: "none" }, 404, "model_not_found"],
      ["a chat model", { model: "alpha" }, 400, "wrong_endpoint"],
      ["no prompt", { prompt: null }, 422, "invalid_input"],
      ["too many pictures", { n: 11 }, 400, "invalid_value"],
      ["a stream that is neither", { stream: "yes" }, 400, "invalid_value"],
    ])("%s", async (_name, extra, status, code) => {
      lab.provider.on("*", hangs);
      await expectError(await ask(extra), { status, code });
      expect(lab.provider.requests).toEqual([]);
    });
  });

  test("models of pictures are listed by their kind, and never routed to", async () => {
    const { data } = (await (await lab.gateway.get("/v1/models?output_modalities=images")).json()) as { data: Json[] };
    expect(data.map(({ id }) => id)).toEqual(["painter", "printer"]);
    const chat = { model: "painter", service_profile: "direct", messages: [{ role: "user", content: "hi" }] };
    await expectError(await lab.gateway.post("/v1/chat/completions", chat), { status: 400, code: "wrong_endpoint" });
  });
});

describe("edits", () => {
  let lab: MediaLab;
  beforeAll(async () => {
    lab = await openMediaLab();
  });
  afterEach(() => lab.provider.reset());
  afterAll(() => lab.close());
  const client = (): OpenAI => new OpenAI({ baseURL: `${lab.gateway.url}/v1`, apiKey: lab.gateway.key, maxRetries: 0 });

  test("the official client sends pictures and a mask, and reads partial pictures", async () => {
    const image = [await toFile(Buffer.from("one"), "one.png"), await toFile(Buffer.from("two"), "two.png")];
    const mask = await toFile(Buffer.from("mask"), "mask.png");
    lab.provider.on("*", sends(200, IMAGES));
    const spent = await lab.bank.spentBy(async () => {
      const made = await client().images.edit({ model: "painter", prompt: "add a moon", image, mask, n: 2 });
      expect(made.usage).toEqual(IMAGE_USAGE);
    });
    expect(spent).toBe(withFee(TOKENS_COST));
    const form = await formOf(lab.provider.requests[0] as ReceivedRequest);
    const files = [...form.getAll("image[]"), form.get("mask")] as File[];
    expect([form.get("model"), form.get("n"), files.map(({ name }) => name)]).toEqual([
      "vendor-painter",
      "2",
      ["one.png", "two.png", "mask.png"],
    ]);
    const done = { ...DONE, type: "image_edit.completed" };
    lab.provider.on("*", sendsEvents([{ ...PARTIAL, type: "image_edit.partial_image" }, done]));
    const types: string[] = [];
    const asked = { model: "painter", prompt: "add a moon", image: image.slice(0, 1), stream: true } as const;
    for await (const { type } of await client().images.edit(asked)) types.push(type);
    expect(types).toEqual(["image_edit.partial_image", "image_edit.completed"]);
  });

  test("pictures by address come in JSON", async () => {
    lab.provider.on("*", sends(200, IMAGES));
    const images = [{ image_url: "https://example.com/a.png" }];
    const answer = await lab.gateway.post("/v1/images/edits", { model: "painter", prompt: "add a moon", images });
    expect([answer.status, lab.provider.requests[0]?.path]).toEqual([200, "/v1/images/edits"]);
    expect(lab.provider.requests[0]?.body).toEqual({ model: "vendor-painter", prompt: "add a moon", images });
  });

  test("without a picture it is refused", async () => {
    const answer = await lab.gateway.post("/v1/images/edits", { model: "painter", prompt: "add a moon" });
    await expectError(answer, { status: 400, code: "invalid_value" });
  });
});
