// The queue of lines. A line is run by the process that claimed it, and by another one only after that process died.

import type { BatchQueue, ClaimedLine, EndHolds, LineResult } from "../../core/batches/batches.ts";
import { batchHoldId, lineHoldIds } from "../../core/batches/holds.ts";
import type { Db, SqlRow } from "../../core/db.ts";
import { inListSql, listValue } from "../dialect.ts";
import { ANSWER } from "../ledger/kept-answers.ts";
import type { Sealer } from "../secret/seal.ts";
import { LINES_OF, OF, openLine, openNative, readBatch, sealLine, sealResult } from "./batches.ts";
import type { OwnLines } from "./own-lines.ts";

const OPEN = "('new', 'waiting', 'running', 'sent')";
/** A batch whose lines are not all here after this long was begun by a process that died. */
const ABANDONED_MS = 60 * 60 * 1000;
const RELEASED_AT_ONCE = 100;

/** `owner` names this process. The database with the processes may be another file than that of the batches. */
export function createBatchQueue(db: Db, sealer: Sealer, options: QueueOptions): BatchQueue {
  const { owner, endHolds, own } = options;
  return {
    ...createRuns(db, sealer, options),
    retry(line, { notBeforeMs, isCounted, end }) {
      const { batch, position } = line;
      const writing = db.query(
        `UPDATE batch_lines SET state = 'waiting', owner = NULL, not_before = $4${isCounted ? "" : ", attempts = attempts - 1"}${RUN_ENDS[end]}
         ${LINES_OF} AND position = $3 AND state = 'running' AND owner = $5`,
        [batch.accountId, batch.id, position, notBeforeMs, owner],
      );
      return own.end([line], writing);
    },
    async keepUp(nowMs) {
      await giveBackOwn(db, owner, own);
      await giveBack(db, options);
      await endUnbegun(db);
      await endLate(db, nowMs);
      await endBatches(db, nowMs);
      await releaseHolds(db, endHolds);
    },
    async deleteBefore(nowMs, limit) {
      const rows = await db.query(
        `SELECT account_id, id FROM batches WHERE deleted_at <= $1 AND ended_at IS NOT NULL AND hold <> 'open' LIMIT $2`,
        [nowMs, limit],
      );
      for (const { account_id, id } of rows) {
        const params = [String(account_id), String(id)];
        await db.batch([
          { sql: `DELETE FROM batch_lines ${LINES_OF}`, params },
          { sql: `DELETE FROM batches ${OF}`, params },
        ]);
      }
      return rows.length;
    },
  };
}

/** Columns that `readLine` reads. */
export const CLAIMED = "account_id, batch_id, position, attempts, runs, over, request, native";
const RUN_ENDS = { "not-begun": ", runs = runs - 1", over: ", over = runs", unknown: "" } as const;

function createRuns(
  db: Db,
  sealer: Sealer,
  options: QueueOptions,
): Pick<BatchQueue, "claim" | "holdIds" | "finish" | "stop"> {
  const { owner, own, processes, endHolds } = options;
  return {
    claim: (limit, nowMs, resting) => own.claim(() => claim(db, sealer, { limit, nowMs, resting, owner })),
    async holdIds(line) {
      const { batch, position, run } = line;
      const earlier = holdsBetween(batch.id, position, { over: line.over, runs: run - 1 });
      if (earlier.length > 0) {
        await endHolds(earlier.map((holdId) => ({ holdId, accountId: batch.accountId, keyId: batch.keyId })));
        if ((await paidFor(processes, earlier)) !== null) return [];
      }
      return lineHoldIds({ batchId: batch.id, position, run });
    },
    stop(line) {
      const { batch, position } = line;
      const writing = db.query(
        `UPDATE batch_lines SET state = 'stopped', owner = NULL ${LINES_OF} AND position = $3 AND state = 'running' AND owner = $4`,
        [batch.accountId, batch.id, position, owner],
      );
      return own.end([line], writing);
    },
    finish: (line, result, noted) => own.end([line], finish(db, sealer, { line, result, noted }, options)),
  };
}

interface FinishedLine {
  readonly line: ClaimedLine;
  readonly result: LineResult;
  /** Cost as the run told it. */
  readonly noted: bigint;
}

