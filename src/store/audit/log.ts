// The audit log in the database: an append-only chain of entries, searched newest first, cut at its old end alone.

import type { Db, SqlRow, SqlValue, Statement } from "../../core/db.ts";
import type { Json } from "../../core/overlay.ts";
import { BatchRejected } from "../../core/store-errors.ts";
import { forUpdateSql } from "../dialect.ts";
import { AUDIT_COLUMNS, type AuditEntry, auditRow, type ChainedEntry, rowHash, toEntry } from "./entry.ts";
import { type AuditScope, inScope, openScope, renew } from "./scope.ts";

/** Terms of a search; null for everything. */
export interface AuditSearch {
  readonly accountId: string | null;
  /** Parts of the texts, in any case of letters. */
  readonly actor: string | null;
  readonly action: string | null;
  readonly object: string | null;
  readonly fromMs: number | null;
  readonly toMs: number | null;
  /** The sequence to continue before. */
  readonly before: number | null;
  readonly limit: number;
}

export interface AuditLog {
  append(entry: AuditEntry): Promise<void>;
  /** Runs a change and appends its entry, which `describe` completes. A change that fails with `isRefusal` leaves none. */
  during<T>(entry: AuditEntry, change: AuditedChange<T>): Promise<T>;
  /** Appends the entry of the open scope if something was written in it. The scope then waits for the next change. */
  complete(): Promise<void>;
  /** Newest first. */
  list(search: AuditSearch): Promise<readonly ChainedEntry[]>;
  /** Appends what a process left behind that died between a change and its entry. */
  recover(): Promise<number>;
  /** Takes away what is older, at most once a day, and appends an entry that says so. */
  deleteBefore(cutoffMs: number): Promise<number>;
}

interface AuditedChange<T> {
  make(scope: AuditScope): Promise<T>;
  /** Returns null where there is nothing to tell. */
  describe(result: T, scope: AuditScope): Promise<AuditEntry | null> | AuditEntry | null;
  /** Tells whether an error means that nothing was changed. */
  isRefusal(error: unknown): boolean;
  /** Called when the entry could not be written. Its note is appended later where there is one. */
  onLost(error: unknown, entry: AuditEntry): void;
}

/** A change takes seconds at most; its note waits this long before it is taken for one that nobody completes. */
const PENDING_MS = 60_000;
const DAY_MS = 24 * 60 * 60 * 1000;
const RECOVERED_MAX = 500;

interface LogContext {
  readonly reader?: Db;
  readonly now?: () => number;
}

export function createAuditLog(db: Db, { reader = db, now = Date.now }: LogContext = {}): AuditLog {
  return {
    append: (entry) => append(db, entry),
    during: (entry, change) => inScope(entry, (scope) => within(db, scope, change)),
    async complete() {
      const scope = openScope();
      if (scope === null || !scope.isNoted) return;
      await append(db, scope.entry, { pending: scope.id });
      renew(scope);
    },
    async list(search) {
      const { sql, params } = listQuery(search);
      return (await reader.query(sql, params)).map(toEntry);
    },
    async recover() {
      const rows = await db.query(PENDING, [now() - PENDING_MS, RECOVERED_MAX]);
      for (const { id, entry_json } of rows) {
        const entry = JSON.parse(String(entry_json)) as AuditEntry;
        await append(db, entry, { pending: String(id) }).catch(unlessCompleted);
      }
      return rows.length;
    },
    deleteBefore: (cutoffMs) => cut(db, cutoffMs, now()),
  };
}

interface AppendOptions {
  /** The note that the entry completes; it must still be there. */
  readonly pending?: string | null;
  readonly writes?: readonly Statement[];
}

async function append(db: Db, entry: AuditEntry, { pending = null, writes = [] }: AppendOptions = {}): Promise<void> {
  await db.readThenWrite([headQuery(db)], ([found]) => {
    const { sequence, hash } = headOf(found?.[0]);
    const row = auditRow(entry, sequence + 1, hash);
    const done = pending === null ? [] : [{ sql: DISCARD, params: [pending], expectRows: 1 }];
    const moved = { sql: MOVE_HEAD, params: [sequence + 1, row.at(-1) as string] };
    return { writes: [...done, { sql: INSERT, params: row }, moved, ...writes], result: null };
  });
}

