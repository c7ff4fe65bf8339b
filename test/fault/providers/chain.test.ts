// How the chain as a whole is walked: how many attempts it gets, which windows come next, closed ports, and how a
// fallback shows.

import { createServer } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  answers,
  type Behaviour,
  type FakeProvider,
  fails,
  startFakeProvider,
} from "../../support/providers/fake-provider.ts";
import { errorOf, type Lab, openLab } from "../lab.ts";

function useLab(open: () => Promise<Lab>): () => Lab {
  let lab: Lab;
  beforeAll(async () => {
    lab = await open();
  });
  beforeEach(() => lab.reset());
  afterAll(() => lab.close());
  return () => lab;
}

function calledModels({ provider }: Lab): readonly string[] {
  return provider.requests.map(({ body }) => body.model);
}

describe("each model of the chain has its turn, and retries only what is left of four attempts", () => {
  const chain = (names: string): Record<string, number> =>
    Object.fromEntries([...names].map((name) => [name, 100_000] as const));

  describe.each([
    ["a", ["a", "a"]],
    ["abc", ["a", "a", "b", "c"]],
    ["abcd", ["a", "b", "c", "d"]],
    ["abcdef", ["a", "b", "c", "d", "e", "f"]],
  ])("%s", (names, calls) => {
    const lab = useLab(() => openLab({ models: chain(names) }));
    test(`is tried as ${calls.join(" ")}`, async () => {
      lab().provider.on("*", fails(500));
      expect((await lab().ask()).status).toBe(503);
      expect(calledModels(lab())).toEqual(calls);
    });
  });
});

describe("models a and b of a provider whose breaker opens during the request, c of another", () => {
  let other: FakeProvider;
  const lab = useLab(async () => {
    other = await startFakeProvider();
    return openLab({ models: { a: 1e5, b: 1e5, c: 1e5 }, elsewhere: { c: other.url } });
  });
  afterAll(() => other.close());

  async function attemptsOf(response: Response): Promise<readonly string[]> {
    const { attempts } = await lab().line(response.headers.get("x-request-id")!);
    return attempts.map(({ model }) => model);
  }

  test("b is tried before the 503, and no retry takes its turn", async () => {
    for (const model of ["a", "b"]) lab().provider.on(model, fails(500));
    other.on("c", fails(500));
    expect(await attemptsOf(await lab().ask())).toEqual(["a", "a", "b", "c"]);
    lab().provider.on("b", answers("ok"));
    const response = await lab().ask();
    expect(await response.json()).toMatchObject({ model: "b", service: { model: "a", fallback: true } });
    expect(await attemptsOf(response), "a opens the breaker that b shares").toEqual(["a", "a", "c", "b"]);
  });
});

describe("a field that every model refuses", () => {
  const lab = useLab(() => openLab({ models: { a: 1e5, b: 1e5, c: 1e5, d: 1e5, e: 1e5 } }));

  test("leaves the last model its turn", async () => {
    const refuses: Behaviour = fails(400, { code: "unsupported_parameter", param: "top_p" });
    lab().provider.on("*", refuses);
    lab().provider.on("e", answers("ok"));
    const response = await lab().ask({ top_p: 0.5 });
    expect(await response.json()).toMatchObject({ model: "e" });
    expect(calledModels(lab())).toEqual(["a", "a", "b", "b", "c", "c", "d", "d", "e"]);
  });
});

