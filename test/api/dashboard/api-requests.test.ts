// /api/requests over HTTP: what each kind of request leaves behind, filters, tenancy, marks and export.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { parseFeedback } from "../../../eval/feedback.ts";
import { HELLO, labYaml, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import {
  answers,
  chunk,
  completion,
  type FakeProvider,
  fails,
  sends,
  startFakeProvider,
  streams,
} from "../../support/providers/fake-provider.ts";

interface Line {
  readonly id: string;
  readonly requestId: string;
  readonly status: number;
  readonly [field: string]: unknown;
}

let provider: FakeProvider;
let gateway: TestGateway;
beforeAll(async () => {
  provider = await startFakeProvider();
  gateway = await startGateway({ yaml: labYaml(provider.url) });
});
beforeEach(() => provider.reset());
afterAll(async () => {
  await gateway.stop();
  await provider.close();
});

const json = async <T = Line>(answer: Response | Promise<Response>): Promise<T> => (await (await answer).json()) as T;
const list = async (query = ""): Promise<readonly Line[]> =>
  (await json<{ data: Line[] }>(gateway.api("GET", `/api/requests${query}`))).data;
const whole = (id: string): Promise<Record<string, unknown>> => json(gateway.api("GET", `/api/requests/${id}`));

let count = 0;
/** Sends a completion under an id of its own, and waits for the whole answer. */
async function send(body: object, headers: Record<string, string> = {}): Promise<string> {
  count += 1;
  const id = `test-request-${count}`;
  const answer = await gateway.post("/v1/chat/completions", body, { "x-request-id": id, ...headers });
  await answer.text();
  return id;
}

describe("a request that was answered", () => {
  it("is there with its decision, attempts, usage and money", async () => {
    const request = await whole(await send(HELLO));
    expect(request).toMatchObject({
      status: 200,
      error: false,
      errorCode: null,
      stream: false,
      route: "/v1/chat/completions",
      model: "alpha",
      provider: "lab",
      fallback: false,
      ending: "complete",
      tokens: { input: 12, cacheRead: 0, cacheWrite: 0, output: 5 },
      attempts: [{ model: "alpha", provider: "lab", outcome: "answered", status: 200, failure: null, reason: null }],
      // 12 × 1 + 5 × 3 micro-USD with 5 % markup; the baseline costs twice that, without.
      money: {
        chargeUsd: "0.00002835",
        baselineUsd: "0.000054",
        savedUsd: "0.00002565",
        baselineModel: "beta",
        baselinePrice: { input: 2, output: 6, asOf: expect.stringMatching(/^20\d\d-/) },
        price: { input: 1, output: 3 },
        markup: 0.05,
      },
      decision: {
        chain: ["alpha", "beta"],
        candidates: [
          { model: "alpha", removedBecause: null },
          { model: "beta", removedBecause: null },
        ],
      },
      features: { messages: 1, userTurns: 1, "measures.words": 6 },
      content: null,
      feedback: null,
    });
    expect(request.classifiedTier).toBe((request.decision as Line).classifiedTier);
    expect(Number((request.money as Line).holdUsd)).toBeGreaterThan(0);
    const { data } = await json<{ data: Line[] }>(gateway.api("GET", "/api/ledger?limit=1"));
    expect((request.money as Line).ledgerId).toBe(data[0]?.id);
  });

  it("is labelled with the user and the tags that its caller names", async () => {
    const id = await send({ ...HELLO, user: "ada", metadata: { run: "17" } }, { "x-tag-team": "search" });
    expect(await whole(id)).toMatchObject({ user: "ada", tags: { run: "17", team: "search" } });
    expect(provider.requests.at(-1)?.headers).not.toHaveProperty("x-tag-team");
    const sent = { model: "auto", max_tokens: 9, messages: HELLO.messages, metadata: { user_id: "bob" } };
    await gateway.post("/v1/messages", sent, { "x-request-id": "labelled-message" });
    expect(await whole("labelled-message")).toMatchObject({ user: "bob", tags: {} });
  });

  it("as a stream, too", async () => {
    provider.on("*", answers("a few words in pieces"));
    const request = await whole(await send({ ...HELLO, stream: true }));
    expect(request).toMatchObject({ stream: true, ending: "complete", tokens: { input: 12, output: 5 } });
    expect(request.firstContentMs).toBeLessThanOrEqual(request.latencyMs as number);
  });

  it("in the Messages format, too", async () => {
    const headers = { "x-request-id": "a-message" };
    await (await gateway.post("/v1/messages", { ...HELLO, max_tokens: 50 }, headers)).text();
    expect(await whole("a-message")).toMatchObject({ route: "/v1/messages", status: 200, model: "alpha" });
  });

  it("by a fallback shows every attempt", async () => {
    provider.on("alpha", fails(500));
    const request = await whole(await send(HELLO));
    expect(request).toMatchObject({ model: "beta", fallback: true, error: false });
    expect((request.attempts as Line[]).map(({ model, failure }) => [model, failure])).toContainEqual([
      "alpha",
      "status",
    ]);
    expect((await list("?fallback=true")).map(({ model }) => model)).toContain("beta");
  });
});

describe("a request that was not answered", () => {
  it.each([
    ["422", {}, 422, null],
    ["404", { ...HELLO, service_profile: "direct", model: "no" }, 404, "model_not_found"],
    ["400", { ...HELLO, service_tier_floor: "HUGE" }, 400, "invalid_value"],
  ])("with %s leaves a record without money", async (_what, body, status, code) => {
    const request = await whole(await send(body));
    expect(request).toMatchObject({ status, error: true, model: null, tokens: null, chargeUsd: null });
    expect(request.errorCode).toEqual(code ?? expect.any(String));
  });

  it("because every provider failed shows what was tried", async () => {
    provider.on("*", fails(500));
    const request = await whole(await send(HELLO));
    expect(request).toMatchObject({ status: 503, error: true, model: null, chargeUsd: null });
    expect((request.attempts as Line[]).length).toBeGreaterThanOrEqual(2);
    expect((request.money as Line).holdUsd).not.toBeNull();
  });

  it("because the stream broke counts as an error although its status is 200", async () => {
    const script = { ending: "cut" } as const;
    provider.on("*", streams([chunk("alpha", { content: "Once upon" })], script));
    const id = await send({ ...HELLO, stream: true });
    expect(await whole(id)).toMatchObject({ status: 200, error: true, ending: "provider-broke", chargeUsd: null });
    expect((await list("?status=error")).map(({ requestId }) => requestId)).toContain(id);
  });

  it("with 402 has its decision, but no charge", async () => {
    const poor = await startGateway({ yaml: labYaml(provider.url), creditsUsd: null });
    await (await poor.post("/v1/chat/completions", HELLO)).text();
    const { data } = await json<{ data: Line[] }>(poor.api("GET", "/api/requests"));
    expect(data).toEqual([
      expect.objectContaining({ status: 402, errorCode: "insufficient_credits", chargeUsd: null, attempts: 0 }),
    ]);
    await poor.stop();
  });
});

describe("what leaves no record", () => {
  it("debug, models, counts and callers nobody knows", async () => {
    const before = (await list("?limit=500")).length;
    const answered = [
      await gateway.post("/v1/routing/debug", { prompt: "Hi" }),
      await gateway.get("/v1/models"),
      await gateway.post("/v1/messages/count_tokens", HELLO),
      await gateway.post("/v1/chat/completions", HELLO, { authorization: "Bearer sk-service-no" }),
    ];
    expect(answered.map(({ status }) => status)).toEqual([200, 200, 200, 401]);
    expect(await list("?limit=500")).toHaveLength(before);
  });
});

describe("the list", () => {
  it("is newest first, in pages, narrowed by the query", async () => {
    const ids = [await send(HELLO), await send(HELLO), await send({})];
    const lines = await list("?limit=3");
    expect(lines.map(({ requestId }) => requestId)).toEqual(ids.toReversed());
    const first = await json<{ data: Line[]; next: string }>(gateway.api("GET", "/api/requests?limit=2"));
    const second = await list(`?limit=1&after=${first.next}`);
    for (const name of ["cursor", "next"]) expect(await list(`?limit=1&${name}=${first.next}`)).toEqual(second);
    expect(second.map(({ requestId }) => requestId)).toEqual([ids[0]]);
    expect((await list("?status=4xx&limit=1")).map(({ requestId }) => requestId)).toEqual([ids[2]]);
    expect((await list("?status=422&tier=none&model=none&limit=1")).length).toBe(1);
    expect((await list(`?q=${ids[1]}`)).map(({ requestId }) => requestId)).toContain(ids[1]);
    expect(await list("?to=2020-01-01")).toEqual([]);
    expect(await list("?key=nothing")).toEqual([]);
    expect((await list(`?key=${lines[0]?.key}&limit=1`)).length).toBe(1);
  });

  it.each([
    ["from", "yesterday"],
    ["to", "12"],
    ["tier", "HUGE"],
    ["status", "9xx"],
    ["fallback", "maybe"],
    ["category", "poems"],
    ["q", "%00"],
    ["model", "%00"],
    ["limit", "0"],
  ])("refuses %s=%s and names it", async (name, value) => {
    const answer = await gateway.api("GET", `/api/requests?${name}=${value}`);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: { param: name } });
  });
});