/** Passes over a note that another process has completed. */
function unlessCompleted(error: unknown): void {
  if (!(error instanceof BatchRejected)) throw error;
}

async function within<T>(
  db: Db,
  scope: AuditScope,
  { make, describe, isRefusal, onLost }: AuditedChange<T>,
): Promise<T> {
  let result: T;
  try {
    result = await make(scope);
  } catch (error) {
    // A note that stays is appended later: the change was made, only its answer was lost.
    if (scope.isNoted && isRefusal(error)) await db.query(DISCARD, [scope.id]).catch(() => undefined);
    throw error;
  }
  scope.isOpen = false;
  try {
    const described = await describe(result, scope);
    if (described !== null) await append(db, described, { pending: scope.isNoted ? scope.id : null });
    else if (scope.isNoted) await db.query(DISCARD, [scope.id]);
  } catch (error) {
    if (!(error instanceof BatchRejected)) onLost(error, scope.entry);
  }
  return result;
}

async function cut(db: Db, cutoffMs: number, nowMs: number): Promise<number> {
  const [oldest] = await db.query("SELECT created_at FROM audit_log ORDER BY sequence LIMIT 1");
  if (oldest === undefined || Number(oldest.created_at) >= cutoffMs - DAY_MS) return 0;
  const [last] = await db.query(CUT_AT, [cutoffMs]);
  if (last === undefined) return 0;
  const { sequence, hash } = headOf(last);
  const [counted] = await db.query("SELECT COUNT(*) AS number FROM audit_log WHERE sequence <= $1", [sequence]);
  const writes = [
    { sql: "UPDATE audit_head SET cut_sequence = $1, cut_hash = $2 WHERE id = 1", params: [sequence, hash] },
    { sql: "DELETE FROM audit_log WHERE sequence <= $1", params: [sequence] },
  ];
  await append(db, cutEntry({ sequence, hash }, nowMs), { writes });
  return Number(counted?.number ?? 0);
}

const COLUMNS = AUDIT_COLUMNS.join(", ");
const INSERT = `INSERT INTO audit_log (${COLUMNS}) VALUES (${AUDIT_COLUMNS.map((_, index) => `$${index + 1}`).join(", ")})`;
const MOVE_HEAD = "UPDATE audit_head SET sequence = $1, hash = $2 WHERE id = 1";
const DISCARD = "DELETE FROM audit_pending WHERE id = $1";
const PENDING = "SELECT id, entry_json FROM audit_pending WHERE created_at < $1 ORDER BY created_at LIMIT $2";
/** The last entry before the first that is young enough, so that what stays has no gap. */
const CUT_AT = `SELECT sequence, hash FROM audit_log WHERE sequence <
  COALESCE((SELECT MIN(sequence) FROM audit_log WHERE created_at >= $1), (SELECT MAX(sequence) + 1 FROM audit_log))
  ORDER BY sequence DESC LIMIT 1`;

interface Head {
  readonly sequence: number;
  readonly hash: string;
}

function headQuery({ kind }: Db): Statement {
  return { sql: `SELECT * FROM audit_head WHERE id = 1${forUpdateSql(kind)}`, params: [] };
}

function headOf(row: SqlRow | undefined): Head {
  return { sequence: Number(row?.sequence ?? 0), hash: String(row?.hash ?? "") };
}

const CUT = "audit.cut";

/** Names the end of what was taken away, so that nobody can move the anchor unseen. */
function cutEntry({ sequence, hash }: Head, atMs: number): AuditEntry {
  return {
    ...{ atMs, action: CUT, object: "audit", accountId: null, outcome: "done", address: null, requestId: null },
    actor: { kind: "system", name: "retention", accountId: null },
    ...{ before: null, after: { sequence, hash } },
  };
}

