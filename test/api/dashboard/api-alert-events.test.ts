// The feed of events: operators see all, an owner those of their own account.

import { afterAll, beforeAll, expect, it } from "vitest";
import type { Observation } from "../../../src/core/alerts/kinds.ts";
import { createAlertEventStore } from "../../../src/store/alerts/events.ts";
import { openDb } from "../../../src/store/db.ts";
import { expectError } from "../../support/errors.ts";
import { startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { join, type Person } from "../../support/gateway/signed-in.ts";

let gateway: TestGateway;
let owner: Person;
let acme: string;

interface Feed {
  readonly data: readonly { readonly kind: string; readonly accountId: string | null; readonly text: string }[];
  readonly next: string | null;
}

beforeAll(async () => {
  gateway = await startGateway({ database: "file" });
  acme = ((await (await gateway.api("POST", "/api/accounts", { name: "Acme" })).json()) as { id: string }).id;
  owner = await join(gateway, { email: "owner@example.com", role: "owner", accountId: acme });
  const db = await openDb(gateway.database);
  const store = createAlertEventStore(db);
  const low = (accountId: string): Observation => ({
    ...{ kind: "balance.low", accountId, subject: accountId },
    data: { account: accountId, balanceUsd: "0.10", thresholdUsd: "1.00" },
  });
  const down = {
    kind: "provider.down",
    accountId: null,
    subject: "openai",
    data: { provider: "openai", error: "no answer" },
  };
  const observed = [low("default"), low(acme), down as Observation];
  for (const [index, each] of observed.entries()) await store.raise([each], Date.UTC(2026, 10, 19) + index);
  await db.close();
});
afterAll(() => gateway.stop());

async function feedOf(call: Person["call"], query = ""): Promise<Feed> {
  const answer = await call("GET", `/api/alerts/events${query}`);
  expect(answer.status).toBe(200);
  return (await answer.json()) as Feed;
}

it("operators see every event, newest first, or those of one account or kind", async () => {
  const all = await feedOf(gateway.api);
  expect(all.data.map(({ kind, accountId }) => [kind, accountId])).toEqual([
    ["provider.down", null],
    ["balance.low", acme],
    ["balance.low", "default"],
  ]);
  expect(all.data[0]).toMatchObject({
    ...{ severity: "critical", subject: "openai", text: "Provider openai is down: no answer", endedAt: null },
    data: { provider: "openai", error: "no answer" },
  });
  expect((await feedOf(gateway.api, "?account=default")).data).toHaveLength(1);
  expect((await feedOf(gateway.api, "?kind=provider.down")).data).toHaveLength(1);
  const first = await feedOf(gateway.api, "?limit=2");
  const second = await feedOf(gateway.api, `?limit=2&after=${first.next}`);
  expect([...first.data, ...second.data]).toEqual(all.data);
  expect(second.next).toBeNull();
});

it("an owner sees the events of their account, and no other account or the installation", async () => {
  expect((await feedOf(owner.call)).data).toMatchObject([{ kind: "balance.low", accountId: acme }]);
  expect((await feedOf(owner.call, "?kind=provider.down")).data).toEqual([]);
  await expectError(await owner.call("GET", "/api/alerts/events?account=default"), { status: 404, param: "account" });
});

it("refuses a kind that does not exist", async () => {
  const answer = await gateway.api("GET", "/api/alerts/events?kind=nothing");
  expect(answer.status).toBe(400);
  expect(await answer.text()).toContain("balance.low");
});
