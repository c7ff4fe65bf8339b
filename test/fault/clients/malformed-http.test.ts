// Bytes that are not proper HTTP, or that two readers might read differently: rejected in our error shape, without a call
// to a provider, and the next request is served as usual.

import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { HELLO, labYaml, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { openSocket, type RawAnswer, sendRaw } from "../../support/network/raw-http.ts";
import { type FakeProvider, startFakeProvider } from "../../support/providers/fake-provider.ts";

let provider: FakeProvider;
let gateway: TestGateway;
let creditsBefore: unknown;
beforeAll(async () => {
  provider = await startFakeProvider();
  gateway = await startGateway({ yaml: labYaml(provider.url, ["alpha"]) });
  creditsBefore = await credits();
});
afterEach(async () => {
  expect((await gateway.get("/v1/models")).status).toBe(200);
  expect(provider.requests).toEqual([]);
});
afterAll(async () => {
  expect(await credits()).toEqual(creditsBefore);
  expect(gateway.logged.filter(({ level }) => level === "error")).toEqual([]);
  expect((await gateway.post("/v1/chat/completions", HELLO)).status).toBe(200);
  await gateway.stop();
  await provider.close();
});

const credits = async (): Promise<unknown> => (await gateway.api("GET", "/api/credits")).json();

const BODY = JSON.stringify(HELLO);

/** A request whose lines are these; without a body it asks for the models, with one for a completion. */
function request(lines: readonly string[], body: string | null = null): string {
  const first = body === null ? "GET /v1/models HTTP/1.1" : "POST /v1/chat/completions HTTP/1.1";
  const usual = ["Host: x", `Authorization: Bearer ${gateway.key}`, "Content-Type: application/json"];
  return `${[first, ...usual, ...lines].join("\r\n")}\r\n\r\n${body ?? ""}`;
}

function plain(first: string, ...lines: string[]): string {
  return `${[first, ...lines].join("\r\n")}\r\n\r\n`;
}

function expectRefusal(answer: RawAnswer, status: number): void {
  expect(answer.status).toBe(status);
  const { error } = JSON.parse(answer.body);
  expect(error).toMatchObject({ type: "invalid_request_error", request_id: answer.headers.get("x-request-id") });
  expect(error.message.length).toBeGreaterThan(10);
}

const CHUNKED = "Transfer-Encoding: chunked";
const LENGTH = `Content-Length: ${BODY.length}`;
const CHUNKS = `${BODY.length.toString(16)}\r\n${BODY}\r\n0\r\n\r\n`;

describe("where a body ends", () => {
  it.each<[string, string[], string]>([
    ["a length and chunks", [LENGTH, CHUNKED], CHUNKS],
    ["chunks and a length", [CHUNKED, LENGTH], CHUNKS],
    ["two lengths that differ", ["Content-Length: 5", LENGTH], BODY],
    ["two lengths that agree", [LENGTH, LENGTH], BODY],
    ["a list of lengths", ["Content-Length: 5, 5"], "hello"],
    ["a negative length", ["Content-Length: -5"], ""],
    ["a length with a sign", ["Content-Length: +5"], "hello"],
    ["a length in hexadecimal", ["Content-Length: 0x5"], "hello"],
    ["a length beyond all numbers", ["Content-Length: 99999999999999999999"], ""],
    ["a space before the colon", [`Content-Length : ${BODY.length}`], BODY],
    ["chunks that are not the last coding", ["Transfer-Encoding: chunked, identity"], CHUNKS],
    ["a chunk size that is no number", [CHUNKED], "zz\r\nhello\r\n0\r\n\r\n"],
    ["a negative chunk size", [CHUNKED], "-1\r\nhello\r\n0\r\n\r\n"],
    ["a chunk size beyond all numbers", [CHUNKED], "ffffffffffffffffff\r\nhello\r\n0\r\n\r\n"],
    ["chunks with bare line feeds", [CHUNKED], `${BODY.length.toString(16)}\n${BODY}\n0\n\n`],
    ["an endless chunk extension", [CHUNKED], `5;${"x".repeat(200_000)}\r\nhello\r\n0\r\n\r\n`],
  ])("given twice or wrongly is 400: %s", async (_name, lines, body) => {
    expectRefusal(await sendRaw(gateway.url, request(lines, body)), 400);
  });

  it.each<[string, string[], string]>([
    ["a second request behind the first", [LENGTH, CHUNKED], "0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"],
    ["a body that goes wrong after its answer", ["Transfer-Encoding: xchunked"], CHUNKS],
    ["chunks that go wrong after their answer", [CHUNKED, "Content-Encoding: gzip"], "zz\r\n"],
  ])("has exactly one response: %s", async (_name, lines, body) => {
    const socket = openSocket(gateway.url);
    let received = "";
    socket.setEncoding("utf8").on("data", (text: string) => {
      received += text;
    });
    const closed = new Promise((resolve) => socket.once("close", resolve));
    socket.write(request(lines, body));
    await closed;
    expect(received.match(/HTTP\/1\.1 \d+/g)).toHaveLength(1);
  });

  it.each(["gzip, chunked", "xchunked", "gzip"])("compressed for the transfer is 415: %s", async (coding) => {
    expectRefusal(await sendRaw(gateway.url, request([`Transfer-Encoding: ${coding}`], CHUNKS)), 415);
  });
});

describe("headers", () => {
  it.each<[string, () => string]>([
    ["a line that goes on in the next", () => request(["X-A: a", " b"])],
    ["bare line feeds", () => request([]).replaceAll("\r\n", "\n")],
    ["one bare line feed", () => request(["X-A: a\nX-B: b"])],
    ["a bare carriage return", () => request(["X-A: a\rX-B: b"])],
    ["a NUL", () => request(["X-A: a\0b"])],
    ["no colon", () => request(["nonsense"])],
    ["an empty name", () => request([": x"])],
    ["a space in a name", () => request(["X A: x"])],
    ["two Host lines", () => request(["Host: y"])],
    ["two Host lines that agree", () => request(["Host: x"])],
    ["two keys", () => request(["Authorization: Bearer other"])],
    ["no Host", () => plain("GET /v1/models HTTP/1.1", `Authorization: Bearer ${gateway.key}`)],
    ["a Host with a space", () => plain("GET /v1/models HTTP/1.1", "Host: a b")],
    ["a Host with a path", () => plain("GET /v1/models HTTP/1.1", "Host: a/b")],
    ["a Host with a user", () => plain("GET /v1/models HTTP/1.1", "Host: a@b")],
  ])("with %s are 400", async (_name, bytes) => {
    expectRefusal(await sendRaw(gateway.url, bytes()), 400);
  });

  it("two content types are 400 or 415, not a guess", async () => {
    const bytes = request(["Content-Type: text/plain", LENGTH], BODY);
    expectRefusal(await sendRaw(gateway.url, bytes), 400);
  });

  it.each<[string, () => string]>([
    ["of 33 KB", () => request([`X-Long: ${"a".repeat(33 * 1024)}`])],
    ["of 2 KB each, 33 KB in all", () => request(Array(17).fill(`X-Long: ${"a".repeat(2 * 1024)}`))],
    ["with a path of 33 KB", () => request([]).replace("/v1/models", `/v1/${"a".repeat(33 * 1024)}`)],
    [
      "with a boundary of 10 MB",
      () => request([`Content-Type: multipart/form-data; boundary=${"x".repeat(10_000_000)}`]),
    ],
  ])("%s are 431", async (_name, bytes) => {
    const answer = await sendRaw(gateway.url, bytes());
    expectRefusal(answer, 431);
    expect(JSON.parse(answer.body).error).toMatchObject({
      type: "invalid_request_error",
      code: "headers_too_large",
      message: "The headers are longer than 32 KB in all.",
    });
  });

  it("of 30 KB are served", async () => {
    expect((await sendRaw(gateway.url, request([`Cookie: ${"a".repeat(30 * 1024)}`]))).status).toBe(200);
  });
});

describe("the first line", () => {
  it.each([
    ["nonsense", "\0\x01\x02\r\n\r\n"],
    ["a TLS greeting", "\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03"],
    ["the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
    ["HTTP/2.0", "GET /v1/models HTTP/2.0\r\nHost: x\r\n\r\n"],
    ["no version", "GET /v1/models\r\n\r\n"],
    ["an unknown method", "BREW /v1/models HTTP/1.1\r\nHost: x\r\n\r\n"],
    ["a space in the path", "GET /v1/ models HTTP/1.1\r\nHost: x\r\n\r\n"],
    ["another server's address", "GET http://evil.example/v1/models HTTP/1.1\r\nHost: x\r\n\r\n"],
    ["an address of another kind", "GET ftp://x/v1/models HTTP/1.1\r\nHost: x\r\n\r\n"],
  ])("with %s is 400", async (_name, bytes) => {
    expectRefusal(await sendRaw(gateway.url, bytes), 400);
  });

  it("with this server's own address is served", async () => {
    const answer = await sendRaw(gateway.url, request([]).replace("GET /v1", "GET http://x/v1"));
    expect(answer.status).toBe(200);
  });

  it("with a path of 20 KB is 404, and the response does not repeat it", async () => {
    const answer = await sendRaw(gateway.url, request([]).replace("/v1/models", `/v1/${"a".repeat(20_000)}`));
    expect(answer.status).toBe(404);
    expect(answer.body.length).toBeLessThan(1_000);
  });

  it.each(["/v1/../api/keys", "/v1/%2e%2e/api/keys", "/v1/..%2fapi/keys", "/api/../v1/models"])(
    "with the path %s leads nowhere",
    async (path) => {
      expect((await sendRaw(gateway.url, request([]).replace("/v1/models", path))).status).toBe(404);
    },
  );

  it.each(["/v1/models/%zz", "/v1/models/%ff", "/v1/models/%c0%ae"])("with the path %s is 400", async (path) => {
    expectRefusal(await sendRaw(gateway.url, request([]).replace("/v1/models", path)), 400);
  });
});

describe("percent-encoded letters", () => {
  it("change nothing: the same checks, shapes and headers", async () => {
    const answer = await sendRaw(gateway.url, request([]).replace("/v1/", "/%761/"));
    expect(answer.status).toBe(200);
    // Told to browsers everywhere but at /v1.
    expect(answer.headers.has("content-security-policy")).toBe(false);
    const refused = await fetch(`${gateway.url}/v1/%6Dessages`, { method: "POST" });
    expect([refused.status, await refused.json()]).toMatchObject([401, { type: "error" }]);
    expect((await fetch(`${gateway.url}/%61pi/keys`)).status).toBe(401);
    expect((await fetch(`${gateway.url}/v1%2fmodels`)).status).toBe(404);
  });
});

describe("what only looks odd", () => {
  it.each<[string, string[]]>([
    ["an upgrade nobody offers", ["Connection: Upgrade", "Upgrade: websocket"]],
    ["an upgrade to HTTP/2", ["Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAA"]],
    ["hundreds of headers", Array.from({ length: 500 }, (_, index) => `X-${index}: 1`)],
    ["a coding that changes nothing", ["Content-Encoding: Identity"]],
  ])("is served: %s", async (_name, lines) => {
    expect((await sendRaw(gateway.url, request(lines))).status).toBe(200);
  });
});
