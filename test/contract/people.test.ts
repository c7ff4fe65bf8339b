// Users, logins and one-time links, the same on every store: what happens once happens once, also at the same moment.

import { afterAll, beforeAll, expect, it } from "vitest";
import type { Db } from "../../src/core/db.ts";
import type { Invitation, User } from "../../src/core/people.ts";
import { UniqueViolation } from "../../src/core/store-errors.ts";
import { createAccountStore } from "../../src/store/accounts/accounts.ts";
import { createInvitationStore } from "../../src/store/accounts/invitations.ts";
import { createLoginStore } from "../../src/store/accounts/logins.ts";
import { createPasswordResetStore } from "../../src/store/accounts/resets.ts";
import { createUserStore } from "../../src/store/accounts/users.ts";
import { openDb } from "../../src/store/db.ts";
import { describeStores } from "../support/stores/stores.ts";

function user(name: string, role: User["role"] = "admin", createdAtMs = 1): User {
  const email = `${name}@example.com`;
  return {
    id: `user_${name}`,
    email,
    role,
    accountId: "a",
    teamIds: [],
    passwordHash: "h",
    createdAtMs,
    lastSignInAtMs: null,
    deactivatedAtMs: null,
  };
}

function invitation(name: string, wanted: Partial<Invitation> = {}): Invitation {
  const kind = {
    kind: "invitation",
    email: `${name}@example.com`,
    role: "admin",
    invitedBy: "admin@example.com",
  } as const;
  return {
    id: `i_${name}`,
    hash: `hash ${name}`,
    ...kind,
    accountId: "a",
    teamIds: [],
    createdAtMs: 1,
    expiresAtMs: 9,
    ...wanted,
  };
}