describe("another account", () => {
  it("sees none of it, and its ids answer like missing ones", async () => {
    const id = await send(HELLO);
    const { id: account } = await json(gateway.api("POST", "/api/accounts", { name: "b" }));
    const missing = await gateway.api("GET", "/api/requests/nothing");
    const foreign = await gateway.api("GET", `/api/requests/${id}?account=${account}`);
    expect([missing.status, foreign.status]).toEqual([404, 404]);
    const messages = await Promise.all(
      [missing, foreign].map((answer) => json<{ error: { message: string } }>(answer)),
    );
    expect(messages[1]?.error.message).toBe(messages[0]?.error.message.replace("nothing", id));
    expect(await list(`?account=${account}`)).toEqual([]);
    const mark = await gateway.api("POST", `/api/requests/${id}/feedback?account=${account}`, { tier: "NANO" });
    expect(mark.status).toBe(404);
  });

  it("nobody sees it without the token", async () => {
    for (const path of [
      "/api/requests",
      "/api/requests/export",
      "/api/requests/feedback",
      "/api/requests/x",
      "/api/usage",
    ]) {
      expect((await fetch(`${gateway.url}${path}`)).status).toBe(401);
    }
  });
});

describe("a mark", () => {
  it("is kept and can be replaced", async () => {
    const id = await send(HELLO);
    const mark = (body: object): Promise<Response> => gateway.api("POST", `/api/requests/${id}/feedback`, body);
    expect((await mark({ tier: "COMPLEX", note: "a proof" })).status).toBe(200);
    const second = await mark({ tier: "NANO" });
    expect(await second.json()).toMatchObject({
      requestId: id,
      tier: "NANO",
      note: null,
      decidedTier: expect.any(String),
    });
    expect((await whole(id)).feedback).toMatchObject({ tier: "NANO", note: null });
  });

  it.each([[{}], [{ tier: "HUGE" }], [{ tier: "NANO", model: "x" }], [{ tier: "NANO", note: 7 }]])(
    "of %j is refused",
    async (body) => {
      const id = await send(HELLO);
      expect((await gateway.api("POST", `/api/requests/${id}/feedback`, body)).status).toBe(400);
      expect((await whole(id)).feedback).toBeNull();
    },
  );
});

