// POST /v1/audio/speech: text in, sound out, byte by byte; charged by the character or by the tokens that events count.

import OpenAI from "openai";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { expectError } from "../../support/errors.ts";
import { fails, sends } from "../../support/providers/fake-provider.ts";
import { type MediaLab, openMediaLab, SOUND, sendsEvents, sendsSound } from "../../support/providers/media.ts";
import type { Json } from "../../support/providers/streams.ts";
import { describeStores } from "../../support/stores/stores.ts";

const PATH = "/v1/audio/speech";
const INPUT = "Grüße aus 🌍, liebe Leute";
const CHARACTERS = BigInt([...INPUT].length);
const DELTAS = [SOUND.subarray(0, 999), SOUND.subarray(999, 2_000)].map((piece) => ({
  type: "speech.audio.delta",
  audio: piece.toString("base64"),
}));
const FINAL = { type: "speech.audio.done", usage: { input_tokens: 9, output_tokens: 101, total_tokens: 110 } };
const withFee = (nano: bigint): bigint => (nano * 105n + 99n) / 100n;
const TOKENS_COST = withFee(9n * 600n + 101n * 12_000n);

await describeStores("speech", ({ url }) => {
  let lab: MediaLab;
  beforeAll(async () => {
    lab = await openMediaLab({ database: url });
  });
  afterEach(() => lab.provider.reset());
  afterAll(() => lab.close());
  const ask = (extra: object = {}, headers: Record<string, string> = {}): Promise<Response> =>
    lab.gateway.post(PATH, { model: "reader", input: INPUT, voice: "alloy", ...extra }, headers);
  const spentBy = (work: () => Promise<unknown>): Promise<bigint> => lab.bank.spentBy(work);
  const bytesOf = async (answer: Response): Promise<Buffer> => Buffer.from(await answer.arrayBuffer());

  test("the official client gets every byte, and pays by the character", async () => {
    lab.provider.on("*", sendsSound());
    const spent = await spentBy(async () => {
      const client = new OpenAI({ baseURL: `${lab.gateway.url}/v1`, apiKey: lab.gateway.key, maxRetries: 0 });
      const answer = await client.audio.speech.create({ model: "reader", input: INPUT, voice: "alloy" });
      expect([answer.headers.get("content-type"), (await bytesOf(answer as Response)).equals(SOUND)]).toEqual([
        "audio/mpeg",
        true,
      ]);
    });
    expect(spent).toBe(withFee(CHARACTERS * 15_000n));
    expect(lab.provider.requests[0]?.body).toEqual({ model: "vendor-reader", input: INPUT, voice: "alloy" });
  });

  test("a model that is paid by tokens is asked for events, and the client gets the sound in them", async () => {
    lab.provider.on("*", sendsEvents([...DELTAS, FINAL]));
    const spent = await spentBy(async () => {
      const answer = await ask({ model: "voice", response_format: "wav" });
      expect(answer.headers.get("content-type")).toBe("audio/wav");
      expect((await bytesOf(answer)).equals(SOUND.subarray(0, 2_000))).toBe(true);
    });
    expect(spent).toBe(TOKENS_COST);
    expect(lab.provider.requests[0]?.body.stream_format).toBe("sse");
  });

  test("a host that knows no events is asked again, and its tokens are estimated", async () => {
    const refused = fails(400, { message: "no", code: "unsupported_parameter", param: "stream_format" });
    lab.provider.once("vendor-voice", refused, sendsSound());
    const headers = { "x-request-id": "uncounted-speech" };
    const spent = await spentBy(async () => {
      expect((await bytesOf(await ask({ model: "voice" }, headers))).equals(SOUND)).toBe(true);
    });
    expect(spent).toBeGreaterThan(0n);
    expect(lab.provider.requests[1]?.body.stream_format).toBeUndefined();
    const record = (await (await lab.gateway.api("GET", "/api/requests/uncounted-speech")).json()) as Json;
    expect(record).toMatchObject({ route: PATH, usageEstimated: true });
  });

  test("events pass as they came where the client asks for them", async () => {
    lab.provider.on("*", sendsEvents([...DELTAS, FINAL]));
    const spent = await spentBy(async () => {
      const text = await (await ask({ model: "voice", stream_format: "sse" })).text();
      expect(text).toBe(
        [...DELTAS, FINAL].map((each) => `event: ${each.type}\ndata: ${JSON.stringify(each)}\n\n`).join(""),
      );
    });
    expect(spent).toBe(TOKENS_COST);
  });

  test("sound that breaks off does not look complete, and costs nothing", async () => {
    lab.provider.on("*", sendsSound({ isCut: true }));
    const spent = await spentBy(async () => {
      await expect(ask().then((answer) => answer.arrayBuffer())).rejects.toThrow();
    });
    expect(spent).toBe(0n);
  });

  test("events that break off do not look like complete sound", async () => {
    lab.provider.on("*", sendsEvents(DELTAS, true));
    const spent = await spentBy(async () => {
      await expect(ask({ model: "voice" }).then((answer) => answer.arrayBuffer())).rejects.toThrow();
    });
    expect(spent).toBe(0n);
  });

  test.each([
    ["5xx", fails(500)],
    ["JSON", sends(200, { ok: true })],
    ["nothing", sends(200, "", { "content-type": "audio/mpeg" })],
  ])("%s costs nothing", async (_name, behaviour) => {
    lab.provider.on("*", behaviour);
    expect(await spentBy(async () => expect((await ask()).status).toBe(503))).toBe(0n);
  });

  test("a client that hangs up in the middle pays for the text it had read", async () => {
    lab.provider.on("*", ({ response }) => {
      response.writeHead(200, { "content-type": "audio/mpeg" });
      response.write(SOUND);
    });
    const spent = await spentBy(async () => {
      const leaving = new AbortController();
      const { url: address, key } = lab.gateway;
      const answer = await fetch(`${address}${PATH}`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify({ model: "reader", input: INPUT }),
        signal: leaving.signal,
      });
      await answer.body?.getReader().read();
      leaving.abort();
      await lab.provider.requests[0]?.closed;
    });
    expect(spent).toBe(withFee(CHARACTERS * 15_000n));
  });

  test("a client that hangs up on a model paid by tokens pays for the sound that had come", async () => {
    const paidFor = async (seconds: number): Promise<bigint> => {
      const audio = Buffer.alloc(48_000 * seconds).toString("base64");
      lab.provider.on("*", ({ response }) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write(`data: ${JSON.stringify({ type: "speech.audio.delta", audio })}\n\n`);
      });
      return spentBy(async () => {
        const leaving = new AbortController();
        const { url: address, key } = lab.gateway;
        const answer = await fetch(`${address}${PATH}`, {
          method: "POST",
          headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
          body: JSON.stringify({ model: "voice", input: INPUT.repeat(20), response_format: "pcm" }),
          signal: leaving.signal,
        });
        await answer.body?.getReader().read();
        leaving.abort();
        await lab.provider.requests.at(-1)?.closed;
      });
    };
    // A minute of speech is 1,250 tokens at 12 USD per million.
    const [short, long] = [await paidFor(3), await paidFor(15)];
    expect(Number(long - short)).toBeCloseTo(250 * 12_000 * 1.05, -2);
  });

  test.each<[string, object, Record<string, string>, number, string]>([
    ["no text", { input: "" }, {}, 422, "invalid_input"],
    ["an unknown form of stream", { stream_format: "mp3" }, {}, 400, "invalid_value"],
    ["a model of pictures", { model: "painter" }, {}, 400, "wrong_endpoint"],
    ["a key for a repeated request", {}, { "idempotency-key": "twice" }, 400, "idempotency_not_supported"],
  ])("%s is refused", async (_name, extra, headers, status, code) => {
    await expectError(await ask(extra, headers), { status, code });
    expect(lab.provider.requests).toEqual([]);
  });
});