function listQuery({ accountId, actor, action, object, fromMs, toMs, before, limit }: AuditSearch) {
  const params: SqlValue[] = [];
  const conditions: string[] = [];
  const add = (condition: (place: string) => string, value: SqlValue): void => {
    if (value === null) return;
    params.push(value);
    conditions.push(condition(`$${params.length}`));
  };
  const has = (column: string) => (place: string) => `LOWER(${column}) LIKE ${place} ESCAPE '\\'`;
  add((place) => `account_id = ${place}`, accountId);
  add(has("actor"), partOf(actor));
  add(has("action"), partOf(action));
  add(has("object"), partOf(object));
  add((place) => `created_at >= ${place}`, fromMs);
  add((place) => `created_at < ${place}`, toMs);
  add((place) => `sequence < ${place}`, before);
  params.push(limit);
  const where = conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`;
  return { sql: `SELECT ${COLUMNS} FROM audit_log ${where} ORDER BY sequence DESC LIMIT $${params.length}`, params };
}

function partOf(text: string | null): string | null {
  return text === null ? null : `%${text.toLowerCase().replace(/[\\%_]/g, "\\$&")}%`;
}

/** Entries per query of a check. */
const PAGE = 1_000;

export interface AuditVerdict {
  readonly entries: number;
  readonly problems: readonly string[];
}

/** Computes the chain again and names the first entry that is wrong. Locks nothing. */
export async function verifyAuditLog(db: Db): Promise<AuditVerdict> {
  const cut = await readCut(db);
  const verdict = await walk(db);
  // The retention may have cut what was being read.
  return verdict.problems.length > 0 && (await readCut(db)) !== cut ? verifyAuditLog(db) : verdict;
}

async function readCut(db: Db): Promise<number> {
  const [head] = await db.query("SELECT cut_sequence FROM audit_head WHERE id = 1");
  return Number(head?.cut_sequence ?? 0);
}

async function walk(db: Db): Promise<AuditVerdict> {
  const [head] = await db.query("SELECT * FROM audit_head WHERE id = 1");
  if (head === undefined) return { entries: 0, problems: ["the audit log has lost its head"] };
  const end = headOf(head);
  const cut: Head = { sequence: Number(head.cut_sequence), hash: String(head.cut_hash) };
  let previous = cut;
  let named: Json = cut.sequence === 0 ? { sequence: 0, hash: "" } : null;
  while (previous.sequence < end.sequence) {
    const rows = await db.query(PAGE_QUERY, [previous.sequence, end.sequence, PAGE]);
    for (const row of rows) {
      const problem = linkProblem(row, previous);
      if (problem !== null) return { entries: previous.sequence - cut.sequence, problems: [problem] };
      previous = headOf(row);
      if (row.action === CUT && row.actor_kind === "system") named = toEntry(row).after;
    }
    if (rows.length === 0) return { entries: 0, problems: [`audit entry ${previous.sequence + 1} is missing`] };
    // Requests go on between two pages of a long log.
    await new Promise((resolve) => setImmediate(resolve));
  }
  const problems: string[] = [];
  if (previous.hash !== end.hash) problems.push(`audit entry ${previous.sequence} is not the end of the log`);
  if (JSON.stringify(named) !== JSON.stringify(cut)) {
    problems.push(`audit entries up to ${cut.sequence} were taken away, not by the retention`);
  }
  return { entries: end.sequence - cut.sequence, problems: [...problems, ...(await strays(db))] };
}

const PAGE_QUERY = `SELECT ${COLUMNS} FROM audit_log WHERE sequence > $1 AND sequence <= $2 ORDER BY sequence LIMIT $3`;

function linkProblem(row: SqlRow, previous: Head): string | null {
  const sequence = Number(row.sequence);
  if (sequence !== previous.sequence + 1) return `audit entry ${previous.sequence + 1} is missing`;
  return rowHash(row, previous.hash) === row.hash ? null : `audit entry ${sequence} was changed after it was written`;
}

/** Entries outside of the chain. */
async function strays(db: Db): Promise<readonly string[]> {
  const found = await db.query(
    `SELECT l.sequence FROM audit_log l, audit_head h
     WHERE h.id = 1 AND (l.sequence <= h.cut_sequence OR l.sequence > h.sequence) ORDER BY l.sequence LIMIT 5`,
  );
  return found.map(({ sequence }) => `audit entry ${String(sequence)} is not part of the chain`);
}