describe("marks for learning", () => {
  it("come out as lines that training reads, without a word of the prompt or the note", async () => {
    const prompt = "Prove that every bounded monotone sequence of zanzibar numbers converges.";
    const id = await send({ ...HELLO, messages: [{ role: "user", content: prompt }] });
    const body = { tier: "COMPLEX", note: "it asked about zanzibar numbers" };
    expect((await gateway.api("POST", `/api/requests/${id}/feedback`, body)).status).toBe(200);
    const answer = await gateway.api("GET", "/api/requests/feedback");
    expect(answer.headers.get("content-type")).toContain("application/x-ndjson");
    const text = await answer.text();
    expect(text).not.toContain("zanzibar");
    const { id: recordId, category, decision } = await whole(id);
    const lines = text.trim().split("\n");
    const marked = lines.map((line) => JSON.parse(line) as Line).find((line) => line.id === recordId);
    const { score } = decision as Line;
    expect(marked).toMatchObject({ tier: "COMPLEX", category, features: { score }, createdAt: expect.any(String) });
    expect(parseFeedback(text)).toHaveLength(lines.length);
    expect(parseFeedback(text)).toContainEqual({ tier: "COMPLEX", category, score });
  });
});

describe("export", () => {
  it("streams every line that the filter lets through, as JSON lines and as CSV", async () => {
    const id = await send(HELLO, { "x-request-id": "=SUM" });
    await send(HELLO, { "x-request-id": "-danger" });
    expect(id).toBeDefined();
    const lines = await gateway.api("GET", "/api/requests/export?status=2xx");
    expect(lines.headers.get("content-type")).toContain("application/x-ndjson");
    const rows = (await lines.text()).trim().split("\n");
    expect(rows.map((row) => (JSON.parse(row) as Line).id)).toEqual(
      (await list("?status=2xx&limit=500")).map((row) => row.id),
    );
    const sheet = await gateway.api("GET", "/api/requests/export?format=csv&status=2xx");
    expect(sheet.headers.get("content-disposition")).toMatch(/requests-default-\d{4}-\d\d-\d\d\.csv/);
    const text = await sheet.text();
    expect(text.split("\r\n")).toHaveLength(rows.length + 2);
    expect(text.split("\r\n")[0]).toContain("id,requestId,createdAt");
    expect(text).toContain(",'=SUM,");
    expect(text).toContain(",'-danger,");
    expect(text).not.toMatch(/(^|,)[=@]/m);
  });
});

