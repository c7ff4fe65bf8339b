// /api/credits and /api/ledger: money in as decimal text, once per key, and every entry to be seen. Behaviour 8.5.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectError } from "../../support/errors.ts";
import { ADMIN_TOKEN, HELLO } from "../../support/gateway/gateway.ts";
import { type Bank, decimal, type LedgerLine, openBank } from "../../support/stores/money.ts";

let bank: Bank;
let accounts = 0;
beforeAll(async () => {
  bank = await openBank();
});
afterAll(() => bank.close());

/** An account of its own for each test. */
async function newAccount(): Promise<string> {
  accounts += 1;
  const answer = await bank.gateway.api("POST", "/api/accounts", { name: `account ${accounts}` });
  return ((await answer.json()) as { id: string }).id;
}

function post(path: string, body: unknown, idempotencyKey?: string): Promise<Response> {
  return fetch(`${bank.gateway.url}${path}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${ADMIN_TOKEN}`,
      "content-type": "application/json",
      ...(idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey }),
    },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
}

async function balanceOf(account: string): Promise<unknown> {
  return (await bank.gateway.api("GET", `/api/credits?account=${account}`)).json();
}

const amounts = (postedUsd: string): object => ({
  postedUsd,
  heldUsd: "0",
  availableUsd: postedUsd,
  billingMode: "prepaid",
});

describe("a top-up", () => {
  test("is an entry, and the balance has it", async () => {
    const account = await newAccount();
    expect(await balanceOf(account)).toEqual(amounts("0"));
    const answer = await post(`/api/credits/topups?account=${account}`, { amountUsd: "12.50", note: "January" });
    expect(answer.status).toBe(201);
    expect(await answer.json()).toEqual({
      id: expect.stringMatching(/^topup:/),
      kind: "topup",
      amountUsd: "12.5",
      balanceAfterUsd: "12.5",
      note: "January",
      actor: "admin token",
    });
    expect(await balanceOf(account)).toEqual(amounts("12.5"));
  });

  test("twice with one key is done once, also at the same moment", async () => {
    const account = await newAccount();
    const send = () => post(`/api/credits/topups?account=${account}`, { amountUsd: "3" }, "invoice-1");
    const first = await (await send()).json();
    const again = await Promise.all(Array.from({ length: 10 }, async () => (await send()).json()));
    for (const answer of again) expect(answer).toEqual(first);
    expect(await balanceOf(account)).toEqual(amounts("3"));
  });

  test("one key with another amount is refused", async () => {
    const account = await newAccount();
    await post(`/api/credits/topups?account=${account}`, { amountUsd: "3" }, "k");
    const other = await post(`/api/credits/topups?account=${account}`, { amountUsd: "4" }, "k");
    await expectError(other, { status: 422, code: "idempotency_key_reused" });
    expect(await balanceOf(account)).toEqual(amounts("3"));
  });

  test("one key in two accounts is two top-ups", async () => {
    const [one, two] = [await newAccount(), await newAccount()];
    for (const account of [one, two]) await post(`/api/credits/topups?account=${account}`, { amountUsd: "3" }, "k");
    expect([await balanceOf(one), await balanceOf(two)]).toEqual([amounts("3"), amounts("3")]);
  });

  test.each(["a b", "x".repeat(256), ""])("with the key %j is 400", async (key) => {
    const answer = await post("/api/credits/topups", { amountUsd: "1" }, key);
    await expectError(answer, { status: 400, code: "invalid_idempotency_key" });
  });

  test("to an account that is not there is 404", async () => {
    const answer = await post("/api/credits/topups?account=acc_none", { amountUsd: "1" });
    await expectError(answer, { status: 404 });
  });

  test("without the admin token is refused", async () => {
    const answer = await bank.gateway.post("/api/credits/topups", { amountUsd: "1" });
    expect(answer.status).toBe(401);
  });
});

