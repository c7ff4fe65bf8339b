// Users as an identity provider manages them. Users whom it does not manage yet are found by their e-mail address.

import type { Db, Queryable, SqlRow } from "../../core/db.ts";
import type {
  PeopleFilter,
  ScimEdit,
  ScimProblem,
  ScimRange,
  ScimSearch,
  ScimUser,
  ScimUserStore,
  ScimUserWish,
  User,
} from "../../core/people.ts";
import { UniqueViolation } from "../../core/store-errors.ts";
import { forUpdateSql, inListSql, listValue } from "../dialect.ts";
import { newConditions } from "../requests/conditions.ts";
import { BUMP_REVISION } from "./revision.ts";
import {
  deleteUser,
  END_PASSKEYS,
  END_RESETS,
  HAS_TEXT,
  INSERT_USER,
  isLastWayBack,
  lockLeaders,
  toUser,
  USER_COLUMNS,
  userParams,
} from "./users.ts";

export function createScimUserStore(db: Db): ScimUserStore {
  return {
    find: async (reach, search, range) => {
      const { where, params } = conditionsOf(reach, search);
      const [counted] = await db.query(`SELECT COUNT(*) AS people FROM ${JOINED} WHERE ${where}`, params);
      return { total: Number(counted?.people), rows: await read(db, db.kind, { where, params, range }) };
    },
    insert: (user, wish) => orTaken(() => db.transaction((tx) => insert(tx, user, wish))),
    update: (reach, id, edit) => orTaken(() => db.transaction((tx) => update(db, tx, { reach, id, ...edit }))),
    delete: (reach, id, atMs) =>
      db.transaction(async (tx) => {
        const found = await single(tx, db.kind, { reach, id });
        if (found === null) return "missing";
        await keepNames(tx, found);
        const outcome = await deleteUser(db, tx, { id, atMs });
        if (outcome === "deleted") return null;
        await tx.query(FORGET_NAMES, [id]);
        return outcome === "missing" ? outcome : "last-operator";
      }),
    endedNames: async () => {
      const names = new Map<string, Set<string>>();
      for (const { account_id: account, name } of await db.query("SELECT account_id, name FROM ended_names")) {
        const known = names.get(String(account)) ?? new Set();
        names.set(String(account), known.add(String(name)));
      }
      return names;
    },
  };
}

async function orTaken(write: () => Promise<ScimProblem | null>): Promise<ScimProblem | null> {
  try {
    return await write();
  } catch (error) {
    if (error instanceof UniqueViolation) return "taken";
    throw error;
  }
}

async function insert(tx: Queryable, user: User, wish: ScimUserWish): Promise<ScimProblem | null> {
  if (await isNameTaken(tx, user, wish)) return "taken";
  await tx.query(INSERT_USER, userParams(user));
  await writeProfile(tx, user, { wish, atMs: user.createdAtMs });
  // Somebody of the same address who is gone was this person.
  await tx.query(FORGET_NAMESAKE, [user.accountId, user.email]);
  if (!wish.isActive) await keepNames(tx, { user, profile: wish.profile });
  await tx.query(BUMP_REVISION.sql);
  return null;
}

interface UserEdit extends ScimEdit<ScimUser, ScimUserWish> {
  readonly reach: PeopleFilter;
  readonly id: string;
}

async function update(db: Db, tx: Queryable, { reach, id, edit, atMs }: UserEdit): Promise<ScimProblem | null> {
  const leaders = await lockLeaders(db, tx);
  await tx.query(`SELECT id FROM users WHERE id = $1${forUpdateSql(db.kind)}`, [id]);
  const found = await single(tx, db.kind, { reach, id });
  if (found === null) return "missing";
  const { user } = found;
  const wish = edit(found);
  const wasActive = user.deactivatedAtMs === null;
  if (wasActive && !wish.isActive && isLastWayBack(leaders, id)) return "last-operator";
  if (await isNameTaken(tx, user, wish)) return "taken";
  await tx.query("UPDATE users SET email = $2 WHERE id = $1", [id, wish.email]);
  await writeProfile(tx, user, { wish, atMs });
  const changed = { ...found, user: { ...user, email: wish.email }, profile: wish.profile };
  if (wasActive !== wish.isActive) await (wish.isActive ? activate(tx, id) : deactivate(tx, changed, atMs));
  else if (!wasActive) await keepNewNames(tx, changed);
  return null;
}

