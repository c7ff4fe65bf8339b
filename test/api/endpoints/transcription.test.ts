// POST /v1/audio/transcriptions and /translations: a form with a file goes to the model that it names, and is charged by
// what the provider counts, or by the length of the recording.

import { readdirSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { tmpdir } from "node:os";
import OpenAI, { toFile } from "openai";
import { afterAll, afterEach, beforeAll, describe, expect, it, test } from "vitest";
import { expectError } from "../../support/errors.ts";
import { cuts, fails, type ReceivedRequest, sends } from "../../support/providers/fake-provider.ts";
import { formOf, type MediaLab, openMediaLab, sendsEvents, wavOf } from "../../support/providers/media.ts";
import type { Json } from "../../support/providers/streams.ts";
import { describeStores } from "../../support/stores/stores.ts";

const PATH = "/v1/audio/transcriptions";
const FORM_B = { "content-type": "multipart/form-data; boundary=b" };
const SECONDS = 3;
const WAV = wavOf(SECONDS);
const TEXT = "Grüße aus dem Äther";
const TOKENS = {
  type: "tokens",
  input_tokens: 60,
  input_token_details: { audio_tokens: 50, text_tokens: 10 },
  output_tokens: 7,
  total_tokens: 67,
};
const SEGMENTS = [
  { id: 0, start: 0, end: 1.5, text: " Hello" },
  { id: 1, start: 3_661.25, end: 3_662, text: " there" },
];
const withFee = (nano: bigint): bigint => (nano * 105n + 99n) / 100n;
const TOKENS_COST = withFee(10n * 2_500n + 50n * 6_000n + 7n * 10_000n);
/** 6,000,000 nano-USD a minute. */
const costOf = (ms: bigint): bigint => (ms * 6_000_000n * 105n + 60_000n * 100n - 1n) / (60_000n * 100n);

await describeStores("transcription", ({ url }) => {
  let lab: MediaLab;
  beforeAll(async () => {
    lab = await openMediaLab({ database: url, env: { SWITCHYARD_UPLOAD_LIMIT_BYTES: String(4 * 1024 * 1024) } });
  });
  afterEach(() => lab.provider.reset());
  afterAll(() => lab.close());
  const spentBy = (work: () => Promise<unknown>): Promise<bigint> => lab.bank.spentBy(work);
  const client = (): OpenAI => new OpenAI({ baseURL: `${lab.gateway.url}/v1`, apiKey: lab.gateway.key, maxRetries: 0 });
  const sent = (): ReceivedRequest => lab.provider.requests.at(-1) as ReceivedRequest;
  const post = (form: FormData | Buffer, headers: Record<string, string> = {}, path = PATH): Promise<Response> =>
    fetch(`${lab.gateway.url}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${lab.gateway.key}`, ...headers },
      body: form instanceof FormData ? form : new Uint8Array(form),
    });
  const formWith = (fields: Record<string, string>, file: Buffer | null = WAV, name = "a.wav"): FormData => {
    const form = new FormData();
    // As official clients of Node write it: the file first.
    if (file !== null) form.append("file", new File([new Uint8Array(file)], name, { type: "audio/wav" }));
    for (const [field, value] of Object.entries({ model: "clock", ...fields })) form.append(field, value);
    return form;
  };

  test("the official client gets the text, and pays for tokens by their kind", async () => {
    lab.provider.on("*", sends(200, { text: TEXT, usage: TOKENS }));
    const spent = await spentBy(async () => {
      const file = await toFile(WAV, "a.wav");
      const heard = await client().audio.transcriptions.create({ file, model: "hearer", language: "de" });
      expect([heard.text, heard.usage]).toEqual([TEXT, TOKENS]);
    });
    expect(spent).toBe(TOKENS_COST);
    const form = await formOf(sent());
    expect([sent().path, form.get("model"), form.get("language")]).toEqual([PATH, "vendor-hearer", "de"]);
    const file = form.get("file") as File;
    expect([file.name, Buffer.from(await file.arrayBuffer()).equals(WAV)]).toEqual(["a.wav", true]);
  });

  test("the official client reads a stream", async () => {
    const events = [
      { type: "transcript.text.delta", delta: TEXT },
      { type: "transcript.text.done", text: TEXT, usage: TOKENS },
    ];
    lab.provider.on("*", sendsEvents(events));
    const types: string[] = [];
    const spent = await spentBy(async () => {
      const file = await toFile(WAV, "a.wav");
      for await (const { type } of await client().audio.transcriptions.create({
        file,
        model: "hearer",
        stream: true,
      })) {
        types.push(type);
      }
    });
    expect([types, spent]).toEqual([events.map(({ type }) => type), TOKENS_COST]);
  });

  test("auto takes the model at which the recording costs least", async () => {
    lab.provider.on("*", sends(200, { text: TEXT, duration: 3 }));
    expect((await post(formWith({ model: "auto" }))).status).toBe(200);
    // Three seconds: 300,000 nano-USD by the minute, 51 tokens of sound and 12 of text otherwise.
    expect((await formOf(sent())).get("model")).toBe("vendor-clock");
  });

  test.each([[{ text: TEXT, duration: 0 }], [{ text: TEXT, usage: { type: "duration", seconds: 0 } }]])(
    "%j does not make the recording free",
    async (told) => {
      lab.provider.on("*", sends(200, told));
      // The length that the file tells, with its head.
      expect(await spentBy(() => post(formWith({})))).toBe(costOf(3_006n));
    },
  );

  test("the official client translates", async () => {
    lab.provider.on("*", sends(200, { text: "Hello", duration: "1.5" }));
    const spent = await spentBy(async () => {
      const file = await toFile(WAV, "a.wav");
      expect((await client().audio.translations.create({ file, model: "clock" })).text).toBe("Hello");
    });
    expect([sent().path, spent]).toEqual(["/v1/audio/translations", costOf(1_500n)]);
  });

  test.each<[string, string, object, string]>([
    ["json", "verbose_json", { text: TEXT, duration: 2, segments: SEGMENTS }, `{"text":"${TEXT}"}`],
    ["text", "verbose_json", { text: TEXT, usage: { type: "duration", seconds: 2 } }, `${TEXT}\n`],
    [
      "srt",
      "verbose_json",
      { text: "x", duration: 2, segments: SEGMENTS },
      "1\n00:00:00,000 --> 00:00:01,500\nHello\n\n2\n01:01:01,250 --> 01:01:02,000\nthere\n",
    ],
    [
      "vtt",
      "verbose_json",
      { text: "x", duration: 2, segments: SEGMENTS },
      "WEBVTT\n\n00:00:00.000 --> 00:00:01.500\nHello\n\n01:01:01.250 --> 01:01:02.000\nthere\n",
    ],
  ])("%s is written from a form that counts", async (form, asked, answer, text) => {
    lab.provider.on("*", sends(200, answer));
    const spent = await spentBy(async () => {
      const got = await post(formWith({ response_format: form }));
      expect([got.headers.get("content-type"), await got.text()]).toEqual([
        expect.stringMatching(form === "json" ? /^application\/json/ : /^text\//),
        text,
      ]);
    });
    expect([(await formOf(sent())).get("response_format"), spent]).toEqual([asked, costOf(2_000n)]);
  });

  test("without counts the file's own length is charged, and the request log says so", async () => {
    lab.provider.on("*", sends(200, { text: TEXT }));
    const spent = await spentBy(() => post(formWith({}), { "x-request-id": "uncounted-sound" }));
    const ms = BigInt(Math.ceil((WAV.length * 1_000) / 8_000));
    expect(spent).toBe(costOf(ms));
    const record = (await (await lab.gateway.api("GET", "/api/requests/uncounted-sound")).json()) as Json;
    expect(record).toMatchObject({ route: PATH, usageEstimated: true, model: "clock" });
  });

  test("tokens are no price of a model that is paid by the minute", async () => {
    lab.provider.on("*", sends(200, { text: TEXT, usage: TOKENS }));
    const spent = await spentBy(async () => expect((await post(formWith({}))).status).toBe(200));
    expect(spent).toBe(costOf(BigInt(Math.ceil((WAV.length * 1_000) / 8_000))));
  });

  test("a file that is kept on disk reaches the provider whole, and again after a failure", async () => {
    const long = wavOf(300);
    const left = (): readonly string[] => readdirSync(tmpdir()).filter((name) => name.startsWith("switchyard-upload-"));
    lab.provider.on("*", sends(200, { text: TEXT, duration: 300 }));
    let calls = 0;
    lab.provider.on("*", (exchange) => {
      calls += 1;
      return calls === 1 ? fails(500)(exchange) : sends(200, { text: TEXT, duration: 300 })(exchange);
    });
    const spent = await spentBy(async () => expect((await post(formWith({}, long))).status).toBe(200));
    expect([calls, spent, left()]).toEqual([2, costOf(300_000n), []]);
    for (const request of lab.provider.requests) {
      const file = (await formOf(request)).get("file") as File;
      expect(Buffer.from(await file.arrayBuffer()).equals(long)).toBe(true);
    }
  });

  test("a hostile file name is data", async () => {
    lab.provider.on("*", sends(200, { text: TEXT, duration: 1 }));
    const boundary = "xYz";
    const head = (name: string): string => `--${boundary}\r\nContent-Disposition: form-data; name="${name}`;
    const form = [
      `${head("model")}"\r\n\r\nclock\r\n`,
      `${head("file")}"; filename="../../etc/\\"passwd\nX-Evil: 1"\r\nContent-Type: audio/wav\nX-Evil: 1\r\n\r\n${"a".repeat(99)}\r\n`,
      `${head('b"; filename="')}"\r\n\r\nx\r\n--${boundary}--\r\n`,
    ];
    const answer = await post(Buffer.from(form.join("")), {
      "content-type": `multipart/form-data; boundary=${boundary}`,
    });
    expect(answer.status).toBe(200);
    expect(sent().headers["x-evil"]).toBeUndefined();
    expect(sent().raw).toContain('filename="../../etc/passwdX-Evil: 1"\r\nContent-Type: application/octet-stream');
    expect(sent().raw).not.toMatch(/^X-Evil/m);
  });

  describe("a request that cannot be served", () => {
    it.each<[string, () => FormData, number, string]>([
      ["no file", () => formWith({}, null), 400, "invalid_value"],
      ["an empty file", () => formWith({}, Buffer.alloc(0)), 400, "invalid_value"],
      ["a file without a name", () => formWith({ file: "sound" }, null), 400, "invalid_value"],
      ["no model", () => formWith({ model: "" }), 404, "model_not_found"],
      ["a model of speech", () => formWith({ model: "reader" }), 400, "wrong_endpoint"],
      ["a stream that is neither", () => formWith({ stream: "maybe" }), 400, "invalid_value"],
      ["more than is accepted", () => formWith({}, Buffer.alloc(5 * 1024 * 1024)), 413, "invalid_request_error"],
    ])("%s", async (_name, form, status, code) => {
      const error = await expectError(await post(form()), { status, ...(status === 413 ? {} : { code }) });
      if (status === 413) expect(error.message).toContain("The most is 4 MB");
      expect(lab.provider.requests).toEqual([]);
    });

    it.each<[string, Buffer, Record<string, string>, number]>([
      ["JSON", Buffer.from('{"model":"clock"}'), { "content-type": "application/json" }, 415],
      ["a form without a boundary", Buffer.from("x"), { "content-type": "multipart/form-data" }, 400],
      ["a form without an end", Buffer.from("--b\r\nContent-Disposition: form-data; name=a\r\n\r\nx"), FORM_B, 400],
      ["a part without a name", Buffer.from("--b\r\nX: y\r\n\r\nx\r\n--b--\r\n"), FORM_B, 400],
      ["an endless head", Buffer.concat([Buffer.from("--b\r\n"), Buffer.alloc(20_000, 65)]), FORM_B, 400],
    ])("%s", async (_name, body, headers, status) => {
      await expectError(await post(body, headers), { status });
      expect(lab.provider.requests).toEqual([]);
    });

    it("a form on a path that takes JSON", async () => {
      await expectError(await post(formWith({}), {}, "/v1/embeddings"), { status: 415 });
    });

    it("a key for a repeated request", async () => {
      const answer = await post(formWith({}), { "idempotency-key": "twice" });
      await expectError(answer, { status: 400, code: "idempotency_not_supported" });
    });
  });

  test.each([
    ["5xx", fails(503)],
    ["a cut", cuts],
    ["something else", sends(200, { data: [] })],
  ])("%s costs nothing", async (_name, behaviour) => {
    lab.provider.on("*", behaviour);
    expect(await spentBy(async () => expect((await post(formWith({}))).status).toBe(503))).toBe(0n);
  });

  test("a client that hangs up in the upload leaves nothing behind", async () => {
    const spent = await spentBy(async () => {
      const headers = {
        ...{ authorization: `Bearer ${lab.gateway.key}`, "content-type": "multipart/form-data; boundary=b" },
        "content-length": String(3 * 1024 * 1024),
      };
      const request = httpRequest(`${lab.gateway.url}${PATH}`, { method: "POST", agent: false, headers });
      request.on("error", () => undefined);
      const head = '--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n';
      await new Promise<void>((done) => request.write(head + "a".repeat(1024 * 1024), () => done()));
      request.destroy();
      await new Promise<void>((done) => request.once("close", () => done()));
    });
    expect([spent, lab.provider.requests.length]).toEqual([0n, 0]);
  });

  test("the hold covers the longest recording that the file can be", async () => {
    let held = 0n;
    lab.provider.on("*", async (exchange) => {
      held = (await lab.bank.balance()).held;
      return sends(200, { text: TEXT, duration: 3 })(exchange);
    });
    await (await post(formWith({}, Buffer.alloc(60_000, 1), "a.ogg"))).text();
    expect(held).toBe(costOf(60_000n));
  });
});
