// A database as version 0.1.0 left it: its accounts are organisations now, without a change for people, keys and money.

import { hash } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { hashKeyText, makeKeyText } from "../../src/accounts/key.ts";
import { createPasswords } from "../../src/accounts/passwords.ts";
import { makeToken } from "../../src/accounts/token.ts";
import { transactionHash } from "../../src/billing/draft.ts";
import type { Db } from "../../src/core/db.ts";
import { openDb } from "../../src/store/db.ts";
import { migrate, readMigrations } from "../../src/store/migrate.ts";
import { HELLO, startGateway, type TestGateway } from "../support/gateway/gateway.ts";
import { PASSWORD, signIn, visit } from "../support/gateway/signed-in.ts";
import { describeStores } from "../support/stores/stores.ts";

/** The last migration of 0.1.0. */
const LAST = "0033_request_overhead";

await describeStores("a database of version 0.1.0", ({ url, isShared }) => {
  let gateway: TestGateway | undefined;
  const key = makeKeyText();
  const cookie = makeToken();
  const invitation = makeToken();
  beforeAll(async () => {
    if (!isShared) return;
    const db = await openDb(url);
    await migrate(
      db,
      readMigrations(db.kind).filter(({ name }) => name <= LAST),
    );
    await writeOld(db, { key, cookie, invitation });
    await db.close();
    gateway = await startGateway({ database: url, creditsUsd: null });
  });
  afterAll(() => gateway?.stop());
  const open = (): TestGateway => gateway as TestGateway;
  const json = async (answer: Response): Promise<unknown> => {
    expect(answer.status).toBeLessThan(300);
    return answer.json();
  };

  it.runIf(isShared)("people are who they were: an owner is an admin, still signed in, and nobody else's", async () => {
    const owner = visit(open(), cookie);
    expect(await json(await owner.call("GET", "/api/session"))).toMatchObject({
      user: { email: "owner@acme.example", role: "admin", accountId: "acme", teams: [] },
      setupNeeded: false,
    });
    const again = await signIn(open(), "owner@acme.example");
    expect(await json(await again.call("GET", "/api/keys"))).toMatchObject({ data: [{ name: "production" }] });
    expect((await again.call("GET", "/api/settings")).status).toBe(403);
    const operator = await signIn(open(), "operator@example.com");
    expect((await operator.call("GET", "/api/settings")).status).toBe(200);
    const body = { token: invitation, password: PASSWORD };
    const joined = await json(await visit(open()).call("POST", "/api/invitations/accept", body));
    expect(joined).toMatchObject({ user: { role: "admin", accountId: "acme" } });
  });

  it.runIf(isShared)("keys and credit go on, the hold of the old process is free, and budgets count", async () => {
    const bearer = { authorization: `Bearer ${key}` };
    const account = "?account=acme";
    expect(await json(await open().api("GET", `/api/credits${account}`))).toMatchObject({
      ...{ postedUsd: "0.5", heldUsd: "0" },
    });
    expect((await open().post("/v1/chat/completions", HELLO, bearer)).status).toBe(200);
    const budget = { name: "Everything", scope: "account", amountUsd: "0.0000001", period: "month" };
    await json(await open().api("POST", `/api/budgets${account}`, budget));
    expect((await open().post("/v1/chat/completions", HELLO, bearer)).status).toBe(402);
    const team = (await json(await open().api("POST", `/api/teams${account}`, { name: "search" }))) as { id: string };
    await json(await open().api("PATCH", `/api/keys/key_old${account}`, { team: team.id }));
    expect(await json(await open().api("GET", "/api/ledger/verify"))).toMatchObject({ ok: true, problems: [] });
  });
});

interface Old {
  readonly key: string;
  readonly cookie: string;
  readonly invitation: string;
}

/** Rows as that version wrote them, in its columns. */
async function writeOld(db: Db, { key, cookie, invitation }: Old): Promise<void> {
  const atMs = Date.now() - 1_000;
  const passwordHash = await createPasswords({ n: 1024, r: 1, p: 1 }).hash(PASSWORD);
  const sha = (text: string): string => hash("sha256", text, "hex");
  const person =
    "INSERT INTO users (id, email, role, account_id, password_hash, created_at) VALUES ($1, $2, $3, $4, $5, $6)";
  const topUp = {
    ...({ id: "topup:first", kind: "topup", accountId: "acme", sequence: 1, balanceAfter: 500_000_000n } as const),
    ...{ holdId: null, note: "first", actor: null },
    entries: [
      { book: "wallet", amount: 500_000_000n },
      { book: "clearing", amount: -500_000_000n },
    ],
  } as const;
  const chain = transactionHash(topUp, null, "");
  await db.batch([
    {
      sql: "INSERT INTO accounts (id, name, created_at) VALUES ('default', 'default', $1), ('acme', 'Acme', $1)",
      params: [atMs],
    },
    { sql: person, params: ["user_o", "operator@example.com", "operator", "default", passwordHash, atMs] },
    { sql: person, params: ["user_a", "owner@acme.example", "owner", "acme", passwordHash, atMs] },
    {
      sql: "INSERT INTO sessions (hash, user_id, created_at, seen_at) VALUES ($1, 'user_a', $2, $2)",
      params: [sha(cookie), atMs],
    },
    {
      sql: `INSERT INTO invitations (id, hash, kind, email, role, account_id, created_at, expires_at)
        VALUES ('i', $1, 'invitation', 'new@acme.example', 'owner', 'acme', $2, $3)`,
      params: [sha(invitation), atMs, atMs + 86_400_000],
    },
    {
      sql: `INSERT INTO api_keys (id, account_id, name, prefix, hash, created_at)
        VALUES ('key_old', 'acme', 'production', $1, $2, $3)`,
      params: [key.slice(0, 16), hashKeyText(key), atMs],
    },
    {
      sql: "INSERT INTO wallets (account_id, posted, held, sequence, hash) VALUES ('acme', 500000000, 7, 1, $1)",
      params: [chain],
    },
    {
      sql: `INSERT INTO ledger_transactions (account_id, sequence, id, kind, balance_after, note, hash, created_at)
        VALUES ('acme', 1, $1, $2, 500000000, $3, $4, $5)`,
      params: [topUp.id, topUp.kind, topUp.note, chain, atMs],
    },
    ...topUp.entries.map(({ book, amount }) => ({
      sql: "INSERT INTO ledger_entries (account_id, sequence, book, amount) VALUES ('acme', 1, $1, $2)",
      params: [book, amount],
    })),
    {
      sql: `INSERT INTO holds (id, account_id, key_id, amount, state, is_limited, owner, created_at)
        VALUES ('hold_old', 'acme', 'key_old', 7, 'open', 0, 'gone', $1)`,
      params: [atMs],
    },
  ]);
}
