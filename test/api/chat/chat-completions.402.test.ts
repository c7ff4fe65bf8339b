// 402: what an account cannot pay for is refused before the first byte to a provider, and leaves nothing behind.

import { once } from "node:events";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { EXPECTED_OUTPUT_TOKENS } from "../../../src/routing/cost.ts";
import { expectError } from "../../support/errors.ts";
import { HELLO } from "../../support/gateway/gateway.ts";
import { openWaitingRoom } from "../../support/gateway/waiting-room.ts";
import { openSocket, sendRaw } from "../../support/network/raw-http.ts";
import { answers, type Behaviour, completion, hangs, sends } from "../../support/providers/fake-provider.ts";
import { type Bank, decimal, type ModelId, openBank, owed, PRICES, usd } from "../../support/stores/money.ts";

let bank: Bank;
beforeAll(async () => {
  bank = await openBank({ creditsUsd: null });
});
beforeEach(async () => {
  bank.provider.reset();
  await bank.empty();
});
afterAll(() => bank.close());

/** As docs/concepts/charging.md says: half of the bytes, and a little that every request has. */
const inputBound = (body: object): number =>
  Math.ceil(Buffer.byteLength(JSON.stringify({ ...HELLO, ...body })) / 2) + 32;

function holdFor(model: ModelId, body: object, outputTokens: number): bigint {
  // The whole prompt may become a cache write, which is dearer than plain input.
  return owed({ input: 0, cacheWrite: inputBound(body), output: outputTokens }, PRICES[model]);
}

const direct = (model: ModelId): object => ({ model, service_profile: "direct" });

/** Refused, nothing asked of a provider, nothing held, nothing booked. */
async function expectRefusal(answer: Response, code: string): Promise<string> {
  const { message } = await expectError(answer, { status: 402, code });
  return message;
}

/** How much is on hold while the provider lets a request wait. */
async function heldDuring(body: object): Promise<bigint> {
  bank.provider.on("*", hangs);
  const received = bank.provider.nextRequest();
  const open = bank.open(body);
  await received;
  const { held } = await bank.balance();
  open.leave();
  await bank.atRest();
  return held;
}

describe("with nothing in the wallet", () => {
  test.each<readonly [string, object]>([
    ["a request", {}],
    ["a stream", { stream: true }],
    ["a model that costs nothing", direct("free")],
    ["the smallest answer there is", { max_tokens: 1 }],
  ])("%s is refused", async (_, body) => {
    const booked = await bank.entries(1);
    const message = await expectRefusal(await bank.ask(body), "insufficient_credits");
    expect(message).toMatch(/ USD needed, 0 USD available/);
    expect(bank.provider.requests).toHaveLength(0);
    expect(await bank.balance()).toEqual({ posted: 0n, held: 0n, available: 0n });
    expect(await bank.entries(1)).toEqual(booked);
  });

  test("debug and models still answer", async () => {
    for (let round = 0; round < 10; round += 1) {
      const asked = Array.from({ length: 100 }, () => bank.gateway.post("/v1/routing/debug", { prompt: "hello" }));
      for (const answer of await Promise.all(asked)) {
        expect(answer.status).toBe(200);
        await answer.arrayBuffer();
      }
    }
    expect((await bank.gateway.get("/v1/models")).status).toBe(200);
    expect(bank.provider.requests).toHaveLength(0);
  });

  test("requests resume after a top-up, without a restart", async () => {
    expect((await bank.ask()).status).toBe(402);
    await bank.topUp("1");
    expect((await bank.ask()).status).toBe(200);
  });
});

describe("an explicit cap", () => {
  const body = { ...direct("alpha"), max_tokens: 1000 };

  test("that the balance covers to the nano goes through", async () => {
    await bank.topUp(usd(holdFor("alpha", body, 1000)));
    expect((await bank.ask(body)).status).toBe(200);
    expect(bank.provider.requests[0]?.body.max_tokens).toBe(1000);
  });

  test("that it misses by one nano is refused, naming both amounts", async () => {
    const needed = holdFor("alpha", body, 1000);
    await bank.topUp(usd(needed - 1n));
    const message = await expectRefusal(await bank.ask(body), "insufficient_credits");
    expect(amountsIn(message)).toEqual([needed, needed - 1n]);
    expect(message).toContain("max_tokens");
    expect(bank.provider.requests).toHaveLength(0);
    await bank.atRest();
    expect((await bank.ask({ ...body, max_tokens: 500 })).status).toBe(200);
  });
});

function amountsIn(message: string): readonly bigint[] {
  return [...message.matchAll(/([\d.]+) USD/g)].map(([, amount]) => decimal(amount as string, 9));
}