/** Everything that lets the user in ends in the transaction of the caller. */
async function deactivate(tx: Queryable, found: ScimUser, atMs: number): Promise<void> {
  const { id } = found.user;
  await tx.query("UPDATE users SET deactivated_at = $2 WHERE id = $1", [id, atMs]);
  await tx.query("DELETE FROM sessions WHERE user_id = $1", [id]);
  await tx.query(END_RESETS, [id]);
  await tx.query(END_PASSKEYS, [id]);
  await tx.query(END_KEYS, [id, atMs]);
  await keepNames(tx, found);
  await tx.query(BUMP_REVISION.sql);
}

/** Keys that were revoked before, or by somebody else meanwhile, stay revoked. */
async function activate(tx: Queryable, id: string): Promise<void> {
  await tx.query("UPDATE users SET deactivated_at = NULL WHERE id = $1", [id]);
  await tx.query(RESTORE_KEYS, [id]);
  await tx.query(FORGET_NAMES, [id]);
  await tx.query(BUMP_REVISION.sql);
}

/** Somebody who is away is still renamed. */
async function keepNewNames(tx: Queryable, found: ScimUser): Promise<void> {
  await keepNames(tx, found);
  await tx.query(BUMP_REVISION.sql);
}

/** Keeps every name by which a token of an identity provider may call this person. */
async function keepNames(tx: Queryable, { user, profile }: Pick<ScimUser, "user" | "profile">): Promise<void> {
  const identities = await tx.query("SELECT issuer, subject FROM identities WHERE user_id = $1", [user.id]);
  const names = [
    ...[user.email, profile.userName, profile.externalId ?? user.email],
    ...identities.map(({ issuer, subject }) => `${issuer} ${subject}`),
  ];
  for (const name of new Set(names.map((each) => each.toLowerCase()))) {
    await tx.query(KEEP_NAME, [user.accountId, name, user.id]);
  }
}

/** True for a user name that another user of the account has as name or address. */
async function isNameTaken(tx: Queryable, { id, accountId }: User, { profile }: ScimUserWish): Promise<boolean> {
  const sql = `SELECT u.id FROM ${JOINED} WHERE u.account_id = $1 AND u.id <> $2 AND ${NAME_KEY} = $3 LIMIT 1`;
  return (await tx.query(sql, [accountId, id, profile.userName.toLowerCase()])).length > 0;
}

interface WrittenProfile {
  readonly wish: ScimUserWish;
  readonly atMs: number;
}

async function writeProfile(tx: Queryable, { id, accountId }: User, { wish, atMs }: WrittenProfile): Promise<void> {
  const { userName, externalId, displayName } = wish.profile;
  const json = JSON.stringify(wish.profile);
  await tx.query(WRITE_PROFILE, [id, accountId, userName.toLowerCase(), externalId, displayName, json, atMs]);
}

const WRITE_PROFILE = `INSERT INTO scim_users
  (user_id, account_id, name_key, external_id, display_name, profile_json, changed_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (user_id) DO UPDATE SET account_id = $2, name_key = $3,
  external_id = $4, display_name = $5, profile_json = $6, changed_at = $7`;

const END_KEYS = `UPDATE api_keys SET revoked_at = $2, ended_with_member = 1
  WHERE member_id = $1 AND revoked_at IS NULL AND ${HAS_TEXT}`;

