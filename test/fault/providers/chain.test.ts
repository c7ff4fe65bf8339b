// How the chain as a whole is walked: how many attempts it gets, which windows come next, closed ports, and how a
// fallback shows.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Tier } from "../../../src/core/tiers.ts";
import { closedPort } from "../../support/network/unreachable.ts";
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

const inTier = (tier: Tier): object => ({ service_profile: "tier", service_tier: tier });
const windows = (names: string): Record<string, number> =>
  Object.fromEntries([...names].map((name) => [name, 100_000]));

describe("chains of a provider that answers", () => {
  const WINDOWS = { small: 8_000, same: 8_000, large: 64_000, huge: 200_000 };
  const CHAINS = { NANO: "a", SIMPLE: "abc", LIGHT: "abcd", STANDARD: "abcdef" } as const;
  const lab = useLab(() =>
    openLab({
      models: { ...windows("abcdef"), ...WINDOWS },
      tiers: {
        ...Object.fromEntries(Object.entries(CHAINS).map(([tier, names]) => [tier, [...names]])),
        COMPLEX: Object.keys(WINDOWS),
      },
    }),
  );

  test.each([
    ["NANO", "aa"],
    ["SIMPLE", "aabc"],
    ["LIGHT", "abcd"],
    ["STANDARD", "abcdef"],
  ] as const)(
    "%s: each model has its turn, and retries only what is left of four attempts: %s",
    async (tier, calls) => {
      lab().provider.on("*", fails(500));
      expect((await lab().ask(inTier(tier))).status).toBe(503);
      expect(calledModels(lab())).toEqual([...calls]);
    },
  );

  test("a field that every model refuses leaves the last model its turn", async () => {
    const refuses: Behaviour = fails(400, { code: "unsupported_parameter", param: "top_p" });
    lab().provider.on("*", refuses);
    lab().provider.on("f", answers("ok"));
    const response = await lab().ask({ top_p: 0.5, ...inTier("STANDARD") });
    expect(await response.json()).toMatchObject({ model: "f" });
    expect(calledModels(lab())).toEqual([..."aabbccddeef"]);
  });

  describe("a request too long for the model", () => {
    const ask = (): Promise<Response> => lab().ask(inTier("COMPLEX"));

    test.each([
      ["the code", fails(400, { code: "context_length_exceeded" })],
      ["words", fails(400, { message: "Prompt is too long: 9000 tokens > 8000 maximum" })],
      ["413", fails(413)],
    ])("goes to larger windows only (%s)", async (_name, behaviour) => {
      lab().provider.on("small", behaviour);
      lab().provider.on("large", behaviour);
      const response = await ask();
      expect(await response.json()).toMatchObject({ model: "huge", service: { model: "small", fallback: true } });
      expect(calledModels(lab())).toEqual(["small", "large", "huge"]);
    });

    test("is a 400 with the provider's word when the largest is too small", async () => {
      lab().provider.on("*", fails(400, { code: "context_length_exceeded", message: "at most 8000 tokens" }));
      const response = await ask();
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
      expect((await ask()).status).toBe(503);
    });
  });

  test("without DEBUG_ROUTING no routing header is sent", async () => {
    const { headers } = await lab().ask();
    expect([...headers.keys()].filter((name) => name.startsWith("x-service-"))).toEqual([]);
  });
});

describe("chains over several providers", () => {
  let other: FakeProvider;
  const lab = useLab(async () => {
    other = await startFakeProvider();
    const { url } = await closedPort();
    return openLab({
      models: { ...windows("abc"), closed: 1e5, beta: 1e5 },
      elsewhere: { c: other.url, closed: url },
      tiers: { SIMPLE: ["a", "b", "c"], NANO: ["closed", "beta"] },
      env: { DEBUG_ROUTING: "1" },
    });
  });
  afterAll(() => other.close());

  async function attemptsOf(response: Response) {
    return (await lab().line(response.headers.get("x-request-id")!)).attempts;
  }

  test("a breaker opens during the request: b is tried before the 503, and no retry takes its turn", async () => {
    const modelsOf = async (response: Response): Promise<string> =>
      (await attemptsOf(response)).map(({ model }) => model).join("");
    for (const model of ["a", "b"]) lab().provider.on(model, fails(500));
    other.on("c", fails(500));
    expect(await modelsOf(await lab().ask(inTier("SIMPLE")))).toBe("aabc");
    lab().provider.on("b", answers("ok"));
    const response = await lab().ask(inTier("SIMPLE"));
    expect(await response.json()).toMatchObject({ model: "b", service: { model: "a", fallback: true } });
    expect(await modelsOf(response), "a opens the breaker that b shares").toBe("aacb");
  });

  test("a closed port is tried twice, then the next model answers; after five failures it is tried last", async () => {
    const response = await lab().ask(inTier("NANO"));
    expect(await response.json()).toMatchObject({ model: "beta", service: { model: "closed", fallback: true } });
    const attempts = await attemptsOf(response);
    expect(attempts.map(({ model, outcome }) => [model, outcome])).toEqual([
      ["closed", "failed"],
      ["closed", "failed"],
      ["beta", "answered"],
    ]);
    expect(attempts[0]!.reason).toMatch(/ECONNREFUSED/);
    const direct = await lab().ask({ model: "closed", service_profile: "direct" });
    expect(direct.status).toBe(503);
    expect(await direct.text()).not.toMatch(/ECONNREFUSED|127\.0\.0\.1/);
    for (let round = 0; round < 3; round += 1) await (await lab().ask(inTier("NANO"))).arrayBuffer();
    expect(await (await lab().ask(inTier("NANO"))).json()).toMatchObject({
      model: "beta",
      service: { model: "beta", fallback: false },
    });
  });

  test.each([false, true])("with DEBUG_ROUTING=1 the headers tell of a fallback (stream: %s)", async (stream) => {
    for (const [behaviour, isFallback] of [
      [null, "false"],
      [fails(401), "true"],
    ] as const) {
      if (behaviour !== null) lab().provider.on("a", behaviour);
      const response = await lab().ask({ stream, service_tier_floor: "SIMPLE", service_tier_ceiling: "SIMPLE" });
      await response.text();
      const { headers } = response;
      expect(headers.get("x-service-fallback")).toBe(isFallback);
      expect(headers.get("x-service-model")).toBe("a");
      expect(headers.get("x-service-tier")).toBe("SIMPLE");
      expect(headers.get("x-service-profile")).toBe("auto");
      expect(Number(headers.get("x-service-confidence"))).toBeGreaterThan(0);
      expect(headers.get("x-service-savings")).toMatch(/^[\d.]+%$/);
    }
  });

  test("with DEBUG_ROUTING=1 the headers come with a 503 too", async () => {
    for (const model of ["a", "b"]) lab().provider.on(model, fails(500));
    other.on("c", fails(500));
    const { status, headers } = await lab().ask(inTier("SIMPLE"));
    expect(status).toBe(503);
    expect([headers.get("x-service-model"), headers.get("x-service-tier")]).toEqual(["a", "SIMPLE"]);
    expect(headers.get("x-service-fallback")).toBe("true");
    expect(headers.get("retry-after")).toMatch(/^\d+$/);
  });
});