describe("credits on hold", () => {
  test("are told apart from credits that are not there, and come back", async () => {
    const body = { ...direct("alpha"), max_tokens: 1000 };
    await bank.topUp(usd(holdFor("alpha", body, 1000) + 5n));
    let finish = (): void => undefined;
    const waits: Behaviour = (exchange) =>
      new Promise((resolve) => {
        finish = () => resolve(answers("done")(exchange));
      });
    bank.provider.once("alpha", waits);
    const received = bank.provider.nextRequest();
    const first = bank.ask(body);
    await received;
    const refused = await bank.ask(body);
    expect(refused.headers.get("retry-after")).toMatch(/^[1-9]\d*$/);
    const message = await expectRefusal(refused, "credits_on_hold");
    expect(amountsIn(message)).toEqual([holdFor("alpha", body, 1000), 5n]);
    expect(await bank.balance()).toMatchObject({ available: 5n });
    finish();
    expect((await first).status).toBe(200);
    expect(bank.provider.requests).toHaveLength(1);
    expect((await bank.ask({ ...body, max_tokens: 900 })).status).toBe(200);
  });
});

describe("a balance that covers part of the chain", () => {
  test("goes to the cheaper model, and the answer and the log say so", async () => {
    const body = { max_tokens: 2000 };
    await bank.topUp(usd(holdFor("beta", body, 2000)));
    const answer = await bank.ask(body, { "x-request-id": "cheaper" });
    expect(await answer.json()).toMatchObject({ model: "beta", service: { model: "beta", fallback: false } });
    expect(bank.provider.requests.map(({ body: sent }) => sent.model)).toEqual(["beta"]);
    const notes = bank.gateway.logged.filter(({ fields }) => fields.event === "reservation.chain_shortened");
    expect(notes.at(-1)?.fields).toMatchObject({
      requestId: "cheaper",
      model: "beta",
      reasoning: expect.stringContaining("left out because the balance does not cover them: alpha"),
    });
    const line = bank.gateway.logged.find(
      ({ fields }) => fields.event === "request.completed" && fields.requestId === "cheaper",
    );
    expect(line?.fields).toMatchObject({ model: "beta", isFallback: false });
  });

  test("with enough for all of it nothing is left out", async () => {
    await bank.topUp("1");
    const answer = await bank.ask({ max_tokens: 2000 });
    expect(await answer.json()).toMatchObject({ model: "alpha", service: { model: "alpha" } });
  });
});

describe("no cap and a small balance", () => {
  test("buys the answer it can: the cap is sent, a finish of length stays one, and the balance holds", async () => {
    const amount = holdFor("beta", {}, 100);
    await bank.topUp(usd(amount));
    bank.provider.on("beta", (exchange) => {
      const cap = Number(exchange.request.body.max_tokens ?? exchange.request.body.max_completion_tokens);
      const message = { role: "assistant", content: "word ".repeat(cap) };
      const choices = [{ index: 0, message, finish_reason: "length" }];
      const usage = { prompt_tokens: 12, completion_tokens: cap, total_tokens: 12 + cap };
      return sends(200, { ...completion("", "beta"), choices, usage })(exchange);
    });
    const answer = await bank.ask();
    expect(answer.status).toBe(200);
    const notes = expect.arrayContaining([expect.objectContaining({ code: "output_capped_by_balance" })]);
    const cut = { model: "beta", choices: [{ finish_reason: "length" }], service: { notes } };
    expect(await answer.json()).toMatchObject(cut);
    expect(bank.provider.requests).toHaveLength(1);
    expect(bank.provider.requests[0]?.body).toMatchObject({ max_tokens: 100 });
    await bank.atRest();
    expect((await bank.balance()).posted).toBe(amount - owed({ input: 12, output: 100 }, PRICES.beta));
  });

  test("too small for half of a usual answer is refused", async () => {
    const needed = holdFor("beta", {}, EXPECTED_OUTPUT_TOKENS.SIMPLE / 2);
    await bank.topUp(usd(needed - 1n));
    const message = await expectRefusal(await bank.ask(), "insufficient_credits");
    expect(amountsIn(message)).toEqual([needed, needed - 1n]);
    await bank.topUp("0.000000001");
    expect((await bank.ask()).status).toBe(200);
    expect(bank.provider.requests[0]?.body).toMatchObject({ max_tokens: EXPECTED_OUTPUT_TOKENS.SIMPLE / 2 });
  });

  test("covers less of a long answer than of a short one, so the tier decides", async () => {
    const complex = { service_profile: "tier", service_tier: "COMPLEX" };
    await bank.topUp(usd(holdFor("beta", complex, 262)));
    const refused = await bank.ask(complex);
    await expectRefusal(refused, "insufficient_credits");
    expect(bank.provider.requests).toHaveLength(0);
    await bank.topUp("1");
    expect((await bank.ask(complex)).status).toBe(200);
  });

  test("a large balance leaves the request as it is", async () => {
    await bank.topUp("1");
    await bank.ask();
    expect(bank.provider.requests[0]?.body).not.toHaveProperty("max_tokens");
    expect(bank.provider.requests[0]?.body).not.toHaveProperty("max_completion_tokens");
  });
});