test.each([
  [5, "5"],
  [0.5, "0.5"],
  [1e-7, "0.0000001"],
  [0.1 + 0.2, null],
  [999_999.123456789, "999999.123456789"],
])("an amount that is the number %d counts by its digits", async (amountUsd, expected) => {
  const answer = await post(`/api/credits/topups?account=${await newAccount()}`, { amountUsd });
  expect(answer.status).toBe(expected === null ? 400 : 201);
  if (expected !== null) expect(await answer.json()).toMatchObject({ amountUsd: expected });
});

const NOT_AMOUNTS: readonly unknown[] = [
  -1,
  1e-10,
  1e21,
  true,
  null,
  "",
  "0",
  "0.000",
  "-1",
  "+1",
  "1e3",
  "1E3",
  "1.",
  ".5",
  "1,5",
  "1 ",
  "0x10",
  "NaN",
  "Infinity",
  "١",
  "0.0000000001",
  "1000000.000000001",
  "9999999999999",
  "1".repeat(41),
];

test.each(NOT_AMOUNTS)("an amount of %j is refused", async (amountUsd) => {
  const account = await newAccount();
  for (const path of ["topups", "adjustments"]) {
    if (path === "adjustments" && Number(amountUsd) === -1) continue;
    const answer = await post(`/api/credits/${path}?account=${account}`, { amountUsd });
    await expectError(answer, { status: 400, param: "amountUsd" });
  }
  expect(await balanceOf(account)).toEqual(amounts("0"));
});

test.each<readonly [string, unknown]>([
  ["no body", ""],
  ["not JSON", "{"],
  ["no amount", {}],
  ["a field too many", { amountUsd: "1", amount: 1 }],
  ["a note that is no text", { amountUsd: "1", note: 5 }],
  ["a note with control characters", { amountUsd: "1", note: "a\u0000b" }],
])("a body with %s is refused", async (_, body) => {
  expect((await post("/api/credits/topups", body)).status).toBe(400);
});

test("amounts beyond the exact range of floating point stay exact", async () => {
  const account = await newAccount();
  for (let round = 0; round < 12; round += 1) {
    const answer = await post(`/api/credits/topups?account=${account}`, { amountUsd: "999999.999999999" });
    expect(answer.status).toBe(201);
  }
  expect(await balanceOf(account)).toEqual(amounts("11999999.999999988"));
  expect(await (await bank.gateway.api("GET", "/api/ledger/verify")).json()).toMatchObject({ ok: true });
});

describe("an adjustment", () => {
  test("takes away at most what is there", async () => {
    const account = await newAccount();
    await post(`/api/credits/topups?account=${account}`, { amountUsd: "5" });
    const path = `/api/credits/adjustments?account=${account}`;
    expect((await post(path, { amountUsd: "-1.25", note: "paid twice" })).status).toBe(201);
    expect(await balanceOf(account)).toEqual(amounts("3.75"));
    const tooMuch = await post(path, { amountUsd: "-3.750000001" });
    await expectError(tooMuch, { status: 400, code: "amount_refused", param: "amountUsd" });
    expect((await post(path, { amountUsd: "-3.75" })).status).toBe(201);
    expect((await post(path, { amountUsd: "2" })).status).toBe(201);
    expect(await balanceOf(account)).toEqual(amounts("2"));
  });

  test("is done once per key, apart from top-ups with the same key", async () => {
    const account = await newAccount();
    await post(`/api/credits/topups?account=${account}`, { amountUsd: "5" }, "k");
    for (let round = 0; round < 3; round += 1) {
      await post(`/api/credits/adjustments?account=${account}`, { amountUsd: "-1" }, "k");
    }
    expect(await balanceOf(account)).toEqual(amounts("4"));
  });
});

