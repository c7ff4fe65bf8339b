// Users in the database.

import type { Page } from "../../core/accounts.ts";
import type { Db, Queryable, SqlRow, SqlValue } from "../../core/db.ts";
import {
  type ChangeOptions,
  hasPassword,
  type PeopleFilter,
  USER_ROLES,
  type User,
  type UserGrant,
  type UserRole,
  type UserStore,
} from "../../core/people.ts";
import { forUpdateSql, inListSql, listValue } from "../dialect.ts";
import { newConditions } from "../requests/conditions.ts";
import { BUMP_REVISION } from "./revision.ts";

/** E-mail addresses arrive in lower case; the table keeps them unique. */
export function createUserStore(db: Db): UserStore {
  return {
    hasOperator: async () => (await db.query("SELECT id FROM users WHERE role = 'operator' LIMIT 1")).length > 0,
    byEmail: async (email) => {
      const [row] = await db.query(`SELECT ${USER_COLUMNS} FROM users WHERE email = $1`, [email]);
      return row === undefined ? null : toUser(row);
    },
    byId: async (id) => {
      const [row] = await db.query(`SELECT ${USER_COLUMNS} FROM users WHERE id = $1`, [id]);
      return row === undefined ? null : toUser(row);
    },
    list: async (page, only) => {
      const { sql, params } = peoplePage(`SELECT ${USER_COLUMNS} FROM users`, { page, only });
      return (await db.query(sql, params)).map(toUser);
    },
    emailsOf: async (accountId, ids) => {
      if (ids.length === 0) return new Map();
      const rows = await db.query(emailsSql(db.kind), [accountId, listValue(db.kind, ids)]);
      return new Map(rows.map(({ id, email }) => [String(id), String(email)]));
    },
    change: (id, grant, options) => db.transaction((tx) => changeUser(db, tx, { id, grant, ...options })),
    setPassword: async (id, passwordHash, keptSession) => {
      // Without a password, an identity provider alone decides who signs in.
      const ended = hasPassword(passwordHash) ? [] : [{ sql: END_PASSKEYS, params: [id] }];
      await db.batch([
        { sql: SET_PASSWORD, params: [passwordHash, id], expectRows: 1 },
        { sql: END_RESETS, params: [id] },
        ...ended,
        { sql: "DELETE FROM sessions WHERE user_id = $1 AND hash <> $2", params: [id, keptSession] },
      ]);
    },
    delete: (id, options) => db.transaction((tx) => deleteUser(db, tx, { id, ...options })),
  };
}

interface UserRemoval extends ChangeOptions {
  readonly id: string;
}

/** Deletes a user within a transaction. */
export async function deleteUser(
  db: Db,
  tx: Queryable,
  { id, atMs, keepsAdmin = false }: UserRemoval,
): ReturnType<UserStore["delete"]> {
  const leaders = await lockLeaders(db, tx);
  if (isLastWayBack(leaders, id)) return "last-operator";
  if (keepsAdmin && isLastAdmin(leaders, id)) return "last-admin";
  const deleted = await tx.query("DELETE FROM users WHERE id = $1 RETURNING id", [id]);
  if (deleted.length === 0) return "missing";
  for (const table of ["sessions", "identities", "passkeys", "scim_users", "scim_members"]) {
    await tx.query(`DELETE FROM ${table} WHERE user_id = $1`, [id]);
  }
  await tx.query(END_RESETS, [id]);
  await tx.query(REVOKE_KEYS, [id, atMs, ""]);
  await tx.query(BUMP_REVISION.sql);
  return "deleted";
}

/** Locks operators and admins in one order: of two that delete or demote each other, only one may succeed. */
export async function lockLeaders(db: Db, tx: Queryable): Promise<readonly User[]> {
  const where = "role = 'operator' OR account_role = 'admin'";
  const rows = await tx.query(`SELECT ${USER_COLUMNS} FROM users WHERE ${where} ORDER BY id${forUpdateSql(db.kind)}`);
  return rows.map(toUser);
}

/** True for an operator beside whom no other could sign in while identity providers are down. */
export function isLastWayBack(leaders: readonly User[], id: string): boolean {
  const operators = leaders.filter(({ role }) => role === "operator");
  const others = operators.filter((user) => user.id !== id && isActive(user) && hasPassword(user.passwordHash));
  return others.length === 0 && operators.some((user) => user.id === id);
}

function isLastAdmin(leaders: readonly User[], id: string): boolean {
  const found = leaders.find((user) => user.id === id && user.role === "admin");
  return found !== undefined && !leaders.some((user) => user.id !== id && isAdminOf(user, found.accountId));
}

function isActive({ deactivatedAtMs }: User): boolean {
  return deactivatedAtMs === null;
}

function isAdminOf(user: User, account: string): boolean {
  return user.role === "admin" && user.accountId === account && isActive(user);
}

export interface UserUpdate extends ChangeOptions {
  readonly id: string;
  readonly grant: UserGrant;
}

