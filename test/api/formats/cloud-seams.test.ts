// The seams for clouds: a scheme that signs requests, one whose tokens expire, and a framing that is no text. Each is a
// row from here, and runs the whole path over real HTTP.

import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import type { ProviderKind } from "../../../src/core/model.ts";
import { HELLO, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { FRAMES, FRAMES_TYPE, frame, sendsFrames } from "../../support/providers/clouds/frames.ts";
import { isSigned, SIGNATURE } from "../../support/providers/clouds/signature.ts";
import { startTokenServer, type TokenServer } from "../../support/providers/clouds/tokens.ts";
import {
  answers,
  type Behaviour,
  chunk,
  type FakeProvider,
  fails,
  startFakeProvider,
} from "../../support/providers/fake-provider.ts";
import { readStream } from "../../support/providers/streams.ts";

const SECRET = "cloud-secret-0123456789";
const KIND = { format: "openai-chat", auth: { scheme: "bearer" }, framing: "sse", transport: "network" } as const;
const KINDS: readonly ProviderKind[] = [
  { ...KIND, kind: "signed", auth: { scheme: "signature" } },
  { ...KIND, kind: "tokened", auth: { scheme: "tokens" } },
  { ...KIND, kind: "framed", framing: "frames" },
];

let cloud: FakeProvider;
let tokens: TokenServer;
let gateway: TestGateway;

beforeAll(async () => {
  cloud = await startFakeProvider();
  tokens = await startTokenServer();
  const auths = { signature: SIGNATURE, tokens: tokens.row };
  const wire = { formats: [], routes: [], auths, framings: { frames: FRAMES } };
  gateway = await startGateway({ yaml: yaml(), kinds: KINDS, wire });
});
afterAll(async () => {
  await gateway.stop();
  for (const server of [cloud, tokens]) await server.close();
});
beforeEach(() => {
  cloud.reset();
  Object.assign(tokens, { lifeMs: 3_600_000, status: 200, before: () => undefined });
});

function yaml(): string {
  const names = ["signed", "tokened", "framed", "openai"];
  const entry = (kind: string): string =>
    `  ${kind}-cloud: { kind: ${kind}, baseUrl: "${cloud.url}", apiKey: ${SECRET}, headers: { x-region: north } }`;
  const model = (kind: string): string =>
    `  - { id: ${kind}, provider: ${kind}-cloud, price: { input: 1, output: 3 }, context: 128000, maxOutput: 16384, capabilities: [tools] }`;
  return [
    "catalog: none",
    "limits: { requestsPerMinute: 100000 }",
    "providers:",
    ...names.map(entry),
    "models:",
    ...names.map(model),
    "tiers:",
    ...["NANO", "SIMPLE", "LIGHT", "STANDARD", "COMPLEX"].map((tier) => `  ${tier}: [framed, openai]`),
  ].join("\n");
}

function ask(model: string, more: object = {}): Promise<Response> {
  return gateway.post("/v1/chat/completions", { ...HELLO, model, service_profile: "direct", ...more });
}

describe("a scheme that signs", () => {
  const verifies: Behaviour = (exchange) =>
    (isSigned(SECRET, exchange.request) ? answers("signed for") : fails(403))(exchange);

  it.each([false, true])("signs what is sent, byte for byte, with stream %s", async (stream) => {
    cloud.on("signed", verifies);
    const answer = await ask("signed", { stream, messages: [{ role: "user", content: "Größe 漢字 🙂" }] });
    expect(answer.status).toBe(200);
    expect(await answer.text()).toContain("signed");
    expect(cloud.requests).toHaveLength(1);
    expect(cloud.requests[0]?.headers).not.toHaveProperty("authorization");
    expect(JSON.stringify(cloud.requests[0])).not.toContain(SECRET);
  });

  it("signs once more for the next request", async () => {
    cloud.on("signed", verifies);
    for (const content of ["one", "two"]) {
      expect((await ask("signed", { messages: [{ role: "user", content }] })).status).toBe(200);
    }
    expect(new Set(cloud.requests.map(({ headers }) => headers["x-signature"])).size).toBe(2);
  });
});

describe("a scheme with tokens", () => {
  const checks: Behaviour = (exchange) =>
    (tokens.isValid(exchange.request.headers.authorization) ? answers("let in") : fails(401))(exchange);

  it("fetches one for all who wait, and keeps it", async () => {
    cloud.on("tokened", checks);
    const before = tokens.issued();
    const all = await Promise.all(Array.from({ length: 20 }, () => ask("tokened")));
    expect(new Set(all.map(({ status }) => status))).toEqual(new Set([200]));
    expect((await ask("tokened", { stream: true })).status).toBe(200);
    expect(tokens.issued() - before).toBe(1);
  });

  it("takes another after a 401, once for all who got it", async () => {
    cloud.on("tokened", checks);
    await ask("tokened");
    const before = tokens.issued();
    tokens.revokeAll();
    const all = await Promise.all(Array.from({ length: 10 }, () => ask("tokened")));
    expect(all.map(({ status }) => status)).toEqual(Array(10).fill(200));
    expect(tokens.issued() - before).toBe(1);
  });

  it("tries once more and no oftener", async () => {
    cloud.on("tokened", fails(401));
    expect((await ask("tokened")).status).toBe(503);
    expect(cloud.requests).toHaveLength(2);
    // The key that is refused rests; a request that is let in ends that.
    cloud.on("tokened", checks);
    await vi.waitFor(async () => expect((await ask("tokened")).status).toBe(200), { timeout: 120_000, interval: 200 });
  });

  it("renews before the end, under load, and no request fails", async () => {
    cloud.on("tokened", checks);
    tokens.revokeAll();
    tokens.lifeMs = 250;
    await ask("tokened");
    const before = tokens.issued();
    const statuses: number[] = [];
    const caller = async (): Promise<void> => {
      while (tokens.issued() - before < 5) statuses.push((await ask("tokened")).status);
    };
    await Promise.all(Array.from({ length: 6 }, caller));
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(tokens.issued() - before).toBeLessThan(statuses.length);
  });

  it("fails over while no token can be had, and says nothing of the secret", async () => {
    tokens.revokeAll();
    tokens.status = 500;
    cloud.on("tokened", checks);
    const answer = await ask("tokened");
    expect(answer.status).toBe(503);
    expect(`${await answer.text()}${JSON.stringify(gateway.logged)}`).not.toContain(SECRET);
    tokens.status = 200;
    await vi.waitFor(async () => expect((await ask("tokened")).status).toBe(200), { timeout: 120_000, interval: 200 });
  });

  it("keeps a token out of an error that quotes it", async () => {
    cloud.on("tokened", (exchange) => {
      const [, token] = String(exchange.request.headers.authorization).split(" ");
      return fails(400, { message: `the token ${token} is odd` })(exchange);
    });
    const text = await (await ask("tokened")).text();
    expect(text).toContain("the token ••• is odd");
  });

  it("gives up on a client that leaves while a token is fetched", async () => {
    tokens.revokeAll();
    cloud.on("tokened", checks);
    const leave = new AbortController();
    const seen = new Promise<void>((resolve) => {
      tokens.before = () => {
        resolve();
        return new Promise<void>((go) => setTimeout(go, 60_000).unref());
      };
    });
    const calls = cloud.requests.length;
    const left = fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      signal: leave.signal,
      headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
      body: JSON.stringify({ ...HELLO, model: "tokened", service_profile: "direct" }),
    });
    await seen;
    leave.abort();
    await expect(left).rejects.toThrow();
    await vi.waitFor(async () => {
      const { heldUsd } = (await (await gateway.api("GET", "/api/credits")).json()) as { readonly heldUsd: string };
      expect(Number(heldUsd)).toBe(0);
    }, 120_000);
    // The token that was refused is tried first, so the provider saw that one call and no other.
    expect(cloud.requests.length - calls).toBeLessThanOrEqual(1);
  });
});