const RESTORE_KEYS = `UPDATE api_keys SET revoked_at = NULL, ended_with_member = 0
  WHERE member_id = $1 AND ended_with_member = 1`;

const KEEP_NAME = `INSERT INTO ended_names (account_id, name, user_id) VALUES ($1, $2, $3)
  ON CONFLICT (account_id, name) DO UPDATE SET user_id = $3`;

const FORGET_NAMES = "DELETE FROM ended_names WHERE user_id = $1";

const FORGET_NAMESAKE = `DELETE FROM ended_names WHERE user_id IN
  (SELECT user_id FROM ended_names WHERE account_id = $1 AND name = $2)`;

const JOINED = "users u LEFT JOIN scim_users s ON s.user_id = u.id AND s.account_id = u.account_id";

const NAME_KEY = "COALESCE(s.name_key, u.email)";

const SEARCHED: Readonly<Record<keyof ScimSearch, string>> = {
  id: "u.id = ?",
  userName: `${NAME_KEY} = ?`,
  email: "u.email = ?",
  externalId: "s.external_id = ?",
  displayName: "s.display_name = ?",
  member: "u.id <> u.id AND u.id = ?",
};

const IN_LOWER_CASE: ReadonlySet<string> = new Set(["userName", "email"]);

function conditionsOf({ accountId, hasOperators }: PeopleFilter, search: ScimSearch) {
  const where = newConditions();
  where.add("u.account_id = ?", accountId);
  if (!hasOperators) where.add("u.role <> 'operator'");
  for (const [name, value] of Object.entries(search) as [keyof ScimSearch, string][]) {
    where.add(SEARCHED[name], IN_LOWER_CASE.has(name) ? value.toLowerCase() : value);
  }
  return { where: where.sql(), params: where.params };
}

interface WantedUsers {
  readonly where: string;
  readonly params: readonly (string | number | bigint | null)[];
  readonly range: ScimRange;
}

async function read(
  tx: Queryable,
  kind: Db["kind"],
  { where, params, range }: WantedUsers,
): Promise<readonly ScimUser[]> {
  const columns = USER_COLUMNS.split(", ").map((column) => `u.${column}`);
  const rows = await tx.query(
    `SELECT ${columns.join(", ")}, s.profile_json, s.changed_at FROM ${JOINED} WHERE ${where}
     ORDER BY u.created_at, u.id LIMIT $${params.length + 1} OFFSET $${params.length + 2}`,
    [...params, range.limit, range.offset],
  );
  const groups = await tx.query(groupsSql(kind), [
    listValue(
      kind,
      rows.map(({ id }) => String(id)),
    ),
  ]);
  return rows.map((row) => toScimUser(row, groups));
}

async function single(
  tx: Queryable,
  kind: Db["kind"],
  { reach, id }: { readonly reach: PeopleFilter; readonly id: string },
): Promise<ScimUser | null> {
  const [found = null] = await read(tx, kind, { ...conditionsOf(reach, { id }), range: { offset: 0, limit: 1 } });
  return found;
}

function groupsSql(kind: Db["kind"]): string {
  return `SELECT m.user_id, g.id, g.account_id, g.display_name FROM scim_members m
    JOIN scim_groups g ON g.id = m.group_id WHERE ${inListSql(kind, "m.user_id", "$1")} ORDER BY g.display_name`;
}

function toScimUser(row: SqlRow, groups: readonly SqlRow[]): ScimUser {
  const user = toUser(row);
  const own = groups.filter((group) => group.user_id === user.id && group.account_id === user.accountId);
  const unmanaged = { userName: user.email, externalId: null, displayName: null, name: {} };
  return {
    user,
    profile: row.profile_json == null ? unmanaged : (JSON.parse(String(row.profile_json)) as ScimUser["profile"]),
    changedAtMs: Number(row.changed_at ?? user.createdAtMs),
    groups: own.map(({ id, display_name: name }) => ({ id: String(id), displayName: String(name) })),
  };
}
