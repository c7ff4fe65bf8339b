// Groups of an identity provider and who is in them. What they give is written in the transaction that changes them.

import type { Db, Queryable, SqlRow } from "../../core/db.ts";
import type {
  PeopleFilter,
  ScimEdit,
  ScimGiving,
  ScimGroup,
  ScimGroupStore,
  ScimGroupWish,
  ScimProblem,
  ScimRange,
  ScimSearch,
  User,
} from "../../core/people.ts";
import { UniqueViolation } from "../../core/store-errors.ts";
import { inListSql, listValue } from "../dialect.ts";
import { newConditions } from "../requests/conditions.ts";
import { BUMP_REVISION } from "./revision.ts";
import { changeUser, toUser, USER_COLUMNS } from "./users.ts";

export function createScimGroupStore(db: Db): ScimGroupStore {
  return {
    find: async (reach, search, range) => {
      const { where, params } = conditionsOf(reach, search);
      const [counted] = await db.query(`SELECT COUNT(*) AS found FROM scim_groups g WHERE ${where}`, params);
      return { total: Number(counted?.found), rows: await read(db, db.kind, { reach, search, range }) };
    },
    insert: (reach, group, give) =>
      orTaken(() =>
        db.transaction(async (tx) => {
          await lockAccount(db, tx, reach);
          const { id, displayName, externalId } = group;
          await tx.query(INSERT, [id, reach.accountId, displayName, externalId, give.atMs]);
          return setMembers(db, tx, { reach, id, before: [], after: group.memberIds, give });
        }),
      ),
    update: (reach, id, edit) => orTaken(() => db.transaction((tx) => update(db, tx, { reach, id, ...edit }))),
    delete: (reach, id, give) =>
      db.transaction(async (tx) => {
        await lockAccount(db, tx, reach);
        const [found] = await read(tx, db.kind, { reach, search: { id }, range: ONE });
        if (found === undefined) return "missing";
        await tx.query("DELETE FROM scim_groups WHERE id = $1", [id]);
        await tx.query("DELETE FROM scim_members WHERE group_id = $1", [id]);
        await giveAgain(db, tx, { reach, ids: found.members.map((member) => member.id), give });
        return null;
      }),
  };
}

const ONE: ScimRange = { offset: 0, limit: 1 };

async function orTaken(write: () => Promise<ScimProblem | null>): Promise<ScimProblem | null> {
  try {
    return await write();
  } catch (error) {
    if (error instanceof UniqueViolation) return "taken";
    if (error instanceof NoMember) return "no-member";
    throw error;
  }
}

/** Undoes the transaction. */
class NoMember extends Error {}

/** One change of groups at a time: what two groups give to one person depends on both. */
async function lockAccount({ kind }: Db, tx: Queryable, { accountId }: PeopleFilter): Promise<void> {
  // The weaker lock does not hold up those who only refer to the account.
  await tx.query(`SELECT id FROM accounts WHERE id = $1${kind === "postgres" ? " FOR NO KEY UPDATE" : ""}`, [
    accountId,
  ]);
}

interface GroupEdit extends ScimEdit<ScimGroup, ScimGroupWish>, ScimGiving {
  readonly reach: PeopleFilter;
  readonly id: string;
}

async function update(db: Db, tx: Queryable, { reach, id, edit, ...give }: GroupEdit): Promise<ScimProblem | null> {
  await lockAccount(db, tx, reach);
  const [found] = await read(tx, db.kind, { reach, search: { id }, range: ONE });
  if (found === undefined) return "missing";
  const { displayName, externalId, memberIds } = edit(found);
  await tx.query(UPDATE, [id, displayName, externalId, give.atMs]);
  const isSameName = displayName === found.displayName && externalId === found.externalId;
  const before = found.members.map((member) => member.id);
  return setMembers(db, tx, { reach, id, before, after: memberIds, give, isRenamed: !isSameName });
}

interface MemberChange {
  readonly reach: PeopleFilter;
  readonly id: string;
  readonly before: readonly string[];
  readonly after: readonly string[];
  readonly give: ScimGiving;
  readonly isRenamed?: boolean;
}

async function setMembers(db: Db, tx: Queryable, change: MemberChange): Promise<null> {
  const { reach, id, give, isRenamed = false } = change;
  const [before, after] = [new Set(change.before), new Set(change.after)];
  const joined = [...after].filter((each) => !before.has(each));
  const left = [...before].filter((each) => !after.has(each));
  const known = await usersOf(db, tx, { reach, ids: joined });
  if (known.length < joined.length) throw new NoMember();
  for (const userId of joined)
    await tx.query("INSERT INTO scim_members (group_id, user_id) VALUES ($1, $2)", [id, userId]);
  const gone = `DELETE FROM scim_members WHERE group_id = $1 AND ${inListSql(db.kind, "user_id", "$2")}`;
  if (left.length > 0) await tx.query(gone, [id, listValue(db.kind, left)]);
  // A renamed group may give everybody in it something else.
  await giveAgain(db, tx, { reach, ids: isRenamed ? [...before, ...joined] : [...joined, ...left], give });
  return null;
}