describe("the hold", () => {
  beforeEach(() => bank.topUp("100"));
  const picture = { type: "image_url", image_url: { url: `data:image/png;base64,${"A".repeat(40_000)}` } };

  test.each<readonly [string, object, number]>([
    ["max_tokens", { max_tokens: 700 }, 700],
    ["the larger of two caps", { max_tokens: 1, max_completion_tokens: 100_000 }, 100_000],
    ["the larger of two caps, the other way round", { max_tokens: 100_000, max_completion_tokens: 1 }, 100_000],
    ["n answers", { max_tokens: 700, n: 5 }, 3500],
    ["no more than the model can write", { max_tokens: 1_000_000 }, 131_072],
  ])("covers %s", async (_, fields, outputTokens) => {
    const body = { ...direct("wide"), ...fields };
    expect(await heldDuring(body)).toBe(holdFor("wide", body, outputTokens));
  });

  test("covers the dearest model of the chain", async () => {
    expect(await heldDuring({ max_tokens: 700 })).toBe(holdFor("alpha", { max_tokens: 700 }, 700));
  });

  test("counts pictures at a flat worst case, not by their bytes", async () => {
    const body = (pictures: number): object => ({
      ...direct("wide"),
      max_tokens: 1,
      messages: [{ role: "user", content: [{ type: "text", text: "?" }, ...Array(pictures).fill(picture)] }],
    });
    const one = await heldDuring(body(1));
    const three = await heldDuring(body(3));
    const pictureCost = owed({ input: 0, cacheWrite: 4000, output: 0 }, PRICES.wide);
    expect(one).toBeGreaterThan(pictureCost);
    expect(one).toBeLessThan(pictureCost * 2n);
    expect(three - one).toBeGreaterThan(pictureCost * 2n);
    expect(three - one).toBeLessThan((pictureCost * 21n) / 10n);
  });
});

describe("the spend limit of a key", () => {
  let key: string;
  afterEach(() => bank.provider.reset());

  const askWith = (body: object): Promise<Response> => bank.ask(body, { authorization: `Bearer ${key}` });

  test("binds that key only, counts what runs, and is never passed", async () => {
    await bank.topUp("10");
    const body = { ...direct("alpha"), max_tokens: 100 };
    const hold = holdFor("alpha", body, 100);
    const made = await bank.gateway.api("POST", "/api/keys", { name: "trial", spendLimitUsd: usd(hold + 10_000n) });
    key = ((await made.json()) as { key: string }).key;
    bank.provider.on("alpha", answers("ok", { usage: { prompt_tokens: 12, completion_tokens: 1, total_tokens: 13 } }));
    const cost = owed({ input: 12, output: 1 }, PRICES.alpha);
    let spent = 0n;
    let answer = await askWith(body);
    while (answer.status === 200) {
      spent += cost;
      answer = await askWith(body);
    }
    const message = await expectRefusal(answer, "spend_limit_reached");
    expect(spent).toBe(cost);
    expect(amountsIn(message)).toEqual([hold, 10_000n + hold - cost]);
    expect((await bank.ask(body)).status).toBe(200);
    expect((await askWith({ ...body, max_tokens: 90 })).status).toBe(200);
  });

  test("many at once do not pass it together", async () => {
    await bank.topUp("10");
    const body = { ...direct("alpha"), max_tokens: 100 };
    const limit = usd(3n * holdFor("alpha", body, 100));
    const made = await bank.gateway.api("POST", "/api/keys", { name: "burst", spendLimitUsd: limit });
    key = ((await made.json()) as { key: string }).key;
    const room = openWaitingRoom(bank.provider, "alpha");
    let decided = 0;
    const all = Array.from({ length: 20 }, async () => {
      const answer = await askWith(body);
      decided += 1;
      if (decided === 17) room.answerAll();
      return answer.status;
    });
    const statuses = await Promise.all(all);
    expect(statuses.filter((status) => status === 200)).toHaveLength(3);
    expect(statuses.filter((status) => status === 402)).toHaveLength(17);
    await bank.atRest();
  });
});

describe("a large body without credits", () => {
  const head = (framing: string): string =>
    `POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${bank.gateway.key}\r\n` +
    `Content-Type: application/json\r\n${framing}\r\n\r\n`;

  test.each(["Content-Length: 30000000", "Transfer-Encoding: chunked"])(
    "is refused before it is read (%s)",
    async (framing) => {
      const answer = await sendRaw(bank.gateway.url, head(framing));
      expect([answer.status, JSON.parse(answer.body).error.code]).toEqual([402, "insufficient_credits"]);
    },
  );

  test("leaves the connection usable once the client has sent it", async () => {
    const socket = openSocket(bank.gateway.url);
    const next = async (): Promise<string> => String((await once(socket, "data"))[0]);
    const first = next();
    socket.write(head("Content-Length: 30000000"));
    expect(await first).toMatch(/^HTTP\/1.1 402 /);
    const second = next();
    socket.write(Buffer.alloc(30_000_000, 97));
    socket.write("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
    expect(await second).toMatch(/^HTTP\/1.1 200 /);
    socket.destroy();
  });

  test("still gets the stored response of its Idempotency-Key", async () => {
    await bank.topUp("1");
    const body = { ...direct("free"), messages: [{ role: "user", content: "a".repeat(300_000) }] };
    const send = (): Promise<Response> =>
      bank.gateway.post("/v1/chat/completions", body, { "idempotency-key": "large" });
    expect((await send()).status).toBe(200);
    await bank.empty();
    expect((await send()).status).toBe(200);
  });
});
