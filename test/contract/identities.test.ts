// Identities of users and sign-ins under way, the same on every store, also where several things happen at once.

import { afterAll, beforeAll, expect, it } from "vitest";
import type { Db } from "../../src/core/db.ts";
import type { Identity, User } from "../../src/core/people.ts";
import { UniqueViolation } from "../../src/core/store-errors.ts";
import { createAccountStore } from "../../src/store/accounts/accounts.ts";
import { createIdentityStore, createPendingSignInStore } from "../../src/store/accounts/identities.ts";
import { createUserStore } from "../../src/store/accounts/users.ts";
import { openDb } from "../../src/store/db.ts";
import { describeStores } from "../support/stores/stores.ts";

function user(name: string, role: User["role"], passwordHash = "none$x"): User {
  const email = `${name}@example.com`;
  return {
    id: `user_${name}`,
    email,
    role,
    accountId: "a",
    teamIds: [],
    passwordHash,
    createdAtMs: 1,
    lastSignInAtMs: null,
    deactivatedAtMs: null,
  };
}

function identityOf({ id, email }: User, subject = id): Identity {
  const issuer = "https://issuer.example.com";
  return { id: `identity_${subject}`, issuer, subject, userId: id, email, createdAtMs: 1, lastSignInAtMs: 1 };
}

await describeStores("identities", ({ url }) => {
  let db: Db;
  beforeAll(async () => {
    db = await openDb(url);
    await db.migrate();
    await createAccountStore(db).insert({ id: "a", name: "a", billingMode: null, createdAtMs: 1 });
  });
  afterAll(() => db.close());
  const identities = () => createIdentityStore(db);
  const users = () => createUserStore(db);

  it("of two users for one subject, one is made, and it goes with its identity", async () => {
    const [ada, other] = [user("ada", "admin"), user("other", "admin")];
    const insert = (each: User) => identities().insert(identityOf(each, "subject"), each);
    const made = await Promise.allSettled([insert(ada), insert(other)]);
    expect(made.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    const refused = made.find(({ status }) => status === "rejected") as PromiseRejectedResult;
    expect(refused.reason).toBeInstanceOf(UniqueViolation);
    const found = await identities().find("https://issuer.example.com", "subject");
    expect(found?.identity).toEqual(identityOf(found?.user as User, "subject"));
    expect(await users().delete(String(found?.user.id), { atMs: 0 })).toBe("deleted");
    expect(await identities().find("https://issuer.example.com", "subject")).toBeNull();
    expect(await identities().ofUser(String(found?.user.id))).toEqual([]);
  });

  it("the last operator with a password is neither demoted nor deleted, whatever others are", async () => {
    const [first, second, third] = [
      user("first", "operator", "scrypt$1"),
      user("second", "operator", "scrypt$2"),
      user("third", "operator"),
    ];
    for (const each of [first, second, third]) await identities().insert(identityOf(each), each);
    const demote = (each: User) => users().change(each.id, { role: "admin" }, { atMs: 0 });
    const after = await Promise.all([demote(first), demote(second), demote(third)]);
    const left = after.filter((each) => each?.role === "operator");
    expect(left).toHaveLength(1);
    expect(left[0]?.passwordHash).toMatch(/^scrypt/);
    expect(await users().delete(String(left[0]?.id), { atMs: 0 })).toBe("last-operator");
    expect(await users().delete(third.id, { atMs: 0 })).toBe("deleted");
  });

  it("a pending sign-in is given out once, and forgotten after its time", async () => {
    const pending = createPendingSignInStore(db);
    const one = { stateHash: "one", provider: "idp", returnTo: "/", linkTo: null, expiresAtMs: 100 };
    await pending.insert(one, 1);
    const taken = await Promise.all([pending.take("one"), pending.take("one"), pending.take("one")]);
    expect(taken.filter((each) => each !== null)).toEqual([one]);
    await pending.insert({ ...one, stateHash: "old" }, 1);
    await pending.insert({ ...one, stateHash: "new", linkTo: "user_x", expiresAtMs: 900 }, 200);
    expect([await pending.take("old"), await pending.take("new")]).toMatchObject([null, { linkTo: "user_x" }]);
  });
});
