// Lines that were sent to hosts. A line is with a host, or with our queue, never with both.

import type { ClaimedLine, NativeBatch, NativeQueue } from "../../core/batches/batches.ts";
import type { Db, SqlRow } from "../../core/db.ts";
import type { OwnedId } from "../../core/responses/stored.ts";
import type { Sealer } from "../secret/seal.ts";
import { LINES_OF, OF, openNative, sealNative } from "./batches.ts";
import { CLAIMED, type QueueOptions, readLine } from "./queue.ts";

type NativeOptions = Pick<QueueOptions, "owner" | "own">;

/** A batch is looked at after this share of its age, within these bounds. */
const POLL = { share: 10, minMs: 1_000, maxMs: 60_000 };
const DUE_AT_ONCE = 10;

export function createNativeQueue(db: Db, sealer: Sealer, { owner, own }: NativeOptions): NativeQueue {
  return {
    claim: (limit, nowMs) => own.claim(() => claim(db, sealer, { owner, limit, nowMs })),
    keep: (lines) => own.end(lines, keep(db, owner, lines)),
    sent: (native, lines) =>
      own.end(
        lines.map(({ line }) => line),
        noteSent(db, sealer, { native, lines, owner }),
      ),
    due: (nowMs) => due(db, nowMs),
    answered: (native, position, body) => keepAnswer(db, sealer, { native, position, body }),
    async over({ accountId, id, batchId }) {
      await db.batch([
        {
          sql: `UPDATE batch_lines SET state = 'waiting', native_id = NULL, native = NULL
            ${LINES_OF} AND state = 'sent' AND native_id = $3`,
          params: [accountId, batchId, id],
        },
        { sql: `DELETE FROM native_batches ${OF}`, params: [accountId, id] },
      ]);
    },
    async giveUpBefore(createdAtMs) {
      await db.query(
        `UPDATE batch_lines SET try_native = 0 WHERE try_native = 1 AND state = 'waiting'
         AND EXISTS (SELECT id FROM batches WHERE batches.account_id = batch_lines.account_id
           AND batches.id = batch_lines.batch_id AND created_at <= $1)`,
        [createdAtMs],
      );
    },
  };
}

interface SentLines extends Pick<QueueOptions, "owner"> {
  readonly native: Parameters<NativeQueue["sent"]>[0];
  readonly lines: Parameters<NativeQueue["sent"]>[1];
}

async function noteSent(db: Db, sealer: Sealer, { native, lines, owner }: SentLines): Promise<void> {
  const { accountId, id, batchId, provider, remoteId, createdAtMs } = native;
  const updates = await Promise.all(
    lines.map(async ({ line: { batch, position }, host }) => ({
      sql: `UPDATE batch_lines SET state = 'sent', owner = NULL, try_native = 0, native_id = $5, native = $6
        ${LINES_OF} AND position = $3 AND state = 'running' AND owner = $4`,
      params: [accountId, batchId, position, owner, id, await sealNative(sealer, batch, position, host)],
    })),
  );
  await db.batch([
    {
      sql: `INSERT INTO native_batches (account_id, id, batch_id, provider, remote_id, created_at, poll_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7)`,
      params: [accountId, id, batchId, provider, remoteId, createdAtMs, createdAtMs + POLL.minMs],
    },
    ...updates,
  ]);
}

interface NativeClaim extends Pick<QueueOptions, "owner"> {
  readonly limit: number;
  readonly nowMs: number;
}

