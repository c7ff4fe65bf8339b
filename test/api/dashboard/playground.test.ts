// The playground, the replay of a profile, rotating keys, and the settings.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectError } from "../../support/errors.ts";
import { startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { type Person, setUpOperator } from "../../support/gateway/signed-in.ts";

const PROOF = "Prove that the square root of 2 is irrational, and generalise the proof to every prime.";

let gateway: TestGateway;
let person: Person;
beforeAll(async () => {
  gateway = await startGateway();
  person = await setUpOperator(gateway);
});
afterAll(() => gateway.stop());

async function post<T>(path: string, body: object): Promise<T> {
  const answer = await person.call("POST", path, body);
  expect([answer.status, answer.ok ? "" : await answer.clone().text()]).toEqual([answer.status, ""]);
  return (await answer.json()) as T;
}

interface Decided {
  readonly decision: { readonly tier: string; readonly model: string; readonly filteredChain: readonly string[] };
  readonly candidates: readonly { model: string; removedBecause: string | null; costUsd: string }[];
  readonly estimate: Readonly<Record<string, unknown>>;
}

describe("deciding", () => {
  it("is the debug endpoint's decision, with the candidates and the estimate, and costs nothing", async () => {
    const before = await (await gateway.api("GET", "/api/credits")).json();
    const asked = { prompt: PROOF, max_output_tokens: 500 };
    const decided = await post<Decided>("/api/playground/decide", asked);
    const debug = (await (await gateway.post("/v1/routing/debug", asked)).json()) as Decided;
    // Where data goes is for those who choose a host.
    const { hostPolicies, ...same } = debug.decision as Decided["decision"] & { readonly hostPolicies: unknown };
    expect(hostPolicies).toEqual(expect.any(Array));
    expect(decided.decision).toEqual(same);
    expect(
      decided.candidates.filter(({ removedBecause }) => removedBecause === null).map(({ model }) => model),
    ).toEqual(decided.decision.filteredChain);
    expect(decided.estimate).toMatchObject({
      ...{ baselineModel: expect.any(String), baselinePrice: { asOf: expect.stringMatching(/^20\d\d-/) } },
      outputTokens: 500,
      costUsd: expect.stringMatching(/^0\.\d+$/),
    });
    expect(await (await gateway.api("GET", "/api/credits")).json()).toEqual(before);
  });

  it("has one baseline for every tier when the length of the answer is given, and decides the same", async () => {
    const decide = (tier: string, more: object) =>
      post<Decided>("/api/playground/decide", { prompt: PROOF, service_profile: "tier", service_tier: tier, ...more });
    const own = await Promise.all(["NANO", "COMPLEX"].map((tier) => decide(tier, {})));
    const same = await Promise.all(["NANO", "COMPLEX"].map((tier) => decide(tier, { answerTokens: 700 })));
    expect(same.map(({ estimate }) => estimate.outputTokens)).toEqual([700, 700]);
    expect(same[0]?.estimate.baselineCostUsd).toBe(same[1]?.estimate.baselineCostUsd);
    expect(own[0]?.estimate.baselineCostUsd).not.toBe(own[1]?.estimate.baselineCostUsd);
    expect(same.map(({ decision }) => decision)).toEqual(own.map(({ decision }) => decision));
    for (const { estimate } of same) {
      const share = 1 - Number(estimate.costUsd) / Number(estimate.baselineCostUsd);
      expect(estimate.savings).toBeCloseTo(Math.max(0, share), 6);
    }
  });

  it("keeps to a saved profile and to one that was never saved alike", async () => {
    const rules = { tierCeiling: "SIMPLE", blockedModels: ["gpt-4o-mini"] };
    const { id } = await post<{ id: string }>("/api/profiles", { name: "low", ...rules });
    const saved = await post<Decided>("/api/playground/decide", { prompt: PROOF, profileId: id });
    const unsaved = await post<Decided>("/api/playground/decide", { prompt: PROOF, profile: rules });
    expect(saved.decision).toEqual(unsaved.decision);
    expect(["NANO", "SIMPLE"]).toContain(saved.decision.tier);
    expect(saved.decision.filteredChain).not.toContain("gpt-4o-mini");
  });

  it.each([
    [{}, 400, "prompt"],
    [{ prompt: "Hi", profileId: "profile_0" }, 404, "id"],
    [{ prompt: "Hi", profile: { tierFloor: "HUGE" } }, 400, "tierFloor"],
    [{ prompt: "Hi", profile: { accountId: "x" } }, 400, "accountId"],
    [{ prompt: "Hi", profile: { blockedModels: ["none such"] } }, 400, "blockedModels"],
    [{ prompt: "Hi", profile: { tierFloor: "NANO" }, profileId: "p" }, 400, "profileId"],
    [{ prompt: "Hi", profile: "nonsense" }, 400, "profile"],
    [{ prompt: "Hi", service_tier_floor: "HUGE" }, 400, "service_tier_floor"],
    [{ prompt: "Hi", messages: [] }, 422, "messages"],
    [{ prompt: "Hi", answerTokens: 0 }, 400, "answerTokens"],
  ])("%j is %s", async (body, status, param) => {
    await expectError(await person.call("POST", "/api/playground/decide", body), { status, param });
  });
});

describe("running", () => {
  it("answers for real, charges the account and is in the log as the playground's", async () => {
    const body = {
      prompt: "What is the capital of France?",
      system_prompt: "Be brief.",
      profile: { tierFloor: "LIGHT" },
    };
    const answer = await person.call("POST", "/api/playground/run", body);
    expect(answer.status).toBe(200);
    const completion = (await answer.json()) as { service: { tier: string }; choices: unknown[] };
    expect(completion.choices).toHaveLength(1);
    expect(["LIGHT", "STANDARD", "COMPLEX"]).toContain(completion.service.tier);
    const id = answer.headers.get("x-request-id");
    const recorded = (await (await person.call("GET", `/api/requests/${id}`)).json()) as Record<string, unknown>;
    expect(JSON.stringify(recorded)).toContain("playground");
    const { data } = (await (await person.call("GET", "/api/ledger")).json()) as { data: { requestId: string }[] };
    expect(data.map(({ requestId }) => requestId)).toContain(id);
  });

  it("streams, from messages alone", async () => {
    const body = { messages: [{ role: "user", content: "Hi" }], stream: true, max_output_tokens: 50 };
    const answer = await person.call("POST", "/api/playground/run", body);
    expect(answer.headers.get("content-type")).toContain("text/event-stream");
    expect(await answer.text()).toMatch(/data: \[DONE\]\n\n$/);
  });

  it("without credits is 402, and by the admin token of another account too", async () => {
    const { id } = (await (await gateway.api("POST", "/api/accounts", { name: "poor" })).json()) as { id: string };
    const answer = await gateway.api("POST", `/api/playground/run?account=${id}`, { prompt: "Hi" });
    await expectError(answer, { status: 402, code: "insufficient_credits" });
  });
});

interface Replay {
  readonly requests: number;
  readonly changed: number;
  readonly up: number;
  readonly down: number;
  readonly costBeforeUsd: string;
  readonly costAfterUsd: string;
  readonly changes: readonly {
    requestId: string;
    before: { tier: string };
    after: { tier: string; model: string } | null;
    because: readonly string[];
  }[];
}

describe("replaying a profile", () => {
  it("says what would change and what it would have cost", async () => {
    const other = await startGateway();
    const operator = await setUpOperator(other);
    const replay = async (body: object): Promise<Replay> =>
      (await (await operator.call("POST", "/api/profiles/replay", body)).json()) as Replay;
    expect(await replay({ profile: {} })).toMatchObject({ requests: 0, changed: 0, costBeforeUsd: "0" });
    for (const prompt of ["Hi", "What is the capital of France?", PROOF]) {
      await (await other.post("/v1/chat/completions", { messages: [{ role: "user", content: prompt }] })).text();
    }
    const same = await replay({ profile: {} });
    expect(same).toMatchObject({ requests: 3, changed: 0, up: 0, down: 0, changes: [] });
    expect(same.costAfterUsd).toBe(same.costBeforeUsd);
    const raised = await replay({ profile: { tierFloor: "COMPLEX" } });
    expect(raised.changes.every(({ after }) => after?.tier === "COMPLEX")).toBe(true);
    expect([raised.up, raised.down]).toEqual([raised.changes.length, 0]);
    expect(Number(raised.costAfterUsd)).toBeGreaterThan(Number(raised.costBeforeUsd));
    const lowered = await replay({ profile: { tierCeiling: "NANO" } });
    expect(lowered.down).toBeGreaterThan(0);
    expect(Number(lowered.costAfterUsd)).toBeLessThan(Number(lowered.costBeforeUsd));
    expect((await replay({ profile: {}, limit: 1 })).requests).toBe(1);
    const recut = await replay({ profile: {}, policy: { bounds: [0, 0, 0, 0] } });
    expect(recut.changes.map(({ after }) => after?.tier)).toEqual(recut.changes.map(() => "COMPLEX"));
    expect(recut.changes[0]?.because[0]).toMatch(/^score 0\.\d\d falls in COMPLEX$/);
    const model = raised.changes[0]?.after?.model as string;
    const rechained = await replay({ profile: {}, policy: { chains: { NANO: [model], SIMPLE: [model] } } });
    expect(rechained.changes.length).toBeGreaterThan(0);
    expect(rechained.changes.every(({ after }) => after?.model === model)).toBe(true);
    await other.stop();
  });

  it.each([
    [{}],
    [{ profile: {}, policy: { bounds: [0.4, 0.2, 0.6, 0.8] } }],
    [{ profile: {}, policy: { bounds: [0.5] } }],
    [{ profile: {}, policy: { chains: { NANO: ["nobody"] } } }],
    [{ profile: {}, limit: 501 }],
    [{ profile: { x: 1 } }],
    [{ profile: {}, account: "x" }],
  ])("%j is refused", async (body) => {
    await expectError(await person.call("POST", "/api/profiles/replay", body), { status: 400 });
  });
});

describe("rotating a key", () => {
  it("makes one like it, and the old one works through the grace", async () => {
    const { id: profile } = await post<{ id: string }>("/api/profiles", { name: "r" });
    const old = await post<{ id: string; key: string }>("/api/keys", { name: "app", profile, requestsPerMinute: 7 });
    const made = await post<{ id: string; key: string }>(`/api/keys/${old.id}/rotate`, { graceHours: 1 });
    expect(made).toMatchObject({ name: "app", profile, requestsPerMinute: 7, status: "active", expiresAt: null });
    expect(made.key).not.toBe(old.key);
    const works = async (key: string): Promise<number> =>
      (await gateway.get("/v1/models", { authorization: `Bearer ${key}` })).status;
    expect([await works(old.key), await works(made.key)]).toEqual([200, 200]);
    const next = await post<{ key: string }>(`/api/keys/${made.id}/rotate`, {});
    expect([await works(made.key), await works(next.key)]).toEqual([401, 200]);
    const again = await person.call("POST", `/api/keys/${made.id}/rotate`, { graceHours: 1 });
    await expectError(again, { status: 409, code: "key_not_active" });
    const { data } = (await (await person.call("GET", `/api/profiles/${profile}/keys`)).json()) as { data: object[] };
    expect(data).toHaveLength(3);
  });

  it.each([[{ graceHours: -1 }], [{ graceHours: 721 }], [{ graceHours: "1" }], [{ name: "x" }]])(
    "%j is refused",
    async (body) => {
      await expectError(await person.call("POST", "/api/keys/key_first/rotate", body), { status: 400 });
    },
  );
});

describe("settings", () => {
  it("say where each value came from, and no secret", async () => {
    const text = await (await person.call("GET", "/api/settings")).text();
    expect(text).not.toContain("test-admin-token");
    const settings = JSON.parse(text) as { options: Record<string, unknown>[] };
    const option = (name: string) => settings.options.find((each) => each.name === name);
    expect(option("adminToken")).toMatchObject({ value: null, isSecret: true, isSet: true, origin: "environment" });
    expect(option("port")).toMatchObject({ value: "0", place: "environment PORT" });
    expect(option("markup")).toMatchObject({ value: "0.05", isSet: false, origin: "default", place: null });
    expect(settings).toMatchObject({ store: "sqlite", sandbox: true, providers: [{ id: "sandbox", hasKey: false }] });
  });
});
