// Passkeys on every store: what an authenticator sends is believed only where all of it is right, and only once.

import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { createSignInLimiter } from "../../src/accounts/limits/sign-ins.ts";
import { createPasskeys, type Passkeys } from "../../src/accounts/passkeys.ts";
import { createPasswords } from "../../src/accounts/passwords.ts";
import { createResets } from "../../src/accounts/resets.ts";
import { createUsers, type Users } from "../../src/accounts/users.ts";
import type { Db } from "../../src/core/db.ts";
import type { Log } from "../../src/core/log.ts";
import type { User } from "../../src/core/people.ts";
import { createAccountStore } from "../../src/store/accounts/accounts.ts";
import { createIdentityStore } from "../../src/store/accounts/identities.ts";
import { createPasskeyChallengeStore, createPasskeyStore } from "../../src/store/accounts/passkeys.ts";
import { createPasswordResetStore } from "../../src/store/accounts/resets.ts";
import { createScimUserStore } from "../../src/store/accounts/scim-users.ts";
import { createUserStore } from "../../src/store/accounts/users.ts";
import { openDb } from "../../src/store/db.ts";
import { type Lies, makePasskey, usePasskey } from "../support/identity/authenticator.ts";
import { describeStores } from "../support/stores/stores.ts";

const ORIGIN = "https://llm.example.com";
const SITE = { origin: ORIGIN };
const PASSWORD = "violet anchor teapot 42";
const REACH = { accountId: "a", hasOperators: true };

