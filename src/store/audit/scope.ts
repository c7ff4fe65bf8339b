// Puts a note about a change into the transaction of the change itself, whichever store makes it. The note is a row that
// waits; `log.ts` makes an entry of it.

import { AsyncLocalStorage } from "node:async_hooks";
import { randomUUID } from "node:crypto";
import type { Db, Queryable, Statement } from "../../core/db.ts";
import type { Json } from "../../core/overlay.ts";
import type { AuditEntry } from "./entry.ts";

/** A change that somebody is making. */
export interface AuditScope {
  id: string;
  /** Facts from before the change. A sign-in learns later who it is. */
  entry: AuditEntry;
  /** True once the note is in the database. */
  isNoted: boolean;
  /** False when the change is over, so that work that goes on in the background notes nothing. */
  isOpen: boolean;
}

const scopes = new AsyncLocalStorage<AuditScope>();
let changes = 0;

export function openScope(): AuditScope | null {
  const scope = scopes.getStore();
  return scope?.isOpen ? scope : null;
}

/** Says what the change of the open scope came to. */
export function noteAfter(after: Json): void {
  const scope = openScope();
  if (scope !== null) scope.entry = { ...scope.entry, after };
}

/** Takes the next change of the scope for another one. */
export function renew(scope: AuditScope): void {
  scope.id = randomUUID();
  scope.isNoted = false;
}

/** Runs a change. What it writes through `auditedDb` carries the note. */
export async function inScope<T>(entry: AuditEntry, change: (scope: AuditScope) => Promise<T>): Promise<T> {
  const scope: AuditScope = { id: randomUUID(), entry, isNoted: false, isOpen: true };
  changes += 1;
  try {
    return await scopes.run(scope, () => change(scope));
  } finally {
    scope.isOpen = false;
    changes -= 1;
    // Before Node 24, a storage in use makes every promise of the process call hooks.
    if (changes === 0) scopes.disable();
  }
}

const WRITE = /^\s*(insert|update|delete)\b/i;

/** A database whose first write within a scope carries the note of the scope. */
export function auditedDb(db: Db): Db {
  return {
    ...db,
    async query(sql, params = []) {
      if (waiting() === null || !WRITE.test(sql)) return db.query(sql, params);
      const [rows = []] = await noted([{ sql, params }], (statements) => db.batch(statements));
      return rows;
    },
    async batch(statements, options) {
      if (options?.isBackground) return db.batch(statements, options);
      const answers = await noted(statements, (all) => db.batch(all));
      return answers.slice(0, statements.length);
    },
    batchAtOnce: (statements) => noted(statements, (all) => db.batchAtOnce(all)),
    async transaction(work) {
      const scope = waiting();
      if (scope === null) return db.transaction(work);
      let isWritten = false;
      const result = await db.transaction(async (tx) => {
        const watched: Queryable = {
          query(sql, params) {
            isWritten ||= WRITE.test(sql);
            return tx.query(sql, params);
          },
        };
        const made = await work(watched);
        if (isWritten) await tx.query(NOTE, paramsOf(scope));
        return made;
      });
      if (isWritten) scope.isNoted = true;
      return result;
    },
    async readThenWrite(reads, decide) {
      const scope = waiting();
      let isWritten = false;
      const result = await db.readThenWrite(reads, (answers) => {
        const decided = decide(answers);
        if (scope === null || decided.writes.length === 0) return decided;
        isWritten = true;
        return { ...decided, writes: [...decided.writes, { sql: NOTE, params: paramsOf(scope) }] };
      });
      if (scope !== null && isWritten) scope.isNoted = true;
      return result;
    },
  };
}

/** The scope that has no note yet. */
function waiting(): AuditScope | null {
  const scope = openScope();
  return scope === null || scope.isNoted ? null : scope;
}

async function noted<T>(
  statements: readonly Statement[],
  run: (statements: readonly Statement[]) => Promise<T>,
): Promise<T> {
  const scope = waiting();
  if (scope === null || !statements.some(({ sql }) => WRITE.test(sql))) return run(statements);
  const answers = await run([...statements, { sql: NOTE, params: paramsOf(scope) }]);
  scope.isNoted = true;
  return answers;
}

const NOTE = "INSERT INTO audit_pending (id, created_at, entry_json) VALUES ($1, $2, $3)";

function paramsOf({ id, entry }: AuditScope) {
  return [id, entry.atMs, JSON.stringify(entry)];
}