async function finish(
  db: Db,
  sealer: Sealer,
  { line, result, noted }: FinishedLine,
  { owner, processes }: QueueOptions,
): Promise<void> {
  const { accountId, id } = line.batch;
  const holds = holdsBetween(id, line.position, { over: 0, runs: line.run });
  const cost = (await paidFor(processes, holds)) ?? noted;
  const state = result.status >= 200 && result.status < 300 ? "succeeded" : "errored";
  const sealed = await sealResult(sealer, line.batch, line.position, result);
  const left = line.request === null ? null : { ...line.request, body: "" };
  const request = left === null ? null : await sealLine(sealer, line.batch, line.position, left);
  const ours = `${LINES_OF} AND position = $3 AND state = 'running' AND owner = $4`;
  await db.batch([
    {
      sql: `UPDATE batches SET cost = cost + $5,
          bytes = bytes + (SELECT LENGTH(COALESCE($6, request)) - LENGTH(request) FROM batch_lines ${ours})
        ${OF} AND EXISTS (SELECT position FROM batch_lines ${ours})`,
      params: [accountId, id, line.position, owner, cost, request],
    },
    {
      sql: `UPDATE batch_lines SET state = $5, owner = NULL, result = $6, request = COALESCE($7, request) ${ours}`,
      params: [accountId, id, line.position, owner, state, sealed, request],
    },
    {
      sql: `UPDATE batch_lines SET state = 'stopped' ${LINES_OF} AND state = 'waiting' AND attempts = 0
        AND EXISTS (SELECT id FROM batches ${OF} AND max_cost IS NOT NULL AND cost >= max_cost)`,
      params: [accountId, id],
    },
  ]);
}

interface Claiming extends Pick<QueueOptions, "owner"> {
  readonly limit: number;
  readonly nowMs: number;
  /** Batches that have no turn. */
  readonly resting: readonly string[];
}

async function claim(
  db: Db,
  sealer: Sealer,
  { limit, nowMs, resting, owner }: Claiming,
): Promise<readonly ClaimedLine[]> {
  const locked = db.kind === "sqlite" ? "" : "FOR UPDATE SKIP LOCKED";
  const rows = await db.query(
    `WITH next AS (
           SELECT account_id, batch_id, position FROM batch_lines
           WHERE state = 'waiting' AND try_native = 0 AND not_before <= $2 AND NOT ${inListSql(db.kind, "batch_id", "$4")}
             AND EXISTS (SELECT id FROM batches WHERE batches.account_id = batch_lines.account_id
               AND batches.id = batch_lines.batch_id AND expires_at > $2
               AND (batches.status = 'in_progress' OR batch_lines.attempts > 0))
           ORDER BY position LIMIT $3 ${locked})
         UPDATE batch_lines SET state = 'running', owner = $1, attempts = attempts + 1, runs = runs + 1
         WHERE state = 'waiting' AND (account_id, batch_id, position) IN (SELECT account_id, batch_id, position FROM next)
         RETURNING ${CLAIMED}`,
    [owner, nowMs, limit, listValue(db.kind, resting)],
  );
  return (await Promise.all(rows.map((row) => readLine(db, sealer, row)))).filter((line) => line !== null);
}

export interface QueueOptions {
  readonly owner: string;
  readonly processes: Db;
  readonly endHolds: EndHolds;
  readonly own: OwnLines;
}

/** The holds of the runs after `over`. */
function holdsBetween(
  batchId: string,
  position: number,
  { over, runs }: { readonly over: number; readonly runs: number },
): readonly string[] {
  const all: string[] = [];
  for (let run = over + 1; run <= runs; run += 1) all.push(...lineHoldIds({ batchId, position, run }));
  return all;
}

/** Sums up what was paid for these holds; null where none was charged. */
async function paidFor(db: Db, holdIds: readonly string[]): Promise<bigint | null> {
  const [row] = await db.query(
    `SELECT CAST(SUM(paid) AS BIGINT) AS paid FROM charges WHERE ${inListSql(db.kind, "hold_id", "$1")}`,
    [listValue(db.kind, holdIds)],
  );
  return row?.paid == null ? null : BigInt(row.paid);
}

export async function readLine(db: Db, sealer: Sealer, row: SqlRow): Promise<ClaimedLine | null> {
  const [found] = await db.query(`SELECT * FROM batches ${OF}`, [String(row.account_id), String(row.batch_id)]);
  if (found === undefined) return null;
  const batch = await readBatch(sealer, found, []);
  return {
    batch,
    position: Number(row.position),
    attempts: Number(row.attempts),
    run: Number(row.runs),
    over: Number(row.over),
    request: await openLine(sealer, batch, row),
    native: await openNative(sealer, batch, row),
  };
}

async function giveBackOwn(db: Db, owner: string, own: OwnLines): Promise<void> {
  const rows = await db.query(
    "SELECT account_id, batch_id, position FROM batch_lines WHERE state = 'running' AND owner = $1",
    [owner],
  );
  for (const row of rows) {
    const [accountId, id, position] = [String(row.account_id), String(row.batch_id), Number(row.position)];
    if (!own.isGivenUp({ batch: { accountId, id }, position })) continue;
    await db.query(
      `UPDATE batch_lines SET state = 'waiting', owner = NULL
       ${LINES_OF} AND position = $3 AND state = 'running' AND owner = $4`,
      [accountId, id, position, owner],
    );
  }
}