describe("a request too long for the model", () => {
  const lab = useLab(() => openLab({ models: { small: 8_000, same: 8_000, large: 64_000, huge: 200_000 } }));

  test.each([
    ["the code", fails(400, { code: "context_length_exceeded" })],
    ["words", fails(400, { message: "Prompt is too long: 9000 tokens > 8000 maximum" })],
    ["413", fails(413)],
  ])("goes to larger windows only (%s)", async (_name, behaviour) => {
    lab().provider.on("small", behaviour);
    lab().provider.on("large", behaviour);
    const response = await lab().ask();
    expect(await response.json()).toMatchObject({ model: "huge", service: { model: "small", fallback: true } });
    expect(calledModels(lab())).toEqual(["small", "large", "huge"]);
  });

  test("is a 400 with the provider's word when the largest is too small", async () => {
    lab().provider.on("*", fails(400, { code: "context_length_exceeded", message: "at most 8000 tokens" }));
    const response = await lab().ask();
    expect(response.status).toBe(400);
    expect(await errorOf(response)).toMatchObject({
      type: "invalid_request_error",
      code: "context_length_exceeded",
      message: "at most 8000 tokens",
    });
    expect(calledModels(lab())).toEqual(["small", "large", "huge"]);
  });

  test("is a 503 when another model could have taken it but failed", async () => {
    lab().provider.on("*", fails(400, { code: "context_length_exceeded" }));
    lab().provider.on("huge", fails(500));
    expect((await lab().ask()).status).toBe(503);
  });
});

describe("a closed port", () => {
  const lab = useLab(async () => {
    const baseUrl = await closedPort();
    return openLab({ models: { alpha: 1e5, beta: 1e5 }, elsewhere: { alpha: baseUrl } });
  });

  test("is tried twice, then the next model answers", async () => {
    const response = await lab().ask();
    expect(await response.json()).toMatchObject({ model: "beta", service: { model: "alpha", fallback: true } });
    const { attempts } = await lab().line(response.headers.get("x-request-id")!);
    expect(attempts.map(({ model, outcome }) => [model, outcome])).toEqual([
      ["alpha", "failed"],
      ["alpha", "failed"],
      ["beta", "answered"],
    ]);
    expect(attempts[0]!.reason).toMatch(/ECONNREFUSED/);
  });

  test("asked for directly, is a 503 that does not name it", async () => {
    const response = await lab().ask({ model: "alpha", service_profile: "direct" });
    expect(response.status).toBe(503);
    expect(await response.text()).not.toMatch(/ECONNREFUSED|127\.0\.0\.1/);
  });

  test("rests after five failures, and is then tried last", async () => {
    for (let round = 0; round < 3; round += 1) await (await lab().ask()).arrayBuffer();
    const body = await (await lab().ask()).json();
    expect(body).toMatchObject({ model: "beta", service: { model: "beta", fallback: false } });
  });
});

describe("with DEBUG_ROUTING=1", () => {
  const lab = useLab(() => openLab({ env: { DEBUG_ROUTING: "1" } }));

  test.each([false, true])("the headers tell of a fallback (stream: %s)", async (stream) => {
    for (const [behaviour, isFallback] of [
      [null, "false"],
      [fails(401), "true"],
    ] as const) {
      if (behaviour !== null) lab().provider.on("alpha", behaviour);
      const response = await lab().ask({ stream });
      await response.text();
      const { headers } = response;
      expect(headers.get("x-service-fallback")).toBe(isFallback);
      expect(headers.get("x-service-model")).toBe("alpha");
      expect(headers.get("x-service-tier")).toMatch(/^(NANO|SIMPLE|LIGHT|STANDARD|COMPLEX)$/);
      expect(headers.get("x-service-profile")).toBe("auto");
      expect(Number(headers.get("x-service-confidence"))).toBeGreaterThan(0);
      expect(headers.get("x-service-savings")).toMatch(/^[\d.]+%$/);
    }
  });
});

describe("without DEBUG_ROUTING", () => {
  const lab = useLab(() => openLab());
  test("no routing header is sent", async () => {
    const { headers } = await lab().ask();
    expect([...headers.keys()].filter((name) => name.startsWith("x-service-"))).toEqual([]);
  });
});

async function closedPort(): Promise<string> {
  const server = createServer();
  const port = await new Promise<number>((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve((server.address() as { port: number }).port));
  });
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}/v1`;
}
