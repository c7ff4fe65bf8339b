// Shadow samples over HTTP: a second model is asked after the client has its answer, never at the client's cost, within
// the budget of the day, and without keeping a word where content is not stored.

import { readFileSync } from "node:fs";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { HELLO, labYaml, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { scrape } from "../../support/gateway/scrape.ts";
import { answers, type FakeProvider, fails, sends, startFakeProvider } from "../../support/providers/fake-provider.ts";

let provider: FakeProvider;
let gateway: TestGateway;
beforeAll(async () => {
  provider = await startFakeProvider();
  gateway = await startGateway({ yaml: labYaml(provider.url), database: "file" });
});
beforeEach(() => provider.reset());
afterAll(async () => {
  await gateway.stop();
  await provider.close();
});

type Json = Record<string, unknown>;
const json = async <T = Json>(answer: Response | Promise<Response>): Promise<T> => (await (await answer).json()) as T;

interface Outcomes {
  readonly model: string | null;
  readonly sentence: string;
  readonly total: { readonly samples: number; readonly judged: number; readonly agreed: number };
  readonly data: readonly Json[];
  readonly differing: readonly Json[];
  readonly sampling: readonly { readonly profile: string; readonly spentTodayUsd: string }[];
}

/** A key of an account of its own, whose profile takes samples. */
async function sampling(
  rule: Json = {},
  on: TestGateway = gateway,
): Promise<{ account: string; profile: string; headers: Record<string, string> }> {
  const { id: account } = await json<{ id: string }>(on.api("POST", "/api/accounts", { name: "a" }));
  await on.api("POST", `/api/credits/topups?account=${account}`, { amountUsd: "10" });
  const { id: profile } = await json<{ id: string }>(on.api("POST", `/api/profiles?account=${account}`, { name: "p" }));
  const body = { model: "beta", share: 1, budgetUsdPerDay: "1", ...rule };
  const set = await on.api("PUT", `/api/profiles/${profile}/shadow?account=${account}`, body);
  expect(set.status).toBe(200);
  const { key } = await json<{ key: string }>(on.api("POST", `/api/keys?account=${account}`, { name: "k", profile }));
  return { account, profile, headers: { authorization: `Bearer ${key}` } };
}

const outcomes = (account: string, on = gateway): Promise<Outcomes> =>
  json(on.api("GET", `/api/outcomes?account=${account}`));

async function results(on = gateway): Promise<Record<string, number>> {
  const { value } = await scrape(on.url);
  const names = ["compared", "over_budget", "unsuitable", "failed", "dropped"];
  return Object.fromEntries(
    names.map((result) => [result, value(`switchyard_shadow_samples_total{result="${result}"}`) ?? Number.NaN]),
  );
}

/** Sends it, and waits until the sample has come to this. */
async function sample(
  result: string,
  { headers, body = HELLO, on = gateway }: { headers: Record<string, string>; body?: object; on?: TestGateway },
): Promise<string> {
  const before = (await results(on))[result] ?? 0;
  const answer = await on.post("/v1/chat/completions", body, headers);
  expect(answer.status).toBe(200);
  await answer.text();
  await expect.poll(async () => (await results(on))[result], { timeout: 120_000 }).toBe(before + 1);
  return answer.headers.get("x-request-id") ?? "";
}

describe("a sample", () => {
  it("compares both answers, and only the first is charged", async () => {
    const { account, headers, profile } = await sampling();
    provider.on("alpha", answers("Paris"));
    provider.on("beta", answers("**Paris.**"));
    const id = await sample("compared", { headers });
    expect(provider.requests.map(({ body }) => body.model)).toEqual(["alpha", "beta"]);
    expect(provider.requests[1]?.body.messages).toEqual(HELLO.messages);
    const { total, data, sampling: rules, model } = await outcomes(account);
    expect([model, total.samples, total.agreed]).toEqual(["beta", 1, 1]);
    expect(data[0]).toMatchObject({ live: { costUsd: "0.000027" }, second: { costUsd: "0.000054" }, state: "too_few" });
    expect(rules).toMatchObject([{ profile, spentTodayUsd: "0.000054" }]);
    const request = await json(gateway.api("GET", `/api/requests/${id}?account=${account}`));
    expect(request.sample).toMatchObject({ model: "beta", verdict: "same", costUsd: "0.000054", answer: null });
    // The wallet has paid for the first answer, with its markup, and the ledger is whole.
    expect(request.money).toMatchObject({ chargeUsd: "0.00002835" });
    const credits = await json(gateway.api("GET", `/api/credits?account=${account}`));
    expect(credits).toMatchObject({ postedUsd: "9.99997165", heldUsd: "0" });
    expect(await json(gateway.api("GET", "/api/ledger/verify"))).toMatchObject({ ok: true });
    const { data: log } = await json<{ data: Json[] }>(gateway.api("GET", `/api/requests?account=${account}`));
    expect(log).toHaveLength(1);
  });

  it("is made of a stream too, and of tool calls", async () => {
    const { account, headers } = await sampling();
    const call = (args: string) => ({
      id: "c",
      object: "chat.completion",
      choices: [
        {
          index: 0,
          finish_reason: "tool_calls",
          message: {
            role: "assistant",
            content: null,
            tool_calls: [{ id: "t", type: "function", function: { name: "read", arguments: args } }],
          },
        },
      ],
      usage: { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17 },
    });
    await sample("compared", { headers, body: { ...HELLO, stream: true } });
    const tools = [{ type: "function", function: { name: "read", parameters: { type: "object" } } }];
    provider.on("alpha", sends(200, call('{"path": "a"}')));
    provider.on("beta", sends(200, call('{"path": "b"}')));
    await sample("compared", { headers, body: { ...HELLO, tools } });
    const { total, differing, sentence } = await outcomes(account);
    expect(total).toMatchObject({ samples: 2, judged: 2, agreed: 1, sameTool: 1 });
    expect(differing).toMatchObject([{ verdict: "same_tool", model: "alpha" }]);
    expect(sentence).toMatch(/^Not enough data yet: 50% of 2 judged answers agree/);
  });

  it("and feedback come to the figures of a calculation by hand", async () => {
    const { account, headers } = await sampling();
    provider.on("alpha", answers("Paris"));
    const ids: string[] = [];
    for (const second of ["Paris", "paris.", "Paris", "Paris", "Rome", "Lyon"]) {
      provider.on("beta", answers(second));
      ids.push(await sample("compared", { headers }));
    }
    // Four agree. One of these was no use, and one of the other two was right all the same.
    for (const [id, score] of [
      [ids[0], 0],
      [ids[4], 1],
    ]) {
      expect((await gateway.post("/v1/feedback", { request_id: id, score }, headers)).status).toBe(200);
    }
    const { total, data, sentence } = await outcomes(account);
    // Wilson for 4 of 6: (0.6667 + 0.3201 ± 0.4947) / 1.6403. Each answer has 12 tokens in and 5 out.
    const figures = {
      ...{ samples: 6, judged: 6, agreed: 4, marked: 2, state: "too_few" },
      agreement: { rate: expect.closeTo(4 / 6, 4), low: expect.closeTo(0.3, 3), high: expect.closeTo(0.9032, 3) },
      live: { costUsd: "0.000162", latencyMs: expect.any(Number) },
      second: { costUsd: "0.000324", latencyMs: expect.any(Number) },
    };
    expect(total).toMatchObject(figures);
    expect(data).toMatchObject([{ category: "simple_qa", ...figures }]);
    expect(sentence).toMatch(
      /: 67% of 6 judged answers agree with beta \(95% confidence: 30% to 90%\)\. About \d+ are needed for a verdict\.$/,
    );
  });

  it("never delays the answer", async () => {
    const { headers } = await sampling();
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    provider.on("beta", async (exchange) => {
      await held;
      await answers("ok")(exchange);
    });
    const before = (await results()).compared ?? 0;
    const answer = await gateway.post("/v1/chat/completions", HELLO, headers);
    await answer.text();
    await expect.poll(() => provider.callsTo("beta")).toBe(1);
    release();
    await expect.poll(async () => (await results()).compared).toBe(before + 1);
  });
});

describe("the budget of a day", () => {
  it("is never exceeded, also not by calls at once", async () => {
    // One call is counted at its upper bound, of some cents; a cent buys none, and a few cents one at a time.
    const { account, headers } = await sampling({ budgetUsdPerDay: "0.01" });
    await sample("over_budget", { headers });
    expect(provider.callsTo("beta")).toBe(0);
    expect((await outcomes(account)).sampling).toMatchObject([{ spentTodayUsd: "0" }]);
    const tight = await sampling({ budgetUsdPerDay: "0.03" });
    let running = 0;
    let most = 0;
    provider.on("beta", async (exchange) => {
      running += 1;
      most = Math.max(most, running);
      await answers("ok")(exchange);
      running -= 1;
    });
    const sent = Array.from({ length: 12 }, () => gateway.post("/v1/chat/completions", HELLO, tight.headers));
    const before = await results();
    await Promise.all((await Promise.all(sent)).map((answer) => answer.text()));
    const countOf = async () => {
      const { compared = 0, over_budget: over = 0, dropped = 0 } = await results();
      return compared + over + dropped - (before.compared ?? 0) - (before.over_budget ?? 0) - (before.dropped ?? 0);
    };
    await expect.poll(countOf, { timeout: 120_000 }).toBeGreaterThanOrEqual(1);
    const { sampling: rules } = await outcomes(tight.account);
    expect(Number(rules[0]?.spentTodayUsd)).toBeLessThanOrEqual(0.03);
    expect(most).toBeLessThanOrEqual(1);
  });

  it("gets back what a refused call did not use", async () => {
    const { account, headers } = await sampling();
    provider.on("beta", fails(401));
    await sample("failed", { headers });
    expect((await outcomes(account)).sampling).toMatchObject([{ spentTodayUsd: "0" }]);
    const providers = await json<{ data: Json[] }>(gateway.api("GET", "/api/providers"));
    expect(JSON.stringify(providers)).not.toContain('"open"');
  });
});

describe("no sample is taken", () => {
  it.each([
    ["of an answer that was cut short", { finish_reason: "length" }],
    ["of an answer of the second model itself", { model: "beta" }],
  ])("%s", async (_, how) => {
    const { account, headers } = await sampling();
    const choice = { index: 0, message: { role: "assistant", content: "ok" }, finish_reason: "stop", ...how };
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    if ("model" in how) provider.on("alpha", fails(500));
    else provider.on("alpha", sends(200, { id: "c", object: "chat.completion", choices: [choice], usage }));
    await sample("unsuitable", { headers });
    expect((await outcomes(account)).total.samples).toBe(0);
  });

  it("of a failed request, and with several choices", async () => {
    const { account, headers } = await sampling();
    const before = (await results()).unsuitable ?? 0;
    expect((await gateway.post("/v1/chat/completions", {}, headers)).status).toBe(422);
    provider.on("*", fails(500));
    expect((await gateway.post("/v1/chat/completions", HELLO, headers)).status).toBe(503);
    provider.reset();
    await (await gateway.post("/v1/chat/completions", { ...HELLO, n: 2 }, headers)).text();
    await expect.poll(async () => (await results()).unsuitable).toBeGreaterThan(before);
    expect(provider.callsTo("beta")).toBe(0);
    expect((await outcomes(account)).total.samples).toBe(0);
  });
});

describe("the rule", () => {
  it("is set by operators only, for a model that the profile allows", async () => {
    const { account, profile } = await sampling();
    const put = (body: object) => gateway.api("PUT", `/api/profiles/${profile}/shadow?account=${account}`, body);
    const rule = { model: "beta", share: 0.5, budgetUsdPerDay: 2 };
    expect(await json(put(rule))).toMatchObject({ shadow: { ...rule, budgetUsdPerDay: "2" } });
    expect((await put({ ...rule, model: "nothing" })).status).toBe(400);
    expect((await put({ ...rule, share: 1.5 })).status).toBe(400);
    expect((await put({ ...rule, budgetUsdPerDay: "-1" })).status).toBe(400);
    // What an owner saves leaves it as it is.
    const saved = await gateway.api("PUT", `/api/profiles/${profile}?account=${account}`, { name: "q" });
    expect(await json(saved)).toMatchObject({ name: "q", shadow: { model: "beta" } });
    const blocked = { name: "q", blockedModels: ["beta"] };
    await gateway.api("PUT", `/api/profiles/${profile}?account=${account}`, blocked);
    expect((await put(rule)).status).toBe(400);
    expect((await gateway.api("DELETE", `/api/profiles/${profile}/shadow?account=${account}`)).status).toBe(204);
    expect(await json(gateway.api("GET", `/api/profiles/${profile}?account=${account}`))).toMatchObject({
      shadow: null,
    });
    expect((await gateway.api("DELETE", "/api/profiles/nothing/shadow")).status).toBe(404);
  });
});

describe("content", () => {
  const SECRET = "zanzibar";
  it("is kept only where the operator stores it", async () => {
    const { headers } = await sampling();
    provider.on("*", answers(`${SECRET} one two three four five six seven`));
    await sample("compared", { headers });
    await json(gateway.api("GET", "/api/requests"));
    const bytes = ["", "-wal"].map((end) => readFileSync(`${gateway.database.slice("sqlite:".length)}${end}`));
    expect(Buffer.concat(bytes).includes(SECRET)).toBe(false);
    const storing = await startGateway({ yaml: labYaml(provider.url), env: { SWITCHYARD_LOG_CONTENT: "true" } });
    try {
      const other = await sampling({}, storing);
      provider.on("beta", answers(`${SECRET} and something else that is longer`));
      const id = await sample("compared", { headers: other.headers, on: storing });
      expect(await json(storing.api("GET", `/api/requests/${id}?account=${other.account}`))).toMatchObject({
        content: { answer: `${SECRET} one two three four five six seven` },
        sample: { verdict: "unclear", answer: `${SECRET} and something else that is longer` },
      });
      // A stop does not wait for a sample that is under way.
      const before = provider.callsTo("beta");
      provider.on("beta", () => new Promise(() => undefined));
      await (await storing.post("/v1/chat/completions", HELLO, other.headers)).text();
      await expect.poll(() => provider.callsTo("beta"), { timeout: 120_000 }).toBe(before + 1);
    } finally {
      await storing.stop();
    }
  });
});
