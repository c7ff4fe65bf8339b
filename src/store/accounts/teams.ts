// Teams in the database.

import type { Team, TeamChange, TeamProblem, TeamStore } from "../../core/accounts.ts";
import type { Db, Queryable, SqlRow, SqlValue } from "../../core/db.ts";
import { UniqueViolation } from "../../core/store-errors.ts";
import { TIERS } from "../../core/tiers.ts";
import { forUpdateSql } from "../dialect.ts";
import { readRequires, requiresText } from "./requires.ts";
import { BUMP_REVISION } from "./revision.ts";

/** Every change increments the revision in the same transaction, so that other processes read again. */
export function createTeamStore(db: Db): TeamStore {
  return {
    insert: (team) =>
      orTaken(() =>
        db.transaction(async (tx) => {
          const problem = parentProblem(await lockAll(db, tx, team.accountId), team);
          if (problem !== null) return problem;
          await tx.query(INSERT, toParams(team));
          await tx.query(BUMP_REVISION.sql);
          return null;
        }),
      ),
    update: (accountId, id, change) => orTaken(() => db.transaction((tx) => update(db, tx, { accountId, id, change }))),
    delete: (accountId, id, atMs) =>
      db.transaction(async (tx) => {
        const teams = await lockAll(db, tx, accountId);
        if (!teams.some((team) => team.id === id)) return "missing";
        const [key] = await tx.query(`SELECT id FROM api_keys WHERE team_id = $1 AND ${ACTIVE} LIMIT 1`, [id, atMs]);
        const [member] = await tx.query(HAS_MEMBER[db.kind], [accountId, JSON.stringify(id)]);
        if (key !== undefined || member !== undefined || teams.some(({ parentId }) => parentId === id))
          return "not-empty";
        await tx.query("UPDATE api_keys SET team_id = NULL WHERE team_id = $1", [id]);
        await tx.query("DELETE FROM teams WHERE id = $1", [id]);
        await tx.query(BUMP_REVISION.sql);
        return "deleted";
      }),
    all: async () => (await db.query(`SELECT ${COLUMNS} FROM teams`)).map(toTeam),
    list: async (accountId, { limit, after }) => {
      const rows =
        after === null
          ? await db.query(FIRST_PAGE, [accountId, limit])
          : await db.query(PAGE_AFTER, [accountId, limit, after]);
      return rows.map(toTeam);
    },
    countKeys: async (accountId, atMs) => {
      const rows = await db.query(COUNT_KEYS, [accountId, atMs]);
      return new Map(rows.map(({ team_id: id, keys }) => [String(id), Number(keys)]));
    },
  };
}

/** Locks the teams of an account in one order, so that two that move below each other do not both succeed. */
async function lockAll(db: Db, tx: Queryable, accountId: string): Promise<readonly Team[]> {
  const rows = await tx.query(
    `SELECT ${COLUMNS} FROM teams WHERE account_id = $1 ORDER BY id${forUpdateSql(db.kind)}`,
    [accountId],
  );
  return rows.map(toTeam);
}

function parentProblem(teams: readonly Team[], { id, parentId }: Pick<Team, "id" | "parentId">): TeamProblem | null {
  if (parentId === null) return null;
  const parent = teams.find((team) => team.id === parentId);
  if (parent === undefined) return "no-parent";
  const hasParts = teams.some((team) => team.parentId === id);
  return parent.parentId !== null || parentId === id || hasParts ? "too-deep" : null;
}

interface TeamUpdate {
  readonly accountId: string;
  readonly id: string;
  readonly change: TeamChange;
}

async function update(db: Db, tx: Queryable, { accountId, id, change }: TeamUpdate): Promise<TeamProblem | null> {
  const teams = await lockAll(db, tx, accountId);
  const old = teams.find((team) => team.id === id);
  if (old === undefined) return "missing";
  const team = { ...old, ...change };
  const problem = parentProblem(teams, team);
  if (problem !== null) return problem;
  await tx.query(UPDATE, toParams(team));
  await tx.query(BUMP_REVISION.sql);
  return null;
}

async function orTaken(write: () => Promise<TeamProblem | null>): Promise<TeamProblem | null> {
  try {
    return await write();
  } catch (error) {
    if (error instanceof UniqueViolation) return "name-taken";
    throw error;
  }
}

/** Locked, so that nobody deletes the team while a key joins it. */
export function lockTeamSql(kind: Db["kind"]): string {
  return `SELECT id FROM teams WHERE account_id = $1 AND id = $2${forUpdateSql(kind)}`;
}

const COLUMNS =
  "id, account_id, name, parent_id, profile_id, allowed_models_json, tier_ceiling, created_at, requires_json";

const INSERT = `INSERT INTO teams (${COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`;

const UPDATE = `UPDATE teams SET name = $3, parent_id = $4, profile_id = $5, allowed_models_json = $6, tier_ceiling = $7,
  created_at = $8, requires_json = $9 WHERE id = $1 AND account_id = $2`;

const HAS_MEMBER: Readonly<Record<Db["kind"], string>> = {
  sqlite: "SELECT id FROM users WHERE account_id = $1 AND instr(teams_json, $2) > 0 LIMIT 1",
  postgres: "SELECT id FROM users WHERE account_id = $1 AND strpos(teams_json, $2) > 0 LIMIT 1",
};

const ACTIVE = "revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $2)";

const COUNT_KEYS = `SELECT team_id, COUNT(*) AS keys FROM api_keys
  WHERE account_id = $1 AND team_id IS NOT NULL AND ${ACTIVE} GROUP BY team_id`;

const FIRST_PAGE = `SELECT ${COLUMNS} FROM teams WHERE account_id = $1 ORDER BY created_at DESC, id DESC LIMIT $2`;

const PAGE_AFTER = `SELECT ${COLUMNS} FROM teams
  WHERE account_id = $1
    AND (created_at, id) < (SELECT created_at, id FROM teams WHERE account_id = $1 AND id = $3)
  ORDER BY created_at DESC, id DESC LIMIT $2`;

function toParams(team: Team): readonly SqlValue[] {
  const { id, accountId, name, parentId, profileId, allowedModels, tierCeiling, requires, createdAtMs } = team;
  const models = allowedModels === null ? null : JSON.stringify(allowedModels);
  return [id, accountId, name, parentId, profileId, models, tierCeiling, createdAtMs, requiresText(requires)];
}

function toTeam(row: SqlRow): Team {
  const text = (value: SqlValue | undefined): string | null => (value == null ? null : String(value));
  const models = text(row.allowed_models_json);
  return {
    id: String(row.id),
    accountId: String(row.account_id),
    name: String(row.name),
    parentId: text(row.parent_id),
    profileId: text(row.profile_id),
    allowedModels: models === null ? null : (JSON.parse(models) as readonly string[]),
    tierCeiling: TIERS.find((tier) => tier === row.tier_ceiling) ?? null,
    requires: readRequires(row.requires_json),
    createdAtMs: Number(row.created_at),
  };
}