interface Concerned {
  readonly reach: PeopleFilter;
  readonly ids: readonly string[];
}

async function giveAgain(db: Db, tx: Queryable, { give, ...concerned }: Concerned & { readonly give: ScimGiving }) {
  if (concerned.ids.length === 0) return;
  const groups = await tx.query(
    `SELECT m.user_id, g.display_name, g.external_id FROM scim_members m JOIN scim_groups g ON g.id = m.group_id
     WHERE g.account_id = $1 AND ${inListSql(db.kind, "m.user_id", "$2")}`,
    [concerned.reach.accountId, listValue(db.kind, concerned.ids)],
  );
  for (const user of await usersOf(db, tx, concerned)) {
    const own = groups.filter(({ user_id: id }) => id === user.id);
    const names = own.flatMap(({ display_name: name, external_id: id }) => (id == null ? [name] : [name, id]));
    const grant = give.grantOf(user, names.map(String));
    if (!isSame({ ...user, ...grant }, user)) await changeUser(db, tx, { id: user.id, grant, atMs: give.atMs });
  }
  await tx.query(BUMP_REVISION.sql);
}

function isSame(one: User, other: User): boolean {
  return one.role === other.role && [...one.teamIds].sort().join() === [...other.teamIds].sort().join();
}

async function usersOf({ kind }: Db, tx: Queryable, { reach, ids }: Concerned): Promise<readonly User[]> {
  if (ids.length === 0) return [];
  const rows = await tx.query(
    `SELECT ${USER_COLUMNS} FROM users WHERE account_id = $1 AND ${inListSql(kind, "id", "$2")} ORDER BY id`,
    [reach.accountId, listValue(kind, ids)],
  );
  return rows.map(toUser).filter(({ role }) => reach.hasOperators || role !== "operator");
}

const INSERT = `INSERT INTO scim_groups (id, account_id, display_name, external_id, created_at, changed_at)
  VALUES ($1, $2, $3, $4, $5, $5)`;

const UPDATE = "UPDATE scim_groups SET display_name = $2, external_id = $3, changed_at = $4 WHERE id = $1";

const SEARCHED: Readonly<Record<keyof ScimSearch, string>> = {
  id: "g.id = ?",
  userName: "g.id <> g.id AND g.id = ?",
  email: "g.id <> g.id AND g.id = ?",
  externalId: "g.external_id = ?",
  displayName: "LOWER(g.display_name) = LOWER(?)",
  member: "g.id IN (SELECT group_id FROM scim_members WHERE user_id = ?)",
};

function conditionsOf({ accountId }: PeopleFilter, search: ScimSearch) {
  const where = newConditions();
  where.add("g.account_id = ?", accountId);
  for (const [name, value] of Object.entries(search) as [keyof ScimSearch, string][]) where.add(SEARCHED[name], value);
  return { where: where.sql(), params: where.params };
}

interface WantedGroups {
  readonly reach: PeopleFilter;
  readonly search: ScimSearch;
  readonly range: ScimRange;
}

async function read(
  tx: Queryable,
  kind: Db["kind"],
  { reach, search, range }: WantedGroups,
): Promise<readonly ScimGroup[]> {
  const { where, params } = conditionsOf(reach, search);
  const rows = await tx.query(
    `SELECT g.id, g.display_name, g.external_id, g.created_at, g.changed_at FROM scim_groups g WHERE ${where}
     ORDER BY g.created_at, g.id LIMIT $${params.length + 1} OFFSET $${params.length + 2}`,
    [...params, range.limit, range.offset],
  );
  const ids = listValue(
    kind,
    rows.map(({ id }) => String(id)),
  );
  const members = await tx.query(membersSql(kind, reach), [ids, reach.accountId]);
  return rows.map((row) => toGroup(row, members));
}

/** Somebody who has left the account since is in no group of it. */
function membersSql(kind: Db["kind"], { hasOperators }: PeopleFilter): string {
  return `SELECT m.group_id, u.id, u.email FROM scim_members m JOIN users u ON u.id = m.user_id
    WHERE ${inListSql(kind, "m.group_id", "$1")} AND u.account_id = $2${hasOperators ? "" : " AND u.role <> 'operator'"}
    ORDER BY u.id`;
}

function toGroup(row: SqlRow, members: readonly SqlRow[]): ScimGroup {
  const own = members.filter(({ group_id: group }) => group === row.id);
  return {
    id: String(row.id),
    displayName: String(row.display_name),
    externalId: row.external_id == null ? null : String(row.external_id),
    createdAtMs: Number(row.created_at),
    changedAtMs: Number(row.changed_at),
    members: own.map(({ id, email }) => ({ id: String(id), email: String(email) })),
  };
}