async function claim(db: Db, sealer: Sealer, { limit, nowMs, owner }: NativeClaim): Promise<readonly ClaimedLine[]> {
  const locked = db.kind === "sqlite" ? "" : "FOR UPDATE SKIP LOCKED";
  const rows = await db.query(
    `WITH one AS (SELECT account_id, batch_id FROM batch_lines WHERE try_native = 1 AND state = 'waiting' LIMIT 1),
         next AS (
           SELECT account_id, batch_id, position FROM batch_lines
           WHERE try_native = 1 AND state = 'waiting' AND (account_id, batch_id) IN (SELECT account_id, batch_id FROM one)
             AND EXISTS (SELECT id FROM batches WHERE batches.account_id = batch_lines.account_id
               AND batches.id = batch_lines.batch_id AND status = 'in_progress' AND expires_at > $2)
           ORDER BY position LIMIT $3 ${locked})
         UPDATE batch_lines SET state = 'running', owner = $1
         WHERE state = 'waiting' AND (account_id, batch_id, position) IN (SELECT account_id, batch_id, position FROM next)
         RETURNING ${CLAIMED}`,
    [owner, nowMs, limit],
  );
  const found = await Promise.all(rows.map((row) => readLine(db, sealer, row)));
  return found.filter((line) => line !== null);
}

interface KeptLine {
  readonly native: NativeBatch;
  readonly position: number;
  readonly body: string;
}

async function keepAnswer(
  db: Db,
  sealer: Sealer,
  { native: { accountId, id, batchId }, position, body }: KeptLine,
): Promise<void> {
  const name = { accountId, id: batchId };
  const [row] = await db.query(
    `SELECT position, native FROM batch_lines ${LINES_OF} AND position = $3 AND state = 'sent' AND native_id = $4`,
    [accountId, batchId, position, id],
  );
  const host = row === undefined ? null : await openNative(sealer, name, row);
  if (host === null) return;
  // It has begun: a batch that was cancelled still shows it, and pays for it.
  await db.query(
    `UPDATE batch_lines SET state = 'waiting', attempts = 1, not_before = 0, native = $5
         ${LINES_OF} AND position = $3 AND state = 'sent' AND native_id = $4`,
    [accountId, batchId, position, id, await sealNative(sealer, name, position, { ...host, body })],
  );
}

async function keep(db: Db, owner: string, lines: readonly ClaimedLine[]): Promise<void> {
  if (lines.length === 0) return;
  await db.batch(
    lines.map(({ batch, position }) => ({
      sql: `UPDATE batch_lines SET state = 'waiting', owner = NULL, try_native = 0
        ${LINES_OF} AND position = $3 AND state = 'running' AND owner = $4`,
      params: [batch.accountId, batch.id, position, owner],
    })),
  );
}

async function due(db: Db, nowMs: number): Promise<readonly NativeBatch[]> {
  const rows = await db.query(
    `SELECT n.account_id, n.id, n.batch_id, n.provider, n.remote_id, n.created_at, n.poll_at, b.expires_at, b.status
     FROM native_batches n JOIN batches b ON b.account_id = n.account_id AND b.id = n.batch_id
     WHERE n.poll_at <= $1 ORDER BY n.poll_at LIMIT ${DUE_AT_ONCE}`,
    [nowMs],
  );
  const taken = await Promise.all(rows.map((row) => take(db, row, nowMs)));
  return taken.filter((native) => native !== null);
}

/** Resolves to null where another process was faster. */
async function take(db: Db, row: SqlRow, nowMs: number): Promise<NativeBatch | null> {
  const name: OwnedId = { accountId: String(row.account_id), id: String(row.id) };
  const createdAtMs = Number(row.created_at);
  const pauseMs = Math.min(POLL.maxMs, Math.max(POLL.minMs, (nowMs - createdAtMs) / POLL.share));
  const [taken] = await db.query(`UPDATE native_batches SET poll_at = $3 ${OF} AND poll_at = $4 RETURNING id`, [
    ...[name.accountId, name.id],
    ...[Math.round(nowMs + pauseMs), Number(row.poll_at)],
  ]);
  if (taken === undefined) return null;
  return {
    ...name,
    batchId: String(row.batch_id),
    provider: String(row.provider),
    remoteId: String(row.remote_id),
    createdAtMs,
    expiresAtMs: Number(row.expires_at),
    isCancelled: row.status === "cancelling",
  };
}
