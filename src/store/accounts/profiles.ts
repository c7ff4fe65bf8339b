// Routing profiles in the database; their constraints are JSON text.

import type { Profile, ProfileStore, ShadowRule } from "../../core/accounts.ts";
import type { Db, SqlRow } from "../../core/db.ts";
import { type Constraints, NO_CONSTRAINTS } from "../../core/decision.ts";
import { BatchRejected } from "../../core/store-errors.ts";
import { forUpdateSql } from "../dialect.ts";
import { BUMP_REVISION } from "./revision.ts";

/** Opens the profiles. Every change increments the revision in the same batch, so that other processes read again. */
export function createProfileStore(db: Db): ProfileStore {
  return {
    insert: async (profile) => {
      const { id, accountId, name, description, createdAtMs, updatedAtMs } = profile;
      const constraints = JSON.stringify(profile.constraints);
      const params = [id, accountId, name, description, constraints, createdAtMs, updatedAtMs];
      await db.batch([{ sql: INSERT, params }, BUMP_REVISION]);
    },
    update: async (profile) => {
      const { id, accountId, name, description, updatedAtMs } = profile;
      const params = [name, JSON.stringify(profile.constraints), updatedAtMs, accountId, id, description];
      const [found] = await db.batch([{ sql: UPDATE, params }, BUMP_REVISION]);
      return found !== undefined && found.length > 0;
    },
    setShadow: async ({ accountId, id, shadow, updatedAtMs }) => {
      const params = [shadow === null ? null : writeShadow(shadow), updatedAtMs, accountId, id];
      const [found] = await db.batch([{ sql: SET_SHADOW, params }, BUMP_REVISION]);
      return found !== undefined && found.length > 0;
    },
    delete: async (accountId, id, keysTo) => {
      const move =
        keysTo === undefined ? [] : [MOVE_KEYS, MOVE_TEAMS].map((sql) => ({ sql, params: [keysTo, accountId, id] }));
      // Locked, so that nobody deletes the replacement meanwhile.
      const hold =
        keysTo == null ? [] : [{ sql: HEIR + forUpdateSql(db.kind), params: [accountId, keysTo], expectRows: 1 }];
      const deleted = { sql: DELETE, params: [accountId, id] };
      try {
        const answers = await db.batch([...hold, ...move, deleted, BUMP_REVISION]);
        return answers.at(-2)?.length === 1 ? "deleted" : "missing";
      } catch (error) {
        if (error instanceof BatchRejected) return "heir-missing";
        throw error;
      }
    },
    all: async () => (await db.query(`SELECT ${COLUMNS} FROM profiles`)).map(toProfile),
    list: async (accountId, { limit, after }) => {
      const rows =
        after === null
          ? await db.query(FIRST_PAGE, [accountId, limit])
          : await db.query(PAGE_AFTER, [accountId, limit, after]);
      return rows.map(toProfile);
    },
  };
}

const HEIR = "SELECT id FROM profiles WHERE account_id = $1 AND id = $2";

/** Moves keys only if the profile still exists. */
const MOVE_KEYS = `UPDATE api_keys SET profile_id = $1 WHERE account_id = $2 AND profile_id = $3
  AND EXISTS (SELECT 1 FROM profiles WHERE profiles.account_id = $2 AND profiles.id = $3)`;

/** The default of teams moves with the keys. */
const MOVE_TEAMS = MOVE_KEYS.replace("api_keys", "teams");

const COLUMNS = "id, account_id, name, description, constraints_json, created_at, updated_at, shadow_json";

const INSERT = `INSERT INTO profiles
    (id, account_id, name, description, constraints_json, created_at, updated_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7)`;

const UPDATE = `UPDATE profiles SET name = $1, description = $6, constraints_json = $2, updated_at = $3
  WHERE account_id = $4 AND id = $5 RETURNING id`;

const SET_SHADOW = `UPDATE profiles SET shadow_json = $1, updated_at = $2
  WHERE account_id = $3 AND id = $4 RETURNING id`;

const DELETE = "DELETE FROM profiles WHERE account_id = $1 AND id = $2 RETURNING id";

const FIRST_PAGE = `SELECT ${COLUMNS} FROM profiles WHERE account_id = $1
  ORDER BY created_at DESC, id DESC LIMIT $2`;

const PAGE_AFTER = `SELECT ${COLUMNS} FROM profiles
  WHERE account_id = $1
    AND (created_at, id) < (SELECT created_at, id FROM profiles WHERE account_id = $1 AND id = $3)
  ORDER BY created_at DESC, id DESC LIMIT $2`;

/** Writes amounts as text, because JSON has no integers of that size. */
function writeShadow({ model, share, budgetPerDay }: ShadowRule): string {
  return JSON.stringify({ model, share, budgetPerDay: String(budgetPerDay) });
}

function readShadow(text: string): ShadowRule {
  const { budgetPerDay, ...rest } = JSON.parse(text) as Omit<ShadowRule, "budgetPerDay"> & { budgetPerDay: string };
  return { ...rest, budgetPerDay: BigInt(budgetPerDay) };
}

function toProfile(row: SqlRow): Profile {
  // Constraints of older versions get defaults for new fields.
  const constraints: Constraints = { ...NO_CONSTRAINTS, ...JSON.parse(String(row.constraints_json)) };
  return {
    id: String(row.id),
    accountId: String(row.account_id),
    name: String(row.name),
    description: row.description == null ? null : String(row.description),
    constraints,
    shadow: row.shadow_json == null ? null : readShadow(String(row.shadow_json)),
    createdAtMs: Number(row.created_at),
    updatedAtMs: Number(row.updated_at),
  };
}