describe("a framing that is no text", () => {
  const words = ["It", " is", " Paris", "."];
  const events = [
    padded(chunk("framed", { role: "assistant", content: "" })),
    ...words.map((content) => chunk("framed", { content })),
    chunk("framed", {}, "stop"),
    { ...chunk("framed", {}), choices: [], usage: { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17 } },
    "[DONE]",
  ];

  /** Its length is that of `{` in ASCII, so that the stream begins like a JSON object. */
  function padded(json: object): string {
    const text = JSON.stringify(json);
    const length = Math.ceil(text.length / 256) * 256 + "{".charCodeAt(0);
    return text.padEnd(length, " ");
  }

  it.each([1, 7, 1_000_000])("is read in pieces of %i bytes, and written as the client's", async (pieceBytes) => {
    cloud.on(
      "framed",
      sendsFrames(
        events.map((event) => frame(event)),
        pieceBytes,
      ),
    );
    const { chunks, isDone } = await readStream(await ask("framed", { stream: true }));
    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("")).toBe(words.join(""));
    expect(isDone).toBe(true);
    expect(cloud.requests[0]?.headers.accept).toBe(FRAMES_TYPE);
  });

  it("falls back from a frame that is broken before the first word, and ends with an error after it", async () => {
    const [first = "", ...rest] = events;
    cloud.once("framed", sendsFrames([frame(first, 1)], 64));
    const routed = await gateway.post("/v1/chat/completions", { ...HELLO, stream: true });
    expect((await readStream(routed)).isDone).toBe(true);
    expect(cloud.callsTo("openai")).toBe(1);
    cloud.once("framed", sendsFrames([frame(first), frame(rest[0] ?? ""), frame(rest[1] ?? "", 1)], 1_000_000));
    const broken = await readStream(await ask("framed", { stream: true }));
    expect(broken).toMatchObject({ isDone: false, error: { request_id: expect.any(String) } });
  });
});