describe("tool calls", () => {
  it("are checked, and show on the model beside its score", async () => {
    const tools = [
      { type: "function", function: { name: "weather", parameters: { type: "object", required: ["city"] } } },
    ];
    const call = (args: string) => [{ id: "c1", type: "function", function: { name: "weather", arguments: args } }];
    const body = { messages: [{ role: "user", content: "What is the weather in Rome?" }], tools };
    const answering = (args: string) =>
      sends(
        200,
        completion("", "alpha", {
          choices: [
            {
              index: 0,
              message: { role: "assistant", content: null, tool_calls: call(args) },
              finish_reason: "tool_calls",
            },
          ],
        }),
      );
    provider.on("*", answering('{"city":"Rome"}'));
    const good = await whole(await send(body));
    expect(good.toolCalls).toEqual({ calls: 1, parsed: 1, known: 1, valid: 1 });
    provider.on("*", answering('{"town":"Rome"}'));
    expect((await whole(await send(body))).toolCalls).toEqual({ calls: 1, parsed: 1, known: 1, valid: 0 });
    const { data } = await json<{ data: Line[] }>(gateway.api("GET", "/api/models"));
    expect(data.find(({ id }) => id === good.model)?.toolCalls).toEqual([
      {
        scenario: good.toolScenario,
        ...{ calls: 2, parsed: 2, known: 2, valid: 1 },
        ...{ staticScore: null, blendedScore: null, basis: "everyone" },
      },
    ]);
  });
});