describe("the ledger", () => {
  test("is read page by page, newest first, each line once", async () => {
    const account = await newAccount();
    for (let number = 1; number <= 7; number += 1) {
      await post(`/api/credits/topups?account=${account}`, { amountUsd: String(number) });
    }
    const seen: string[] = [];
    let next: string | null = null;
    do {
      const after: string = next === null ? "" : `&after=${next}`;
      const answer = await bank.gateway.api("GET", `/api/ledger?account=${account}&limit=3${after}`);
      expect(answer.status).toBe(200);
      const page = (await answer.json()) as { data: readonly LedgerLine[]; next: string | null };
      seen.push(...page.data.map(({ amountUsd }) => amountUsd));
      next = page.next;
    } while (next !== null);
    expect(seen).toEqual(["7", "6", "5", "4", "3", "2", "1"]);
  });

  test("shows both sides of a charge, with request and model", async () => {
    const answer = await bank.gateway.post("/v1/chat/completions", HELLO, { "x-request-id": "x".repeat(128) });
    expect(answer.status).toBe(200);
    const page = await bank.gateway.api("GET", "/api/ledger?limit=1");
    const { data, next } = (await page.json()) as { data: readonly LedgerLine[]; next: string };
    expect(data).toMatchObject([{ kind: "charge", model: "alpha", requestId: "x".repeat(128) }]);
    const sides = Object.fromEntries(data[0]!.entries.map(({ book, amountUsd }) => [book, amountUsd]));
    expect(sides.wallet).toBe(`-${sides.revenue}`);
    const before = await bank.gateway.api("GET", `/api/ledger?limit=1&after=${next}`);
    expect(((await before.json()) as { data: readonly LedgerLine[] }).data).toMatchObject([{ kind: "topup" }]);
  });

  test("is narrowed to one kind, page by page, each entry with the balance it left", async () => {
    const { gateway } = bank;
    for (const amountUsd of ["1", "2"]) {
      await post("/api/credits/topups", { amountUsd, note: "kind" });
      await (await gateway.post("/v1/chat/completions", HELLO)).text();
    }
    await post("/api/credits/adjustments", { amountUsd: "-0.5" });
    const read = async (query: string) =>
      (await (await gateway.api("GET", `/api/ledger?${query}`)).json()) as { data: LedgerLine[]; next: string };
    const all = await read("limit=500");
    for (const kind of ["topup", "adjustment", "charge"]) {
      const own = all.data.filter((line) => line.kind === kind);
      expect(await read(`limit=500&kind=${kind}`)).toEqual({ data: own, next: null });
      expect(own.length).toBeGreaterThan(0);
      for (const { entries } of own) expect(entries.length).toBe(2);
    }
    const { data, next } = await read("limit=1&kind=topup");
    expect(data).toMatchObject([{ amountUsd: "2" }]);
    expect((await read(`limit=1&kind=topup&after=${next}`)).data).toMatchObject([{ amountUsd: "1" }]);
    await expectError(await gateway.api("GET", "/api/ledger?kind=refund"), { status: 400, param: "kind" });
  });

  test("leaves as CSV whole, and nothing in it runs in a spreadsheet", async () => {
    const account = await newAccount();
    const notes = ["=1+1", "+49", "@SUM(A1)", '-2"3', "a, b", "plain"];
    for (const note of notes) await post(`/api/credits/topups?account=${account}`, { amountUsd: "1", note });
    await post(`/api/credits/adjustments?account=${account}`, { amountUsd: "-0.25" });
    const answer = await bank.gateway.api("GET", `/api/ledger/export?account=${account}`);
    expect(answer.headers.get("content-type")).toContain("text/csv");
    expect(answer.headers.get("content-disposition")).toMatch(/"ledger-account_\w+-\d{4}-\d\d-\d\d\.csv"/);
    const [head, ...rows] = (await answer.text()).trimEnd().split("\r\n");
    expect(head).toBe("createdAt,kind,amountUsd,balanceAfterUsd,requestId,model,note,id,actor");
    expect(rows).toHaveLength(7);
    expect(rows[0]).toMatch(/^\d{4}-[^,]+,adjustment,-0\.25,5\.75,,,,adjustment:/);
    const told = rows.slice(1).map((row) => /,,,(.*),topup:/.exec(row)?.[1]);
    expect(told.reverse()).toEqual(["'=1+1", "'+49", "'@SUM(A1)", `"'-2""3"`, '"a, b"', "plain"]);
    const few = await bank.gateway.api("GET", `/api/ledger/export?account=${account}&kind=adjustment`);
    expect((await few.text()).trimEnd().split("\r\n")).toHaveLength(2);
    for (const wrong of ["kind=x", "format=xlsx"])
      await expectError(await bank.gateway.api("GET", `/api/ledger/export?${wrong}`), { status: 400 });
  });

  test("is summed by the month, and a month opens its entries", async () => {
    const account = await newAccount();
    const read = async (path: string) =>
      (await (await bank.gateway.api("GET", `${path}account=${account}`)).json()) as { data: object[]; next: unknown };
    expect(await read("/api/ledger/months?")).toEqual({ data: [], next: null });
    await post(`/api/credits/topups?account=${account}`, { amountUsd: "999999.999999999" });
    await post(`/api/credits/topups?account=${account}`, { amountUsd: "0.000000002" });
    await post(`/api/credits/adjustments?account=${account}`, { amountUsd: "-0.25" });
    const { data, next } = await read("/api/ledger/months?");
    const month = { month: expect.stringMatching(/^\d{4}-\d\d$/), entries: 3, openingUsd: "0", chargesUsd: "0" };
    const sums = {
      topUpsUsd: "1000000.000000001",
      adjustmentsUsd: "-0.25",
      grantsUsd: "0",
      closingUsd: "999999.750000001",
    };
    expect({ data, next }).toEqual({ data: [{ ...month, ...sums }], next: null });
    const day = { day: expect.stringMatching(/^\d{4}-\d\d-\d\d$/), entries: 3, openingUsd: "0", chargesUsd: "0" };
    expect(await read("/api/ledger/days?")).toEqual({ data: [{ ...day, ...sums }], next: null });
    const { month: name } = data[0] as { month: string };
    expect((await read(`/api/ledger?month=${name}&`)).data).toHaveLength(3);
    expect((await read(`/api/ledger?month=${name}&kind=topup&`)).data).toHaveLength(2);
    expect((await read("/api/ledger?month=2001-01&")).data).toEqual([]);
    const file = await bank.gateway.api("GET", `/api/ledger/export?month=2001-01&account=${account}`);
    expect((await file.text()).trimEnd().split("\r\n")).toHaveLength(1);
    for (const wrong of ["ledger?month=2026-13", "ledger?month=x", "ledger/export?month=", "ledger/months?after=2026"])
      await expectError(await bank.gateway.api("GET", `/api/${wrong}`), { status: 400 });
  });

  test("charges are in the sums of their month as they are in the balance", async () => {
    await (await bank.gateway.post("/v1/chat/completions", HELLO)).text();
    const read = async (path: string) => (await bank.gateway.api("GET", path)).json();
    const { data: lines } = (await read("/api/ledger?limit=500&kind=charge")) as { data: readonly LedgerLine[] };
    const { data: months } = (await read("/api/ledger/months")) as { data: readonly Record<string, string>[] };
    const nano = (texts: readonly (string | undefined)[]): bigint =>
      texts.reduce((sum, text) => sum + decimal(text ?? "0", 9), 0n);
    expect(nano(months.map(({ chargesUsd }) => chargesUsd))).toBe(nano(lines.map(({ amountUsd }) => amountUsd)));
    expect(months[0]?.closingUsd).toBe(((await read("/api/credits")) as { postedUsd: string }).postedUsd);
  });

  test.each(["!", "%00", "a%20b"])("a page after %j is refused", async (after) => {
    const answer = await bank.gateway.api("GET", `/api/ledger?after=${after}`);
    await expectError(answer, { status: 400, param: "after" });
  });
});
