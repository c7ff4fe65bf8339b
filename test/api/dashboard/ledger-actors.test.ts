// Who moved money: said by what they came with, never by what they send; shown to operators, not to owners.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectError } from "../../support/errors.ts";
import { HELLO, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { join, type Person, setUpOperator } from "../../support/gateway/signed-in.ts";

interface Line {
  readonly kind: string;
  readonly amountUsd: string;
  readonly actor: string | null;
}

let gateway: TestGateway;
let ada: Person;
let grace: Person;
let owner: Person;
let account: string;
beforeAll(async () => {
  gateway = await startGateway();
  ada = await setUpOperator(gateway, "ada@example.com");
  grace = await join(gateway, { email: "grace@example.com", role: "operator" });
  const made = await gateway.api("POST", "/api/accounts", { name: "Acme" });
  account = ((await made.json()) as { id: string }).id;
  owner = await join(gateway, { email: "owner@acme.example", role: "owner", accountId: account });
});
afterAll(() => gateway.stop());

const linesOf = async (answer: Response): Promise<readonly Line[]> =>
  ((await answer.json()) as { data: readonly Line[] }).data;

describe("an entry of the ledger", () => {
  it("has who made it, whether signed in or with the admin token", async () => {
    const path = `?account=${account}`;
    const topUp = await ada.call("POST", `/api/credits/topups${path}`, { amountUsd: "5" });
    expect(await topUp.json()).toMatchObject({ kind: "topup", actor: "ada@example.com" });
    await grace.call("POST", `/api/credits/adjustments${path}`, { amountUsd: "-1" });
    await gateway.api("POST", `/api/credits/topups${path}`, { amountUsd: "2" });
    const lines = await linesOf(await ada.call("GET", `/api/ledger${path}`));
    expect(lines.map(({ kind, amountUsd, actor }) => [kind, amountUsd, actor])).toEqual([
      ["topup", "2", "admin token"],
      ["adjustment", "-1", "grace@example.com"],
      ["topup", "5", "ada@example.com"],
    ]);
    const file = await (await gateway.api("GET", `/api/ledger/export${path}`)).text();
    const [head, ...rows] = file.trimEnd().split("\r\n");
    expect(head?.split(",").at(-1)).toBe("actor");
    expect(rows.map((row) => row.split(",").at(-1))).toEqual(["admin token", "grace@example.com", "ada@example.com"]);
  });

  it("says operator to an owner, in the list and in the file", async () => {
    const lines = await linesOf(await owner.call("GET", "/api/ledger"));
    expect(lines.map(({ actor }) => actor)).toEqual(["operator", "operator", "operator"]);
    const file = await (await owner.call("GET", "/api/ledger/export")).text();
    expect(file).toMatch(/,operator\r\n$/);
    expect(file).not.toMatch(/@|admin token/);
  });

  it("of the gateway itself has nobody", async () => {
    await (await gateway.post("/v1/chat/completions", HELLO)).text();
    const [charge] = await linesOf(await gateway.api("GET", "/api/ledger?kind=charge&limit=1"));
    expect(charge).toMatchObject({ kind: "charge", actor: null });
  });

  it("made again under one key stays with who made it first", async () => {
    const send = (person: Person): Promise<Response> =>
      person.call("POST", "/api/credits/topups", { amountUsd: "3" }, { "idempotency-key": "invoice-7" });
    const first = await (await send(ada)).json();
    expect(first).toMatchObject({ actor: "ada@example.com" });
    expect(await (await send(grace)).json()).toEqual(first);
  });

  it.each(["topups", "adjustments"])("takes no name from the body of %s", async (what) => {
    const body = { amountUsd: "1", actor: "mallory@example.com" };
    await expectError(await ada.call("POST", `/api/credits/${what}`, body), { status: 400, param: "actor" });
    await expectError(await owner.call("POST", `/api/credits/${what}`, { amountUsd: "1" }), { status: 403 });
  });
});
