// Idempotency-Key: the same request twice is one provider call and one charge, whole or streamed, also after a restart.

import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openDb } from "../../../src/store/db.ts";
import { expectError } from "../../support/errors.ts";
import { HELLO, startGateway } from "../../support/gateway/gateway.ts";
import { openWaitingRoom } from "../../support/gateway/waiting-room.ts";
import {
  answers,
  type Behaviour,
  chunk,
  type FakeProvider,
  fails,
  startFakeProvider,
  streams,
} from "../../support/providers/fake-provider.ts";
import { idempotencyOf } from "../../support/stores/idempotency.ts";
import { type Bank, bankOf, bankYaml, owed, PRICES } from "../../support/stores/money.ts";
import { contentsUrlOf } from "../../support/stores/stores.ts";

const folder = mkdtempSync(join(tmpdir(), "switchyard-idempotency-"));
const database = `sqlite:${join(folder, "test.db")}`;
const COST = owed({ input: 12, output: 5 }, PRICES.alpha);

let provider: FakeProvider;
let bank: Bank;
let key: string;

async function startBank(creditsUsd: string | null): Promise<Bank> {
  const env = { SWITCHYARD_SECRET: "a-secret-that-outlives-a-restart" };
  const gateway = await startGateway({ yaml: bankYaml(provider.url), database, creditsUsd, env });
  if (gateway.key !== "") key = gateway.key;
  return bankOf(provider, gateway);
}

async function restart(): Promise<void> {
  await bank.gateway.stop();
  bank = await startBank(null);
}

beforeAll(async () => {
  provider = await startFakeProvider();
  bank = await startBank("100");
});
beforeEach(() => provider.reset());
afterAll(async () => {
  await bank.close();
  rmSync(folder, { recursive: true, force: true });
});

function ask(idempotencyKey: string, body: object = {}): Promise<Response> {
  return bank.ask(body, { authorization: `Bearer ${key}`, "idempotency-key": idempotencyKey });
}

async function bytesOf(answer: Response): Promise<object> {
  return { status: answer.status, type: answer.headers.get("content-type"), text: await answer.text() };
}

describe.each([
  ["whole", {}],
  ["streamed", { stream: true }],
  ["streamed with usage", { stream: true, stream_options: { include_usage: true } }],
])("%s", (name, body) => {
  test("again is the same bytes, one call and one charge", async () => {
    let first = {};
    const spent = await bank.spentBy(async () => {
      first = await bytesOf(await ask(`twice-${name.replaceAll(" ", "-")}`, body));
      for (let round = 0; round < 3; round += 1) {
        expect(await bytesOf(await ask(`twice-${name.replaceAll(" ", "-")}`, body))).toEqual(first);
      }
    });
    expect(first).toMatchObject({ status: 200, text: expect.stringContaining("ok") });
    expect(provider.requests).toHaveLength(1);
    expect(spent).toBe(COST);
  });

  test("again after a restart", async () => {
    const first = await bytesOf(await ask(`restart-${name.replaceAll(" ", "-")}`, body));
    await restart();
    const spent = await bank.spentBy(async () => {
      expect(await bytesOf(await ask(`restart-${name.replaceAll(" ", "-")}`, body))).toEqual(first);
    });
    expect(spent).toBe(0n);
    expect(provider.requests).toHaveLength(1);
  });

  test("without a key twice is two charges", async () => {
    const spent = await bank.spentBy(async () => {
      const headers = { authorization: `Bearer ${key}` };
      for (let round = 0; round < 2; round += 1) await (await bank.ask(body, headers)).text();
    });
    expect(spent).toBe(2n * COST);
  });
});

test("the files of the database and its folder do not show the answer", async () => {
  provider.on("*", answers("the canary sings in the mine"));
  const texts = await Promise.all(
    [{}, { stream: true }].map(async (body, n) => (await ask(`canary-${n}`, body)).text()),
  );
  for (const text of texts) expect(text).toContain("canary");
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
  expect(files.length).toBeGreaterThan(2);
  for (const { parentPath, name } of files)
    expect(readFileSync(join(parentPath, name), "latin1"), name).not.toContain("canary");
});

test("an answer that is lost is 422 and not charged again", async () => {
  await ask("lost");
  const contents = await openDb(contentsUrlOf(database));
  expect(await contents.query("DELETE FROM idempotent_answers RETURNING id")).not.toEqual([]);
  await contents.close();
  await expectError(await ask("lost"), { status: 422, code: "idempotency_answer_lost" });
  expect(provider.requests).toHaveLength(1);
});

test("while it runs others get 409, and its answer when it is done", async () => {
  let finish = (): void => undefined;
  provider.once("alpha", (exchange) => {
    finish = () => void answers("slow")(exchange);
  });
  const received = provider.nextRequest();
  const spent = await bank.spentBy(async () => {
    const first = ask("in-flight");
    await received;
    for (const again of await Promise.all([ask("in-flight"), ask("in-flight")])) {
      expect(again.headers.get("retry-after")).toBe("1");
      await expectError(again, { status: 409, code: "idempotency_key_in_flight" });
    }
    finish();
    const answered = await bytesOf(await first);
    expect(await bytesOf(await ask("in-flight"))).toEqual(answered);
  });
  expect(spent).toBe(COST);
});