await describeStores("passkeys", ({ url }) => {
  const passwords = createPasswords({ n: 1024, r: 1, p: 1 });
  let db: Db;
  let users: Users;
  let passkeys: Passkeys;
  let reasons: string[] = [];
  let nowMs = 1_000_000;
  let count = 0;
  beforeAll(async () => {
    db = await openDb(url);
    await db.migrate();
    await createAccountStore(db).insert({ id: "a", name: "a", billingMode: null, createdAtMs: 1 });
    const now = () => nowMs;
    const log: Log = {
      ...{ debug: () => undefined, info: () => undefined, error: () => undefined },
      warn: (fields) => reasons.push(String((fields as { reason?: string }).reason)),
    };
    const limiter = createSignInLimiter(now);
    users = createUsers({ store: createUserStore(db), passwords, now });
    const [store, challenges] = [createPasskeyStore(db), createPasskeyChallengeStore(db)];
    passkeys = createPasskeys({ store, challenges, users, limiter, log, now });
  });
  beforeEach(() => {
    reasons = [];
    // Nothing that another test did counts for the limits any more.
    nowMs += 3_600_000;
  });
  afterAll(() => db.close());

  async function newUser(role: User["role"] = "admin"): Promise<User> {
    count += 1;
    const user: User = {
      ...{ id: `user_${count}`, email: `u${count}@example.com`, role, accountId: "a", teamIds: [] },
      ...{ passwordHash: await passwords.hash(PASSWORD), createdAtMs: 1, lastSignInAtMs: null, deactivatedAtMs: null },
    };
    const identity = { id: `identity_${count}`, issuer: "i", subject: user.id, userId: user.id, email: user.email };
    await createIdentityStore(db).insert({ ...identity, createdAtMs: 1, lastSignInAtMs: 1 }, user);
    return user;
  }

  const loginOf = ({ id }: User) => ({ hash: `login ${id}`, userId: id, createdAtMs: 1, seenAtMs: 1 });
  const begin = (user: User) => passkeys.beginAdding({ user, login: loginOf(user) }, PASSWORD, SITE);

  async function add(user: User, lies: Lies = {}) {
    const { passkey, credential } = makePasskey(ORIGIN, await begin(user), lies);
    const added = await passkeys.add(user, { name: " Laptop ", credential }, SITE);
    return { passkey, added };
  }
  async function use({ passkey }: Pick<Awaited<ReturnType<typeof add>>, "passkey">, lies: Lies = {}): Promise<User> {
    const options = await passkeys.beginSignIn("1.2.3.4", SITE);
    return passkeys.signIn({ ...usePasskey(ORIGIN, options, passkey, lies), address: "1.2.3.4" }, SITE);
  }

  it("one that was added signs its user in, and nobody else", async () => {
    const [ada, other] = [await newUser(), await newUser()];
    const made = await add(ada);
    expect(made.added).toMatchObject({ name: "Laptop", host: "llm.example.com", lastUsedAtMs: null });
    expect((await use(made)).id).toBe(ada.id);
    const [kept] = await passkeys.ofUser(ada);
    expect(kept).toEqual({ ...made.added, lastUsedAtMs: nowMs });
    expect(await passkeys.ofUser(other)).toEqual([]);
    expect(await passkeys.remove(other, made.added.id)).toBe(false);
    expect(await passkeys.remove(ada, made.added.id)).toBe(true);
    await expect(use(made)).rejects.toMatchObject({ kind: "unauthenticated", details: { code: "wrong_passkey" } });
    expect(reasons).toEqual(["the passkey is unknown"]);
  });

  it.each<[string, Lies, RegExp]>([
    ["another site's origin", { origin: "https://llm.example.com.evil.test" }, /origin/],
    ["the same name over http", { origin: "http://llm.example.com" }, /origin/],
    ["another host", { host: "example.com" }, /RP ID/],
    ["nobody verified", { isVerified: false }, /could not be verified/],
    ["a page in a frame of another site", { crossOrigin: true }, /another site/],
    ["what was signed to make a passkey", { type: "webauthn.create" }, /type/],
    ["another user's name", { userHandle: Buffer.from("user_1").toString("base64url") }, /another user/],
    ["a wrong signature", { signature: Buffer.alloc(70).toString("base64url") }, /./],
  ])("%s signs nobody in", async (_name, lies, reason) => {
    await newUser();
    const made = await add(await newUser());
    await expect(use(made, lies)).rejects.toMatchObject({ details: { code: "wrong_passkey" } });
    expect(reasons.join()).toMatch(reason);
    expect((await use(made)).id).toBe(made.added.userId);
  });

  it.each<[string, Lies, RegExp]>([
    ["another site's origin", { origin: "https://evil.test" }, /origin/],
    ["another host", { host: "evil.test" }, /RP ID/],
    ["nobody verified", { isVerified: false }, /could not be verified/],
    ["a use instead of a new one", { type: "webauthn.get" }, /type/],
    [
      // The library would read a list of revoked ones from an address in it.
      "a certificate that nobody asked for",
      {
        statement: new Map<string, number | Buffer>([
          ["alg", -7],
          ["sig", Buffer.alloc(8)],
          ["x5c", Buffer.alloc(8)],
        ]),
      },
      /certificate/,
    ],
  ])("%s is not added", async (_name, lies, reason) => {
    const user = await newUser();
    await expect(add(user, lies)).rejects.toMatchObject({
      details: { code: "passkey_not_accepted" },
      message: expect.stringMatching(reason),
    });
    expect(await passkeys.ofUser(user)).toEqual([]);
  });

  it("a challenge works once, for five minutes, for whom and for what it was made", async () => {
    const [ada, other] = [await newUser(), await newUser()];
    const made = await add(ada);
    const options = await passkeys.beginSignIn("1.2.3.4", SITE);
    const signed = () => ({ ...usePasskey(ORIGIN, options, made.passkey), address: "1.2.3.4" });
    const answers = await Promise.allSettled([1, 2, 3].map(() => passkeys.signIn(signed(), SITE)));
    expect(answers.filter(({ status }) => status === "fulfilled")).toHaveLength(1);

    const late = await passkeys.beginSignIn("1.2.3.4", SITE);
    nowMs += 5 * 60_000;
    const tooLate = { ...usePasskey(ORIGIN, late, made.passkey), address: "1.2.3.4" };
    await expect(passkeys.signIn(tooLate, SITE)).rejects.toMatchObject({ kind: "unauthenticated" });

    const { credential } = makePasskey(ORIGIN, await begin(ada));
    await expect(passkeys.add(other, { name: "x", credential }, SITE)).rejects.toThrow(/challenge/);
    const forSignIn = { ...(await begin(ada)), challenge: (await passkeys.beginSignIn("1.2.3.4", SITE)).challenge };
    const body = { name: "x", credential: makePasskey(ORIGIN, forSignIn).credential };
    await expect(passkeys.add(ada, body, SITE)).rejects.toThrow(/challenge/);
    const made2 = { ...(await begin(ada)), rpId: "llm.example.com" };
    await expect(
      passkeys.signIn({ ...usePasskey(ORIGIN, made2, made.passkey), address: "1.2.3.4" }, SITE),
    ).rejects.toMatchObject({ kind: "unauthenticated" });
  });

  it("a counter that does not go up refuses the passkey, also where two come at once", async () => {
    const made = await add(await newUser(), { counter: 5 });
    await expect(use(made, { counter: 5 })).rejects.toMatchObject({ kind: "unauthenticated" });
    await expect(use(made, { counter: 0 })).rejects.toMatchObject({ kind: "unauthenticated" });
    const twice = await Promise.allSettled([use(made, { counter: 6 }), use(made, { counter: 6 })]);
    expect(twice.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect((await passkeys.ofUser({ id: made.added.userId } as User))[0]?.counter).toBe(6);
    expect(reasons).toHaveLength(3);
  });

  it("asks for the password, and refuses people who have none", async () => {
    const user = await newUser();
    const signedIn = { user, login: loginOf(user) };
    await expect(passkeys.beginAdding(signedIn, "wrong", SITE)).rejects.toMatchObject({
      details: { code: "wrong_password", param: "password" },
    });
    for (let guess = 0; guess < 9; guess += 1)
      await passkeys.beginAdding(signedIn, "wrong", SITE).catch(() => undefined);
    await expect(begin(user)).rejects.toMatchObject({ kind: "rateLimited" });
    const guest = { ...user, passwordHash: "none$x" };
    await expect(passkeys.beginAdding({ ...signedIn, user: guest }, "", SITE)).rejects.toMatchObject({
      details: { code: "no_password" },
    });
  });

  it("sites without a name have none", async () => {
    for (const origin of ["http://127.0.0.1:8787", "http://[::1]:8787"]) {
      await expect(passkeys.beginSignIn("1.2.3.4", { origin })).rejects.toMatchObject({
        details: { code: "passkeys_need_name" },
      });
    }
  });

  it("failures from one address are limited, whatever they try", async () => {
    const made = await add(await newUser());
    for (let guess = 0; guess < 50; guess += 1) {
      await use(made, { signature: "AAAA" }).catch(() => undefined);
    }
    await expect(use(made)).rejects.toMatchObject({ kind: "rateLimited" });
    nowMs += 6 * 60_000;
    await use(made);
  });

  const ends: readonly [string, (user: User) => Promise<unknown>][] = [
    ["their user is removed", (user) => users.delete(user.id)],
    [
      "an admin's link resets the password",
      async (user) => {
        const now = () => nowMs;
        const resets = createResets({
          store: createPasswordResetStore(db),
          users: createUserStore(db),
          passwords,
          now,
        });
        const made = await resets.makeFor({ id: user.id });
        await resets.redeem({ token: made?.token ?? "", password: `${PASSWORD} 2` });
      },
    ],
    [
      "SCIM deactivates the user, and they stay away when it lets them in again",
      async (user) => {
        const profile = { userName: user.email, externalId: null, displayName: null, name: {} };
        const set = (isActive: boolean) =>
          createScimUserStore(db).update(REACH, user.id, {
            atMs: nowMs,
            edit: () => ({ email: user.email, profile, isActive }),
          });
        expect([await set(false), await set(true)]).toEqual([null, null]);
      },
    ],
    ["the user becomes an operator", (user) => users.change(user.id, { role: "operator" })],
    [
      "an identity provider takes the password's place",
      (user) => createUserStore(db).setPassword(user.id, "none$x", ""),
    ],
  ];
  it.each(ends)("passkeys end when %s", async (_name, end) => {
    const user = await newUser();
    const made = await add(user);
    await use(made);
    const { credential } = makePasskey(ORIGIN, await begin(user));
    const known = await createUserStore(db).byId(user.id);
    await end(user);
    expect(await passkeys.ofUser(user)).toEqual([]);
    await expect(use(made)).rejects.toMatchObject({ kind: "unauthenticated" });
    // A passkey that was being made at that moment is not added either, unless the password is still the same.
    const after = await createUserStore(db).byId(user.id);
    const late = passkeys.add(user, { name: "late", credential }, SITE);
    if (after?.passwordHash === known?.passwordHash) await late;
    else await expect(late).rejects.toMatchObject({ details: { code: "passkey_not_accepted" } });
  });

  it("a new password of one's own keeps them, and a passkey is added once", async () => {
    const user = await newUser();
    const made = await add(user);
    const changed = await users.changePassword(
      { user, login: loginOf(user) },
      { current: PASSWORD, next: `${PASSWORD} 3` },
    );
    expect((await use(made)).id).toBe(user.id);
    await expect(
      createPasskeyStore(db).insert({ ...made.added, id: "passkey_again" }, changed.passwordHash),
    ).rejects.toThrow();
  });
});
