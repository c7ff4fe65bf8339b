// Stored contents cost: an account without credits stores nothing, and a key has a byte rate. Behaviour 10.14 and 10.15.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openDb } from "../../../src/store/db.ts";
import { expectError } from "../../support/errors.ts";
import { startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { contentsUrlOf } from "../../support/stores/stores.ts";

const ITEM_BYTES = 7 * 1024;
const item = { type: "message", role: "user", content: "z".repeat(ITEM_BYTES) };
const TIMES = 40;

let gateway: TestGateway;
let paying: Record<string, string>;
beforeAll(async () => {
  const env = { SWITCHYARD_STORED_BYTES_PER_MINUTE: String(10 * ITEM_BYTES) };
  gateway = await startGateway({ env, database: "file" });
  paying = { authorization: `Bearer ${gateway.key}` };
});
afterAll(() => gateway.stop());

async function keyOf(account: string): Promise<Record<string, string>> {
  const answer = await gateway.api("POST", `/api/keys?account=${account}`, { name: "storing" });
  return { authorization: `Bearer ${((await answer.json()) as { key: string }).key}` };
}

async function newAccount(name: string): Promise<string> {
  const answer = await gateway.api("POST", "/api/accounts", { name });
  return ((await answer.json()) as { id: string }).id;
}

async function rowsOf(account: string): Promise<number> {
  const db = await openDb(contentsUrlOf(gateway.database));
  try {
    const [row] = await db.query("SELECT COUNT(*) AS count FROM conversations WHERE account_id = $1", [account]);
    return Number(row?.count);
  } finally {
    await db.close();
  }
}

describe("an account without credits", () => {
  it("cannot store conversations, items or responses", async () => {
    const account = await newAccount("Penniless");
    const headers = await keyOf(account);
    const refused = { status: 402, code: "insufficient_credits" };
    for (let n = 0; n < TIMES; n += 1)
      await expectError(await gateway.post("/v1/conversations", { items: [item] }, headers), refused);
    await expectError(await gateway.post("/v1/conversations/conv_1/items", { items: [item] }, headers), refused);
    expect((await gateway.post("/v1/responses", { model: "auto", input: "Hi" }, headers)).status).toBe(402);
    expect(await rowsOf(account)).toBe(0);
  });

  it("can once it has some, and still reads and deletes without", async () => {
    const account = await newAccount("Paying");
    const headers = await keyOf(account);
    await gateway.api("POST", `/api/credits/topups?account=${account}`, { amountUsd: "1" });
    const made = await gateway.post("/v1/conversations", {}, headers);
    const { id } = (await made.json()) as { id: string };
    expect(made.status).toBe(200);
    expect(await rowsOf(account)).toBe(1);
    const back = { amountUsd: "-1", note: "taken back" };
    expect((await gateway.api("POST", `/api/credits/adjustments?account=${account}`, back)).status).toBe(201);
    expect((await gateway.post("/v1/conversations", {}, headers)).status).toBe(402);
    expect((await gateway.get(`/v1/conversations/${id}`, headers)).status).toBe(200);
  });
});

describe("the byte rate of a key", () => {
  it("stops a key that stores too much, names a time, and leaves other keys alone", async () => {
    const statuses: number[] = [];
    let refused: Response | null = null;
    for (let n = 0; n < TIMES; n += 1) {
      const answer = await gateway.post("/v1/conversations", { items: [item] }, paying);
      statuses.push(answer.status);
      if (answer.status !== 200) refused ??= answer;
    }
    const stored = statuses.filter((status) => status === 200).length;
    // More only where the loop takes longer than the window.
    expect(stored).toBeGreaterThanOrEqual(9);
    expect(statuses).toContain(429);
    const after = Number(refused?.headers.get("retry-after"));
    expect(after).toBeGreaterThanOrEqual(1);
    expect(after).toBeLessThanOrEqual(60);
    await expectError(refused as Response, { status: 429, code: "stored_bytes_exceeded" });
    const created = { model: "auto", input: "Hi" };
    await expectError(await gateway.post("/v1/responses", created, paying), {
      status: 429,
      code: "stored_bytes_exceeded",
    });
    expect((await gateway.post("/v1/responses", { ...created, store: false }, paying)).status).toBe(200);
    expect((await gateway.post("/v1/responses", created, await keyOf("default"))).status).toBe(200);
  });
});