test("of many at once exactly one is done", async () => {
  const room = openWaitingRoom(provider, "alpha");
  let refused = 0;
  const spent = await bank.spentBy(async () => {
    const all = Array.from({ length: 20 }, async () => {
      const { status } = await ask("burst");
      if (status === 409) refused += 1;
      if (refused === 19) room.answerAll();
      return status;
    });
    expect((await Promise.all(all)).sort()).toEqual([200, ...Array(19).fill(409)]);
  });
  expect(spent).toBe(COST);
});

test("the same key with another body is 422", async () => {
  await ask("other-body");
  const other = await ask("other-body", { temperature: 0.5 });
  await expectError(other, { status: 422, code: "idempotency_key_reused" });
  expect(provider.requests).toHaveLength(1);
});

test.each([
  ["empty", ""],
  ["with spaces", "a b"],
  ["too long", "x".repeat(256)],
])("a key that is %s is 400", async (_, bad) => {
  await expectError(await ask(bad), { status: 400, code: "invalid_idempotency_key" });
  expect(provider.requests).toHaveLength(0);
});

test("keys of other accounts are other keys", async () => {
  await ask("accounts");
  const account = await (await bank.gateway.api("POST", "/api/accounts", { name: "other" })).json();
  const { id } = account as { id: string };
  await bank.gateway.api("POST", `/api/credits/topups?account=${id}`, { amountUsd: "1" });
  const made = await (await bank.gateway.api("POST", `/api/keys?account=${id}`, { name: "other" })).json();
  const authorization = `Bearer ${(made as { key: string }).key}`;
  expect((await bank.ask({}, { authorization, "idempotency-key": "accounts" })).status).toBe(200);
  expect(provider.requests).toHaveLength(2);
});

describe("what got no answer can be tried again", () => {
  test.each<readonly [string, Behaviour, number]>([
    ["every provider failed", fails(500, {}, { "retry-after": "30" }), 503],
    ["the provider refused it", fails(400), 400],
  ])("%s", async (name, behaviour, status) => {
    provider.on("*", behaviour);
    expect((await ask(`failed-${status}`)).status).toBe(status);
    provider.reset();
    const spent = await bank.spentBy(async () => expect((await ask(`failed-${status}`)).status).toBe(200));
    expect(spent, name).toBeGreaterThan(0n);
  });

  test("a stream that the provider broke", async () => {
    provider.once("alpha", streams([chunk("alpha", { content: "Hel" })], { ending: "cut" }));
    const broken = await (await ask("broke", { stream: true })).text();
    expect(broken).toContain("stream_interrupted");
    expect(await (await ask("broke", { stream: true })).text()).toContain("[DONE]");
    expect(await (await ask("broke", { stream: true })).text()).toContain("[DONE]");
    expect(provider.requests).toHaveLength(2);
  });

  test("a client that left", async () => {
    const words = chunk("alpha", { content: "one two three four five six" });
    provider.once("alpha", streams([words], { ending: "hang" }));
    const received = provider.nextRequest();
    const headers = { authorization: `Bearer ${key}`, "idempotency-key": "left" };
    const open = bank.open({ stream: true }, headers);
    const { closed } = await received;
    await once(await open.response, "data");
    open.leave();
    await closed;
    await bank.atRest();
    // Its key is free a moment after its hold.
    await expect.poll(async () => (await ask("left", { stream: true })).text()).toContain("[DONE]");
    expect(provider.requests).toHaveLength(2);
  });

  test("a refusal for want of credits", async () => {
    const before = await bank.balance();
    await bank.empty();
    expect((await ask("poor")).status).toBe(402);
    await bank.topUp(`${before.available / 1_000_000_000n}`);
    expect((await ask("poor")).status).toBe(200);
  });

  test("a stream that was cut when we stopped costs nothing", async () => {
    const words = chunk("alpha", { content: "one two three four five six" });
    provider.once("alpha", streams([words], { ending: "hang" }));
    await bank.atRest();
    const before = await bank.balance();
    const received = provider.nextRequest();
    const open = bank.open({ stream: true }, { authorization: `Bearer ${key}`, "idempotency-key": "stopped" });
    await received;
    const response = await open.response;
    await once(response, "data");
    response.on("error", () => undefined);
    const { logged } = bank.gateway;
    await restart();
    await bank.atRest();
    expect(logged.findLast(({ fields }) => fields.event === "request.completed")?.fields).toMatchObject({
      ending: "gateway-broke",
    });
    expect(await bank.balance()).toEqual(before);
    expect(bank.gateway.logged.map(({ fields }) => fields.event)).not.toContain("hold.abandoned_released");
    expect((await ask("stopped", { stream: true })).status).toBe(200);
  });
});

test("an answer is kept for as long as it should be, and no longer", async () => {
  const first = await bytesOf(await ask("kept"));
  const db = await openDb(database);
  try {
    const store = idempotencyOf(db, "sweeper");
    await store.sweep(60_000, 60_000);
    expect(await bytesOf(await ask("kept"))).toEqual(first);
    expect(provider.requests).toHaveLength(1);
    await store.sweep(0, 60_000);
    const spent = await bank.spentBy(async () => expect((await ask("kept", HELLO)).status).toBe(200));
    expect(spent).toBe(COST);
    expect(provider.requests).toHaveLength(2);
  } finally {
    await db.close();
  }
});