/** Changes a user within a transaction. */
export async function changeUser(db: Db, tx: Queryable, wanted: UserUpdate): Promise<User | null> {
  const { id, grant, atMs, keepsAdmin = false } = wanted;
  const leaders = await lockLeaders(db, tx);
  const [row] = await tx.query(`SELECT ${USER_COLUMNS} FROM users WHERE id = $1${forUpdateSql(db.kind)}`, [id]);
  if (row === undefined) return null;
  const user = toUser(row);
  const isKept = isLastWayBack(leaders, id) || (keepsAdmin && isLastAdmin(leaders, id));
  const accountId = grant.accountId ?? user.accountId;
  const leaves = accountId !== user.accountId;
  const changed = {
    ...user,
    role: isKept ? user.role : (grant.role ?? user.role),
    accountId,
    teamIds: grant.teamIds ?? (leaves ? [] : user.teamIds),
  };
  const { role, account_role } = roleColumns(changed.role);
  await tx.query(CHANGE, [id, role, account_role, accountId, JSON.stringify(changed.teamIds)]);
  // Sessions, reset links and passkeys may be in the hands of the admin who invited this user.
  if (changed.role === "operator" && user.role !== "operator") {
    await tx.query(END_RESETS, [id]);
    await tx.query(END_PASSKEYS, [id]);
    await tx.query("DELETE FROM sessions WHERE user_id = $1", [id]);
  }
  if (leaves) {
    await tx.query(REVOKE_KEYS, [id, atMs, accountId]);
    await tx.query(BUMP_REVISION.sql);
  }
  return changed;
}

function emailsSql(kind: Db["kind"]): string {
  return `SELECT id, email FROM users WHERE account_id = $1 AND ${inListSql(kind, "id", "$2")}`;
}

const CHANGE = "UPDATE users SET role = $2, account_role = $3, account_id = $4, teams_json = $5 WHERE id = $1";

/** Older builds know the first column, and take everybody who is no operator for the admin of one account. */
export function roleColumns(role: UserRole): { readonly role: string; readonly account_role: string } {
  return role === "operator" ? { role, account_role: "admin" } : { role: "owner", account_role: role };
}

/** A role of a later version may do the least. */
export function toRole(row: SqlRow): UserRole {
  if (row.role === "operator") return "operator";
  return USER_ROLES.find((role) => role === row.account_role && role !== "operator") ?? "viewer";
}

export function toTeamIds(row: SqlRow): readonly string[] {
  return JSON.parse(String(row.teams_json ?? "[]")) as readonly string[];
}

/** A key that stands for tokens of an identity provider would stay revoked for somebody who comes back. */
export const HAS_TEXT = "prefix LIKE 'sk-service-%'";

/** Keys in other accounts than the given one. */
const REVOKE_KEYS = `UPDATE api_keys SET revoked_at = COALESCE(revoked_at, $2), ended_with_member = 0
  WHERE member_id = $1 AND account_id <> $3 AND ${HAS_TEXT}`;

interface PeoplePage {
  readonly page: Page;
  readonly only: PeopleFilter | undefined;
  /** Another condition on every row. */
  readonly condition?: string;
}

/** A page of users or invitations, newest first. The statement ends with its table. */
export function peoplePage(select: string, { page, only, condition }: PeoplePage) {
  const where = newConditions();
  const table = select.split(" ").at(-1);
  if (condition !== undefined) where.add(condition);
  if (only !== undefined) where.add("account_id = ?", only.accountId);
  if (only?.hasOperators === false) where.add("role <> 'operator'");
  if (page.after !== null) {
    where.add(`(created_at, id) < (SELECT created_at, id FROM ${table} WHERE id = ?)`, page.after);
  }
  const filter = where.sql();
  const limit = `$${where.params.push(page.limit)}`;
  const sql = `${select}${filter === "" ? "" : ` WHERE ${filter}`} ORDER BY created_at DESC, id DESC LIMIT ${limit}`;
  return { sql, params: where.params };
}

export const SET_PASSWORD = "UPDATE users SET password_hash = $1 WHERE id = $2";

export const END_RESETS = "DELETE FROM password_resets WHERE user_id = $1";

export const END_PASSKEYS = "DELETE FROM passkeys WHERE user_id = $1";

/** Names the columns: a prepared statement with `*` fails when a newer version adds one. */
export const USER_COLUMNS =
  "id, email, role, account_id, password_hash, created_at, last_sign_in_at, account_role, teams_json, deactivated_at";

export const INSERT_USER = `INSERT INTO users (${USER_COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`;

export function userParams(user: User): readonly SqlValue[] {
  const { id, email, accountId, passwordHash, createdAtMs, lastSignInAtMs } = user;
  const { role, account_role } = roleColumns(user.role);
  const teams = JSON.stringify(user.teamIds);
  const times = [createdAtMs, lastSignInAtMs];
  return [id, email, role, accountId, passwordHash, ...times, account_role, teams, user.deactivatedAtMs];
}

export function toUser(row: SqlRow): User {
  return {
    id: String(row.id),
    email: String(row.email),
    role: toRole(row),
    accountId: String(row.account_id),
    teamIds: toTeamIds(row),
    passwordHash: String(row.password_hash),
    createdAtMs: Number(row.created_at),
    lastSignInAtMs: row.last_sign_in_at == null ? null : Number(row.last_sign_in_at),
    deactivatedAtMs: row.deactivated_at == null ? null : Number(row.deactivated_at),
  };
}
