// A database of version 0.1.0 with prices of its own: they count as before, its charges are verified as they were
// written, and charges with lines of their own stand beside them.

import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { DEFAULT_ACCOUNT } from "../../../src/accounts/accounts.ts";
import { post } from "../../../src/billing/post.ts";
import { openDb } from "../../../src/store/db.ts";
import { createLedgerStore } from "../../../src/store/ledger/ledger.ts";
import { createVersionStore } from "../../../src/store/versions/versions.ts";
import { HELLO, labYaml, startGateway } from "../../support/gateway/gateway.ts";
import { answers, startFakeProvider, USAGE } from "../../support/providers/fake-provider.ts";
import { hold, settle, topUp, usageOf } from "../../support/stores/ledger.ts";
import { chargesOf, decimal, owed } from "../../support/stores/money.ts";

const env = { SWITCHYARD_SECRET: "a-secret-for-both-starts" };
const PRICE = { input: "0.1", output: "0.3", cacheRead: "0.02", cacheWrite: "0.12" };

test("prices and charges of version 0.1.0 are read, charged and verified", async () => {
  const lab = await startFakeProvider(answers("ok"));
  const yaml = labYaml(lab.url, ["alpha"]);
  const database = `sqlite:${join(mkdtempSync(join(tmpdir(), "upgrade-")), "switchyard.db")}`;
  const before = await startGateway({ yaml, env, database });
  const { key } = before;
  await before.stop();
  const db = await openDb(database);
  const price = { input: 0.1, output: 0.3, cacheRead: 0.02, cacheWrite: 0.12 };
  const document = { models: [{ id: "beta", provider: "lab", price }] };
  await createVersionStore(db).insert({ number: 1, author: "0.1.0", atMs: Date.now(), note: "", document });
  // Writes of five minutes and of an hour had one price together, rounded up for each token.
  const mixed = { input: 3_000_000, output: 15_000_000, cacheRead: 300_000, cacheWrite: 4_500_001 };
  const usage = { ...usageOf(0, "old"), price: mixed, buckets: { input: 1, cacheRead: 2, cacheWrite: 3, output: 4 } };
  const ofAccount = { accountId: DEFAULT_ACCOUNT };
  const ops = [
    topUp("old-top-up", 1_000_000n, DEFAULT_ACCOUNT),
    hold("old", 100_000n, ofAccount),
    settle("old", 0, { ...ofAccount, usage, charge: 77_101n }),
  ];
  for (const op of ops) await createLedgerStore(db, "0.1.0").commit([op], post);
  await db.close();
  const after = await startGateway({ yaml, env, database });
  try {
    const headers = { authorization: `Bearer ${key}` };
    const ask = async (model: string) => {
      const response = await after.post(
        "/v1/chat/completions",
        { ...HELLO, model, service_profile: "direct" },
        headers,
      );
      const text = await response.text();
      expect(response.status, text).toBe(200);
    };
    await ask("beta");
    const searches = { usage: { ...USAGE, num_search_queries: 2 } };
    const searching = { id: "gamma", provider: "lab", price: { input: 1, output: 1, search: 0.005 } };
    expect((await after.api("POST", "/api/models", searching)).status).toBeLessThan(300);
    lab.once("gamma", answers("ok", searches));
    await ask("gamma");
    const charged = (await chargesOf(after)).map(({ amountUsd }) => -decimal(amountUsd, 9));
    const withSearches = ((17n * 1_000_000n + 2n * 5_000_000_000n) * 105n) / 100_000n;
    expect(new Set(charged)).toEqual(new Set([77_101n, owed({ input: 12, output: 5 }, PRICE), withSearches]));
    expect(await (await after.api("GET", "/api/ledger/verify")).json()).toMatchObject({ ok: true, openHolds: 0 });
  } finally {
    await after.stop();
    await lab.close();
  }
});