async function giveBack(db: Db, { processes, owner, endHolds }: QueueOptions): Promise<void> {
  const found = await db.query("SELECT DISTINCT owner FROM batch_lines WHERE state = 'running' AND owner <> $1", [
    owner,
  ]);
  if (found.length === 0) return;
  // Read after their lines: a process is known before it claims one, so one that is missing here is dead.
  const alive = new Set((await processes.query("SELECT id FROM processes")).map(({ id }) => id));
  const dead = found.map((row) => String(row.owner)).filter((id) => !alive.has(id));
  if (dead.length === 0) return;
  // Before their requests are forgotten: what they left in an outbox is booked with its answer by now, or never.
  await endRuns(db, dead, endHolds);
  // Their requests are no longer in flight. Those with an answer were charged, and keep it.
  await processes.query(
    `DELETE FROM idempotent_requests WHERE ${ANSWER} IS NULL AND ${inListSql(db.kind, "owner", "$1")}`,
    [listValue(db.kind, dead)],
  );
  await db.query(
    `UPDATE batch_lines SET state = 'waiting', owner = NULL
     WHERE state = 'running' AND ${inListSql(db.kind, "owner", "$1")}`,
    [listValue(db.kind, dead)],
  );
}

async function endRuns(db: Db, owners: readonly string[], endHolds: EndHolds): Promise<void> {
  const rows = await db.query(
    `SELECT l.account_id, l.batch_id, l.position, l.runs, l.over, b.key_id FROM batch_lines l
     JOIN batches b ON b.account_id = l.account_id AND b.id = l.batch_id
     WHERE l.state = 'running' AND ${inListSql(db.kind, "l.owner", "$1")}`,
    [listValue(db.kind, owners)],
  );
  const holds = rows.flatMap((row) =>
    holdsBetween(String(row.batch_id), Number(row.position), { over: Number(row.over), runs: Number(row.runs) }).map(
      (holdId) => ({ holdId, accountId: String(row.account_id), keyId: String(row.key_id) }),
    ),
  );
  await endHolds(holds);
}

/** Releases what is left of the holds of batches that are over. Saying so twice does no harm. */
async function releaseHolds(db: Db, endHolds: EndHolds): Promise<void> {
  const rows = await db.query(
    `SELECT account_id, id FROM batches WHERE ended_at IS NOT NULL AND hold = 'open' LIMIT ${RELEASED_AT_ONCE}`,
  );
  for (const { account_id, id } of rows) {
    await endHolds([{ holdId: batchHoldId(String(id)), accountId: String(account_id) }]);
    await db.query(`UPDATE batches SET hold = 'released' ${OF}`, [String(account_id), String(id)]);
  }
}

/** Lines of batches that were cancelled, or have reached their cost, since they were refused and put back. */
async function endUnbegun(db: Db): Promise<void> {
  const batches = await db.query(
    `SELECT account_id, id, status FROM batches
     WHERE ended_at IS NULL AND (status = 'cancelling' OR (status = 'in_progress' AND cost >= max_cost))`,
  );
  for (const { account_id, id, status } of batches)
    await db.query(`UPDATE batch_lines SET state = $3 ${LINES_OF} AND state = 'waiting' AND attempts = 0`, [
      ...[String(account_id), String(id)],
      status === "cancelling" ? "cancelled" : "stopped",
    ]);
}

/** A line that was begun is not tried again by then: it may have been charged, and its answer may be kept no longer. */
async function endLate(db: Db, nowMs: number): Promise<void> {
  const late = await db.query(
    `SELECT account_id, id, status FROM batches
     WHERE ended_at IS NULL AND (expires_at <= $1 OR (status = 'validating' AND created_at <= $2))`,
    [nowMs, nowMs - ABANDONED_MS],
  );
  for (const { account_id, id, status } of late) {
    const params = [String(account_id), String(id)];
    const lines = `UPDATE batch_lines SET state = CASE WHEN attempts = 0 THEN 'expired' ELSE 'errored' END
      ${LINES_OF} AND state IN ('new', 'waiting')`;
    const failed = `UPDATE batches SET status = 'failed', ended_at = $3 ${OF} AND status = 'validating'`;
    await db.batch([
      { sql: lines, params },
      ...(status === "validating" ? [{ sql: failed, params: [...params, nowMs] }] : []),
    ]);
  }
}

async function endBatches(db: Db, nowMs: number): Promise<void> {
  await db.query(
    `UPDATE batches SET ended_at = $1, status = CASE
       WHEN status = 'cancelling' THEN 'cancelled'
       WHEN EXISTS (SELECT position FROM batch_lines WHERE batch_lines.account_id = batches.account_id
         AND batch_lines.batch_id = batches.id AND state = 'expired') THEN 'expired'
       ELSE 'completed' END
     WHERE ended_at IS NULL AND status IN ('in_progress', 'cancelling') AND NOT EXISTS (
       SELECT position FROM batch_lines WHERE batch_lines.account_id = batches.account_id
         AND batch_lines.batch_id = batches.id AND state IN ${OPEN})`,
    [nowMs],
  );
}
