// POST /api/providers/{id}/test: one tiny real request, what is wrong with the answer, and what to do about it.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { expectError } from "../../support/errors.ts";
import { labYaml, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { freePort } from "../../support/network/ports.ts";
import { type FakeProvider, fails, hangs, sends, startFakeProvider } from "../../support/providers/fake-provider.ts";

interface Tested {
  readonly ok: boolean;
  readonly model: string | null;
  readonly status: number | null;
  readonly durationMs: number;
  readonly problem: string | null;
  readonly fix: string | null;
}

const SECRET = "lab-secret";
let lab: FakeProvider;
let gateway: TestGateway;
beforeAll(async () => {
  lab = await startFakeProvider();
});
afterAll(() => lab.close());

const test = async (body?: unknown): Promise<Tested> => {
  const answer = await gateway.api("POST", "/api/providers/lab/test", body);
  const text = await answer.text();
  expect(answer.status, text).toBe(200);
  expect(text).not.toContain(SECRET);
  return JSON.parse(text) as Tested;
};

describe("a provider that answers", () => {
  beforeAll(async () => {
    gateway = await startGateway({ yaml: labYaml(lab.url) });
  });
  afterAll(() => gateway.stop());

  it("is fine: its cheapest model is asked for a few tokens, nothing is charged, held or recorded", async () => {
    const before = await (await gateway.api("GET", "/api/credits")).json();
    expect(await test()).toEqual({
      provider: "lab",
      ok: true,
      model: "alpha",
      status: null,
      durationMs: expect.any(Number),
      // 12 tokens in and 5 out, at the price without a markup.
      costUsd: "0.000027",
      problem: null,
      fix: null,
      signIn: null,
      region: null,
      enabled: null,
      models: null,
    });
    expect(lab.requests).toHaveLength(1);
    expect(lab.requests[0]?.body).toMatchObject({ model: "alpha", max_tokens: 16 });
    expect(await (await gateway.api("GET", "/api/credits")).json()).toEqual(before);
    expect(await (await gateway.api("GET", "/api/requests")).json()).toMatchObject({ data: [] });
  });

  it("may be asked for one of its models, and no other", async () => {
    expect(await test({ model: "beta" })).toMatchObject({ ok: true, model: "beta" });
    for (const body of [{ model: "gamma" }, { model: "" }, { model: 5 }]) {
      await expectError(await gateway.api("POST", "/api/providers/lab/test", body), { status: 400, param: "model" });
    }
    const stray = await gateway.api("POST", "/api/providers/lab/test", { prompt: "Write me a novel" });
    await expectError(stray, { status: 400, param: "prompt" });
    await expectError(await gateway.api("POST", "/api/providers/nobody/test"), { status: 404, param: "id" });
  });

  it("does without a field that is refused, as any request does", async () => {
    const refusal = { message: "Use max_completion_tokens.", code: "unsupported_parameter", param: "max_tokens" };
    lab.once("alpha", fails(400, refusal));
    expect(await test()).toMatchObject({ ok: true });
    expect(lab.requests.at(-1)?.body).toMatchObject({ max_completion_tokens: 16 });
  });

  it("is tested six times a minute and not more", async () => {
    const statuses: number[] = [];
    for (let turn = 0; turn < 7; turn += 1) {
      const answer = await gateway.api("POST", "/api/providers/lab/test");
      statuses.push(answer.status);
      if (answer.status === 429) expect(answer.headers.get("retry-after")).toMatch(/^\d+$/);
      await answer.text();
    }
    expect(statuses.at(-1)).toBe(429);
    expect(statuses.filter((status) => status === 200).length).toBeLessThanOrEqual(6);
  });
});

describe("a provider that does not", () => {
  beforeEach(async () => {
    gateway = await startGateway({ yaml: labYaml(lab.url) });
    lab.reset();
    return () => gateway.stop();
  });

  it.each([
    [
      401,
      { message: `Incorrect API key provided: ${SECRET}.` },
      /refuses the key \(401\).*•••/,
      /providers\.lab\.apiKey/,
    ],
    [403, { message: "Forbidden" }, /refuses the key \(403\)/, /Replace the key/],
    [402, { message: "Pay" }, /insufficient credit/, /Add credit/],
    [400, { message: "Your credit balance is too low" }, /insufficient credit/, /Add credit/],
    [429, { message: "You exceeded", code: "insufficient_quota" }, /insufficient credit/, /Add credit/],
    [429, { message: "Slow down" }, /rate limit is reached/, /Wait/],
    [404, { message: "no such model" }, /does not know the model 'alpha'/, /upstream/],
    [500, { message: "oops" }, /server error \(500\)/, /Try again/],
    [400, { message: "bad" }, /refused the test \(400\)/, /dialect/],
  ] as const)("status %i %j is explained", async (status, error, problem, fix) => {
    lab.on("*", fails(status, error));
    const outcome = await test();
    expect(outcome).toMatchObject({ ok: false, status, model: "alpha" });
    expect(outcome.problem).toMatch(problem);
    expect(outcome.fix).toMatch(fix);
    // A test says nothing about the model's health: the breaker is the business of real requests.
    const { data } = (await (await gateway.api("GET", "/api/models")).json()) as {
      data: { id: string; health: object }[];
    };
    expect(data.find(({ id }) => id === "alpha")?.health).toMatchObject({ consecutiveFailures: 0 });
  });

  it("asks for a key that it does not have: says so instead of blaming one", async () => {
    lab.on("*", fails(401, { message: "Unauthorized" }));
    const answer = await gateway.api("POST", "/api/providers/own/test", {
      draft: { kind: "openai", baseUrl: lab.url },
    });
    expect(await answer.json()).toMatchObject({
      problem: "own asks for a key (401). It says: Unauthorized.",
      fix: "Enter its key on the Providers page of the dashboard. Or set providers.own.apiKey and restart the gateway.",
    });
  });

  it("has no list of models at its address: does not say that it listed them", async () => {
    lab.on("*", fails(404));
    const answer = await gateway.api("POST", "/api/providers/own/test", {
      draft: { kind: "openai", baseUrl: lab.url.replace("/v1", "") },
    });
    expect(await answer.json()).toMatchObject({
      ok: false,
      problem: `own lists no models at ${new URL(lab.url).host}.`,
      fix: expect.stringContaining("usually ends in /v1"),
    });
  });

  it("answers another format: says so", async () => {
    lab.on("*", sends(200, { hello: "I am a web server" }));
    expect(await test()).toMatchObject({ ok: false, problem: expect.stringContaining("not in openai format") });
  });

  it("does not keep the key in the log either", async () => {
    lab.on("*", fails(401, { message: `Wrong key ${SECRET}` }));
    await test();
    expect(JSON.stringify(gateway.logged)).not.toContain(SECRET);
  });
});

it("ends when a provider hangs", async () => {
  // Shorter than the timeout of a test.
  const yaml = labYaml(lab.url).replace("firstByteMs: 60000", "firstByteMs: 3000");
  gateway = await startGateway({ yaml });
  lab.on("*", hangs);
  expect(await test()).toMatchObject({ ok: false, status: null, fix: expect.stringContaining("Try again") });
  await gateway.stop();
});

it("names the address that nobody listens on", async () => {
  const port = await freePort();
  gateway = await startGateway({ yaml: labYaml(`http://127.0.0.1:${port}/v1`) });
  const outcome = await test();
  await gateway.stop();
  expect(outcome.problem).toContain(`127.0.0.1:${port} cannot be reached`);
  expect(outcome.fix).toContain("providers.lab.baseUrl");
});

it("finds nothing wrong with the sandbox", async () => {
  gateway = await startGateway();
  const answer = await gateway.api("POST", "/api/providers/sandbox/test", {});
  expect(await answer.json()).toMatchObject({ ok: true, problem: null });
  await gateway.stop();
});
