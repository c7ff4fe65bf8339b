// What embeddings, reranking and moderation cost, to the nano-USD, on both databases: reserved before the call, charged by
// what the provider counted, and nothing where it fails.

import { request as httpRequest } from "node:http";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { expectError } from "../../support/errors.ts";
import {
  EMBEDDING_PRICE,
  type EndpointLab,
  embeds,
  openEndpointLab,
  RERANK_PRICE,
  reservedFor,
} from "../../support/providers/endpoints.ts";
import { type Behaviour, cuts, cutsBody, fails, hangs, sends } from "../../support/providers/fake-provider.ts";
import type { Json } from "../../support/providers/streams.ts";
import { decimal, owed, usd } from "../../support/stores/money.ts";
import { describeStores } from "../../support/stores/stores.ts";

const BODY = { model: "small", input: "What is the capital of France?" };
const BYTES = JSON.stringify(BODY).length;
const cost = (input: number): bigint => owed({ input, output: 0 }, EMBEDDING_PRICE);

const MANY_BYTES = 32 * 1024 * 1024;

function whenTold(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

await describeStores("endpoints", ({ url }) => {
  let lab: EndpointLab;
  beforeAll(async () => {
    lab = await openEndpointLab({ database: url });
  });
  afterEach(() => lab.provider.reset());
  afterAll(() => lab.close());
  const ask = (body: object = BODY, headers: Record<string, string> = {}): Promise<Response> =>
    lab.gateway.post("/v1/embeddings", body, headers);
  const spentBy = (work: () => Promise<unknown>): Promise<bigint> => lab.bank.spentBy(work);

  test("a response costs what its provider counted", async () => {
    lab.provider.on("*", embeds(123_457));
    expect(await spentBy(() => ask())).toBe(cost(123_457));
    const [entry] = await lab.bank.entries(1);
    expect([entry?.kind, entry?.model]).toEqual(["charge", "small"]);
  });

  test("a batch is reserved whole, though each of its texts may fill the window", async () => {
    const body = { model: "small", input: Array.from({ length: 300 }, (_, index) => `text number ${index}`) };
    const { promise, resolve } = whenTold();
    lab.provider.on("*", async (exchange) => promise.then(() => embeds(9)(exchange)));
    const arrived = lab.provider.nextRequest();
    const answer = ask(body);
    await arrived;
    expect((await lab.bank.balance()).held).toBe(reservedFor(JSON.stringify(body).length));
    resolve();
    expect((await answer).status).toBe(200);
  });

  test("without counts it is estimated, and the response says so nowhere but in its usage", async () => {
    lab.provider.on("*", embeds(null));
    const answer = (await (await ask(BODY, { "x-request-id": "uncounted" })).json()) as { usage: Json };
    const tokens = Number(answer.usage.prompt_tokens);
    expect(tokens).toBeGreaterThan(4);
    expect(answer.usage).toEqual({ prompt_tokens: tokens, total_tokens: tokens });
    const ids = [1, 2, 3, 4, 5, 6, 7, 8, 9];
    expect(await spentBy(() => ask({ model: "small", input: ids }))).toBe(cost(ids.length));
    const record = (await (await lab.gateway.api("GET", "/api/requests/uncounted")).json()) as Json;
    expect(record).toMatchObject({ usageEstimated: true, tokens: { input: tokens } });
  });

  test.each([
    ["5xx", fails(503)],
    ["a refusal", fails(400)],
    ["a limit", fails(429)],
    ["a cut", cuts],
    ["a cut in the middle", cutsBody],
    ["nothing of use", sends(200, { data: [] })],
    ["silence", hangs, "hasty"],
  ])("%s costs nothing", async (_name, behaviour, model = "small") => {
    lab.provider.on("*", behaviour);
    expect(await spentBy(async () => expect((await ask({ ...BODY, model })).ok).toBe(false))).toBe(0n);
  });

  test("at the edge of the balance as many run as it covers, and it never drops below zero", async () => {
    const { promise, resolve } = whenTold();
    lab.provider.on("*", async (exchange) => promise.then(() => embeds(11)(exchange)));
    await lab.bank.empty();
    await lab.bank.topUp(usd(3n * reservedFor(BYTES) + 1n));
    const asked = Array.from({ length: 12 }, () => ask());
    const refused: Response[] = [];
    // Those that wait for the provider settle only when it answers, so nine others are all that can.
    await new Promise<void>((done) => {
      for (const answer of asked) void answer.then((each) => void (refused.push(each) === 9 && done()));
    });
    for (const answer of refused) await expectError(answer, { status: 402, code: "credits_on_hold" });
    expect((await lab.bank.balance()).available).toBe(1n);
    resolve();
    const all = await Promise.all(asked);
    expect(all.filter(({ status }) => status === 200)).toHaveLength(3);
    await lab.bank.atRest();
    expect((await lab.bank.balance()).posted).toBe(3n * reservedFor(BYTES) + 1n - 3n * cost(11));
    await lab.bank.topUp("100");
  });

  test("a balance that cannot cover it is 402 before the provider is called", async () => {
    await lab.bank.empty();
    await lab.bank.topUp(usd(1n));
    const { message } = await expectError(await ask(), { status: 402, code: "insufficient_credits" });
    expect(message).toContain("Send a smaller 'input'");
    await lab.bank.topUp("100");
    expect(lab.provider.requests).toEqual([]);
  });

  test("a key's spend limit holds", async () => {
    const limit = usd(reservedFor(BYTES));
    const made = await lab.gateway.api("POST", "/api/keys", { name: "limited", spendLimitUsd: limit });
    const headers = { authorization: `Bearer ${((await made.json()) as { key: string }).key}` };
    expect((await ask(BODY, headers)).status).toBe(200);
    await expectError(await ask(BODY, headers), { status: 402, code: "spend_limit_reached" });
  });

  test("the same Idempotency-Key is charged once and answered alike", async () => {
    lab.provider.on("*", embeds(50));
    const once = { "idempotency-key": "vectors" };
    const texts: string[] = [];
    const spent = await spentBy(async () => {
      for (let turn = 0; turn < 2; turn++) texts.push(await (await ask(BODY, once)).text());
    });
    expect([spent, texts[0], lab.provider.requests.length]).toEqual([cost(50), texts[1], 1]);
    await expectError(await ask({ ...BODY, dimensions: 2 }, once), { status: 422, code: "idempotency_key_reused" });
  });

  test("a client that leaves pays nothing before the provider accepts, and the input afterwards", async () => {
    const leaveAt = async (behaviour: Behaviour): Promise<bigint> =>
      spentBy(async () => {
        const { promise, resolve } = whenTold();
        lab.provider.on("*", async (exchange) => {
          await behaviour(exchange);
          resolve();
        });
        const { url: address, key } = lab.gateway;
        const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
        const request = httpRequest(`${address}/v1/embeddings`, { method: "POST", agent: false, headers });
        request.on("error", () => undefined);
        const arrived = lab.provider.nextRequest();
        request.end(JSON.stringify(BODY));
        const received = await arrived;
        await promise;
        request.destroy();
        await received.closed;
      });
    expect(await leaveAt(hangs)).toBe(0n);
    // More than the buffers of a connection hold: once it is written, the gateway has read the beginning.
    const accepts: Behaviour = ({ response }) => {
      response.writeHead(200, { "content-type": "application/json" });
      return new Promise((written) => response.write(`{"data":[${" ".repeat(MANY_BYTES)}`, () => written()));
    };
    const spent = await leaveAt(accepts);
    expect(spent).toBeGreaterThan(0n);
    expect(spent).toBeLessThan(reservedFor(BYTES));
  });

  test("reranking counts the query for each document", async () => {
    const usage = { total_tokens: 321 };
    lab.provider.on("*", sends(200, { model: "x", results: [{ index: 0, relevance_score: 1 }], usage }));
    const body = { model: "ranker", query: "capital", documents: ["Paris", { text: "Rome" }], top_n: 1 };
    const answer = await lab.gateway.post("/v1/rerank", body);
    expect(await answer.json()).toEqual({ model: "ranker", results: [{ index: 0, relevance_score: 1 }], usage });
    const spent = await spentBy(() => lab.gateway.post("/v1/rerank", body));
    expect(spent).toBe(owed({ input: 321, output: 0 }, RERANK_PRICE));
  });

  test("moderation is free where its price is zero, and needs no counts", async () => {
    lab.provider.on("*", sends(200, { id: "modr-1", model: "x", results: [{ flagged: false }] }));
    expect(await spentBy(() => lab.gateway.post("/v1/moderations", { input: "Hello" }))).toBe(0n);
    const reported = lab.gateway.logged.filter(({ fields }) => String(fields.event).startsWith("usage."));
    expect(JSON.stringify(reported)).not.toContain("judge");
  });

  test("every charge stands in the ledger at its own price", async () => {
    const entries = await lab.bank.entries(500);
    const charged = entries.filter(({ kind }) => kind === "charge").map(({ amountUsd }) => decimal(amountUsd, 9));
    expect(charged.every((amount) => amount <= 0n)).toBe(true);
    await lab.bank.atRest();
  });
});
