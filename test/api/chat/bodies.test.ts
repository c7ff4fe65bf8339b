// Bodies that are refused before anything reads a field: not JSON, too deep, too large, of another kind. Behaviour 4.

import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectError } from "../../support/errors.ts";
import { HELLO, labYaml, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { openSocket, sendRaw } from "../../support/network/raw-http.ts";
import { type FakeProvider, startFakeProvider } from "../../support/providers/fake-provider.ts";
import { promisedMs } from "../../support/random.ts";

const LIMIT_BYTES = 4 * 1024 * 1024;
let provider: FakeProvider;
let gateway: TestGateway;
beforeAll(async () => {
  provider = await startFakeProvider();
  const env = { SWITCHYARD_BODY_LIMIT_BYTES: String(LIMIT_BYTES) };
  gateway = await startGateway({ yaml: labYaml(provider.url), env });
});
afterAll(async () => {
  expect(provider.requests).toEqual([]);
  await gateway.stop();
  await provider.close();
});

const PATHS = ["/v1/chat/completions", "/v1/routing/debug"] as const;

describe.each(PATHS)("400 at %s", (path) => {
  it.each([
    ["nothing", ""],
    ["a space", " "],
    ["broken JSON", '{"model":'],
    ["two objects", "{}{}"],
    ["a trailing comma", '{"a":1,}'],
    ["single quotes", "{'a':1}"],
    ["a comment", '{"a":1}//x'],
    ["NaN", '{"service_max_cost":NaN}'],
    ["null", "null"],
    ["an array", "[]"],
    ["a string", '"x"'],
    ["a number", "42"],
    ["true", "true"],
    ["a lone brace", "{"],
    ["an unclosed string", '{"a":"b'],
    ["a raw line break in a string", '{"a":"\n"}'],
  ])("%s is not a JSON object", async (_name, body) => {
    await expectError(await gateway.post(path, body), { status: 400, code: "invalid_json", param: null });
  });

  it("no body at all is not one either", async () => {
    const answer = await fetch(`${gateway.url}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.key}` },
    });
    await expectError(answer, { status: 400, code: "invalid_json" });
  });

  it("bytes that are not UTF-8", async () => {
    const body = Buffer.concat([Buffer.from('{"prompt":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')]);
    const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${gateway.key}\r\nContent-Type: application/json\r\n`;
    const answer = await sendRaw(gateway.url, `${head}Content-Length: ${body.length}\r\n\r\n`, body);
    expect(answer.status).toBe(400);
    expect(JSON.parse(answer.body).error.message).toContain("UTF-8");
  });

  it.each([
    ["arrays", "[", "]"],
    ["objects", '{"a":', "}"],
    ["unclosed arrays", "[", ""],
  ])("a million levels of %s are answered at once", async (_name, open, close) => {
    const levels = open.length > 1 ? 500_000 : 1_000_000;
    const body = `{"prompt":"x","messages":[],"tools":${open.repeat(levels)}1${close.repeat(levels)}}`;
    const startedAt = performance.now();
    const answer = await gateway.post(path, body);
    expect(performance.now() - startedAt).toBeLessThan(promisedMs(1_000));
    await expectError(answer, { status: 400, code: "too_deep" });
  });

  it.each([
    ["/v1/chat/completions", '{"messages":[{"role":"user","content":"a","content":"b"}]}'],
    ["/v1/messages", '{"max_tokens":9,"messages":[{"role":"user","content":"a","content":"b"}]}'],
    ["/v1/responses", '{"input":[{"role":"user","content":"a","content":"b"}]}'],
    ["/v1beta/models/auto:generateContent", '{"contents":[{"role":"user","parts":[{"text":"a","text":"b"}]}]}'],
  ])("of %s with a repeated name is refused, because its two readers could read two values", async (to, body) => {
    const answer = await gateway.post(to, body);
    expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining("is repeated in an object")]);
    expect(provider.requests).toEqual([]);
  });

  it("brackets inside strings are no levels", async () => {
    const text = '[{"'.repeat(1000);
    const body = { prompt: text, messages: [{ role: "wizard", content: text }] };
    await expectError(await gateway.post(path, body), { status: 422, code: "invalid_messages" });
  });
});

const head = (extra: string): string =>
  `POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${gateway.key}\r\n` +
  `Content-Type: application/json\r\n${extra}\r\n\r\n`;

describe("413", () => {
  it("comes before the body where the length says so", async () => {
    const answer = await sendRaw(gateway.url, head(`Content-Length: ${50 * 1024 * 1024}`));
    expect(answer.status).toBe(413);
    expect(answer.headers.get("connection")).toBe("close");
    expect(answer.headers.get("x-ratelimit-limit-requests")).toBe("600");
    expect(JSON.parse(answer.body)).toMatchObject({
      error: { type: "invalid_request_error", request_id: answer.headers.get("x-request-id") },
    });
  });

  it("comes at the limit for a body of unknown length, and the connection is closed", async () => {
    const socket = openSocket(gateway.url);
    const piece = Buffer.alloc(64 * 1024, "x");
    const framed = Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from("\r\n")]);
    let received = "";
    let sentBytes = 0;
    socket.on("error", () => undefined);
    socket.on("data", (bytes) => {
      received += bytes.toString();
    });
    const closed = new Promise((resolve) => socket.once("close", resolve));
    socket.write(head("Transfer-Encoding: chunked"));
    while (received === "" && sentBytes < 8 * LIMIT_BYTES && !socket.destroyed) {
      if (!socket.write(framed)) await Promise.race([new Promise((resolve) => socket.once("drain", resolve)), closed]);
      await new Promise((resolve) => setImmediate(resolve));
      sentBytes += piece.length;
    }
    await closed;
    expect(received).toMatch(/^HTTP\/1\.1 413 /);
    expect(received.toLowerCase()).toContain("x-request-id: req_");
    expect(received.toLowerCase()).toContain("\r\nconnection: close\r\n");
    expect(sentBytes).toBeLessThan(4 * LIMIT_BYTES);
  });

  it("a body just under the limit is read", async () => {
    const body = { messages: [{ role: "wizard", content: "x".repeat(LIMIT_BYTES - 200) }] };
    await expectError(await gateway.post("/v1/chat/completions", body), { status: 422 });
  });

  it("a body just over it is not", async () => {
    const body = { messages: [{ role: "wizard", content: "x".repeat(LIMIT_BYTES) }] };
    await expectError(await gateway.post("/v1/chat/completions", body), { status: 413 });
  });
});

describe("415", () => {
  it.each([
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/xml",
    "x",
  ])("%s", async (type) => {
    const answer = await gateway.post("/v1/chat/completions", HELLO, { "content-type": type });
    await expectError(answer, { status: 415 });
  });

  it("a body without a content type", async () => {
    const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.key}` },
      body: Buffer.from(JSON.stringify(HELLO)),
    });
    await expectError(answer, { status: 415 });
  });

  it("a packed body is refused without being unpacked", async () => {
    const bomb = gzipSync(Buffer.alloc(3_000_000, 32));
    const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${gateway.key}`,
        "content-type": "application/json",
        "content-encoding": "gzip",
      },
      body: bomb,
    });
    await expectError(answer, { status: 415, code: "unsupported_encoding" });
  });

  it.each(["application/json; charset=utf-8", "Application/JSON", "application/json;charset=UTF-8"])(
    "%s is JSON",
    async (type) => {
      const answer = await gateway.post("/v1/chat/completions", "{}", { "content-type": type });
      await expectError(answer, { status: 422 });
    },
  );
});

describe("a client that is still sending when its body is refused", () => {
  it.each([
    ["of another kind", "multipart/form-data; boundary=x", LIMIT_BYTES, 415],
    ["too large", "application/json", 2 * LIMIT_BYTES, 413],
  ])("reads why one %s is, and its connection ends without a reset", async (_kind, type, length, status) => {
    const bytes = Buffer.alloc(length, 45);
    const socket = openSocket(gateway.url).setEncoding("latin1");
    let received = "";
    socket.on("data", (text) => {
      received += text;
    });
    const ended = new Promise<void>((resolve, reject) => socket.once("end", resolve).once("error", reject));
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${gateway.key}\r\n` +
        `Content-Type: ${type}\r\nContent-Length: ${bytes.length}\r\n\r\n`,
    );
    socket.write(bytes.subarray(1));
    await ended;
    expect(received).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    socket.destroy();
  });
});

describe("a client that leaves in the middle of its upload", () => {
  it("does no harm", async () => {
    const socket = openSocket(gateway.url);
    socket.write(`${head("Content-Length: 1000")}{"model":"auto"`);
    await new Promise((resolve) => setImmediate(resolve));
    const closed = new Promise((resolve) => socket.once("close", resolve));
    socket.resetAndDestroy();
    await closed;
    expect((await gateway.get("/v1/models")).status).toBe(200);
    expect(gateway.logged.filter(({ level }) => level === "error")).toEqual([]);
  });
});