await describeStores("people", ({ url }) => {
  let db: Db;
  beforeAll(async () => {
    db = await openDb(url);
    await db.migrate();
    await createAccountStore(db).insert({ id: "a", name: "a", billingMode: null, createdAtMs: 1 });
  });
  afterAll(() => db.close());
  const users = () => createUserStore(db);
  const logins = () => createLoginStore(db);
  const resets = () => createPasswordResetStore(db);
  const invitations = () => createInvitationStore(db);

  it("of several set-up links one makes an operator, and then there is none", async () => {
    const links = ["s1", "s2", "s3"].map((name) => invitation(name, { kind: "setup", email: "", role: "operator" }));
    for (const link of links) await invitations().insert(link);
    expect(await users().hasOperator()).toBe(false);
    expect(await invitations().list({ limit: 9, after: null })).toEqual([]);
    const made = await Promise.all(links.map((link, at) => invitations().redeem(link, user(`s${at}`, "operator"))));
    expect(made.filter(Boolean)).toHaveLength(1);
    expect(await users().hasOperator()).toBe(true);
    expect(await Promise.all(links.map(({ hash }) => invitations().byHash(hash)))).toEqual([null, null, null]);
  });

  it("addresses are read by id, of those who are in the account", async () => {
    await createAccountStore(db).insert({ id: "b", name: "b", billingMode: null, createdAtMs: 1 });
    for (const [name, accountId] of [
      ["kay", "a"],
      ["lou", "b"],
    ] as const) {
      const link = invitation(name, { accountId });
      await invitations().insert(link);
      await invitations().redeem(link, { ...user(name), accountId });
    }
    const ids = ["user_kay", "user_lou", "user_none"];
    expect(await users().emailsOf("a", ids)).toEqual(new Map([["user_kay", "kay@example.com"]]));
    expect(await users().emailsOf("a", [])).toEqual(new Map());
    await users().delete("user_kay", { atMs: 1 });
    await users().delete("user_lou", { atMs: 1 });
  });

  it("an invitation is redeemed once, and not at all when the address is taken", async () => {
    const link = invitation("ada");
    await invitations().insert(link);
    expect(await invitations().byHash(link.hash)).toEqual(link);
    expect(await invitations().list({ limit: 9, after: null })).toEqual([link]);
    const tries = ["ada", "ada2", "ada3"].map((name) => invitations().redeem(link, user(name)));
    expect((await Promise.all(tries)).filter(Boolean)).toHaveLength(1);
    const second = invitation("again");
    await invitations().insert(second);
    const [taken] = (await users().list({ limit: 1, after: null })) as [User];
    await expect(invitations().redeem(second, { ...user("x"), email: taken.email })).rejects.toThrow(UniqueViolation);
    expect(await invitations().byHash(second.hash)).toEqual(second);
    expect([await invitations().delete(second.id), await invitations().delete(second.id)]).toEqual([true, false]);
  });

  it("a second invitation to an address takes the place of the first; set-up links stay", async () => {
    const setup = invitation("stays", { kind: "setup", email: "", role: "operator" });
    await invitations().insert(setup);
    for (const name of ["same1", "same2"]) await invitations().insert(invitation(name, { email: "same@example.com" }));
    expect(await invitations().byHash("hash same1")).toBeNull();
    expect((await invitations().byHash("hash same2"))?.email).toBe("same@example.com");
    expect(await invitations().byHash(setup.hash)).toEqual(setup);
  });

  it("of two invitations made at once to one address, one makes a user, and no other stays open", async () => {
    const email = "twice@example.com";
    const made = ["viewer", "admin"].map((role) => invitation(`twice-${role}`, { email, role: role as User["role"] }));
    await Promise.all(made.map((one) => invitations().insert(one)));
    const redeemed = await Promise.allSettled(
      made.map((one) => invitations().redeem(one, { ...user("twice", one.role), id: `user_${one.id}` })),
    );
    const [used] = redeemed.flatMap((one, index) => (one.status === "fulfilled" && one.value ? [made[index]] : []));
    expect(redeemed.filter((one) => one.status === "fulfilled" && one.value)).toHaveLength(1);
    expect(await users().byEmail(email)).toMatchObject({ role: used?.role });
    const listed = await invitations().list({ limit: 50, after: null });
    expect(listed.filter((one) => one.email === email)).toEqual([]);
  });

  it("of a user's links for a new password the last one works, once, and ends every login", async () => {
    const [one] = (await users().list({ limit: 1, after: null })) as [User];
    const link = (hash: string) => ({ userId: one.id, hash, createdAtMs: 1, expiresAtMs: 9 });
    await resets().insert(link("replaced"));
    await resets().insert(link("r"));
    expect(await resets().find("replaced")).toBeNull();
    expect(await resets().find("r")).toEqual({ reset: link("r"), user: one });
    expect(await resets().redeem(link("replaced"), "stolen")).toBe(false);
    await logins().insert({ hash: "open", userId: one.id, createdAtMs: 5, seenAtMs: 50 }, 0);
    const tries = await Promise.all(["one", "two", "three"].map((hash) => resets().redeem(link("r"), hash)));
    expect(tries.filter(Boolean)).toHaveLength(1);
    expect(await logins().find("open")).toBeNull();
    expect((await users().byId(one.id))?.passwordHash).toBe(["one", "two", "three"][tries.indexOf(true)]);
    await resets().insert(link("again"));
    await users().setPassword(one.id, "changed", "");
    expect(await resets().find("again")).toBeNull();
    expect(await users().byId("user_nobody")).toBeNull();
  });

  it("logins are found with their user, touched, and swept when stale", async () => {
    const [one] = (await users().list({ limit: 1, after: null })) as [User];
    const login = (hash: string, seenAtMs: number) => ({ hash, userId: one.id, createdAtMs: 5, seenAtMs });
    await logins().insert(login("old", 10), 0);
    await logins().insert(login("new", 20), 0);
    expect(await logins().find("new")).toEqual({
      login: login("new", 20),
      user: { ...one, lastSignInAtMs: 5 },
    });
    await logins().touch("new", 30);
    await logins().touch("new", 25);
    expect((await logins().find("new"))?.login.seenAtMs).toBe(30);
    await logins().insert(login("newest", 40), 11);
    expect(await logins().find("old")).toBeNull();
    await users().setPassword(one.id, "changed", "newest");
    expect(await logins().find("new")).toBeNull();
    expect((await logins().find("newest"))?.user.passwordHash).toBe("changed");
    await logins().delete("newest");
    expect(await logins().find("newest")).toBeNull();
  });

  it("two operators who delete each other leave one, and the last one stays", async () => {
    const link = invitation("second", { role: "operator" });
    await invitations().insert(link);
    await invitations().redeem(link, user("second", "operator", 2));
    const all = await users().list({ limit: 99, after: null });
    const operators = all.filter(({ role }) => role === "operator").map(({ id }) => id);
    expect(operators).toHaveLength(2);
    const outcomes = await Promise.all(operators.map((id) => users().delete(id, { atMs: 0 })));
    expect(outcomes.sort()).toEqual(["deleted", "last-operator"]);
    expect(await users().delete("user_nobody", { atMs: 0 })).toBe("missing");
  });

  it("lists page by page, newest first", async () => {
    const first = await users().list({ limit: 1, after: null });
    const rest = await users().list({ limit: 9, after: first[0]?.id ?? "" });
    const all = await users().list({ limit: 9, after: null });
    expect([...first, ...rest]).toEqual(all);
  });
});
