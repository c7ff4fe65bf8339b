// Tables of batches, as clients see them.

import type {
  BatchApi,
  BatchContent,
  BatchPage,
  BatchStatus,
  BatchStore,
  EndedLine,
  LineRequest,
  LineResult,
  LineState,
  NativeAnswer,
  NativeHost,
  NewBatch,
  StoredBatch,
} from "../../core/batches/batches.ts";
import { LINE_STATES } from "../../core/batches/batches.ts";
import type { Db, SqlRow } from "../../core/db.ts";
import type { OwnedId } from "../../core/responses/stored.ts";
import { inListSql, listValue } from "../dialect.ts";
import type { Sealer } from "../secret/seal.ts";

export const OF = "WHERE account_id = $1 AND id = $2";
export const LINES_OF = "WHERE account_id = $1 AND batch_id = $2";
const SHOWN_AT_ONCE = 100;

const INSERT = `INSERT INTO batches
  (account_id, id, api, status, key_id, content, max_cost, cost, created_at, expires_at, deleted_at, bytes)
  VALUES ($1, $2, $3, 'validating', $4, $5, $6, 0, $7, $8, $9, $10)`;

const INSERT_LINE = `INSERT INTO batch_lines (account_id, batch_id, position, state, not_before, attempts, request)
  VALUES ($1, $2, $3, 'new', 0, 0, $4)`;

export function createBatchStore(db: Db, sealer: Sealer): BatchStore {
  return {
    async begin(batch) {
      const { accountId, id, api, keyId, maxCost, createdAtMs, expiresAtMs, deletedAtMs } = batch;
      const content = await sealBatch(sealer, batch);
      await db.query(INSERT, [
        ...[accountId, id, api, keyId],
        ...[content, maxCost, createdAtMs, expiresAtMs, deletedAtMs, content.length],
      ]);
    },
    async addLines({ accountId, id }, first, lines) {
      const sealed = await Promise.all(lines.map((line, at) => sealLine(sealer, { accountId, id }, first + at, line)));
      const bytes = sealed.reduce((sum, { length }) => sum + length, 0);
      await db.batch([
        ...sealed.map((text, at) => ({ sql: INSERT_LINE, params: [accountId, id, first + at, text] })),
        { sql: `UPDATE batches SET bytes = bytes + $3 ${OF}`, params: [accountId, id, bytes] },
      ]);
      // Counted with these lines: of two batches that come at once, at least one sees both.
      return bytesOf(db, accountId);
    },
    async release({ accountId, id }, isNative) {
      await db.batch([
        {
          sql: `UPDATE batches SET status = CASE WHEN cancelled_at IS NULL THEN 'in_progress' ELSE 'cancelling' END
            ${OF} AND status = 'validating'`,
          params: [accountId, id],
          expectRows: 1,
        },
        {
          sql: `UPDATE batch_lines SET state = CASE
              WHEN EXISTS (SELECT id FROM batches ${OF} AND status = 'cancelling') THEN 'cancelled'
              WHEN EXISTS (SELECT id FROM batches ${OF} AND max_cost <= 0) THEN 'stopped'
              ELSE 'waiting' END, try_native = $3 ${LINES_OF}`,
          params: [accountId, id, isNative ? 1 : 0],
        },
      ]);
    },
    ...createBatchEnds(db, sealer),
    async find(api, { accountId, id }) {
      const rows = await db.query(`SELECT * FROM batches ${OF} AND api = $3 AND deleted_at > $4`, [
        ...[accountId, id],
        ...[api, Date.now()],
      ]);
      return (await readBatches(db, sealer, rows))[0] ?? null;
    },
    list: (accountId, page) => list(db, sealer, { accountId, page }),
    async *ended(name) {
      for (let last = -1; ; ) {
        const rows = await db.query(
          `SELECT position, state, request, result FROM batch_lines ${LINES_OF} AND position > $3
           ORDER BY position LIMIT ${SHOWN_AT_ONCE}`,
          [name.accountId, name.id, last],
        );
        for (const row of rows) yield await readEnded(sealer, name, row);
        if (rows.length < SHOWN_AT_ONCE) return;
        last = Number(rows.at(-1)?.position);
      }
    },
  };
}

async function bytesOf(db: Db, accountId: string): Promise<number> {
  const [used] = await db.query("SELECT SUM(bytes) AS bytes FROM batches WHERE account_id = $1", [accountId]);
  return Number(used?.bytes ?? 0);
}

function createBatchEnds(db: Db, sealer: Sealer): Pick<BatchStore, "fail" | "cancel" | "remove"> {
  return {
    async fail(batch) {
      const { accountId, id } = batch;
      const content = await sealBatch(sealer, batch);
      await db.batch([
        { sql: `DELETE FROM batch_lines ${LINES_OF}`, params: [accountId, id] },
        {
          sql: `UPDATE batches SET status = 'failed', content = $3, ended_at = $4, bytes = $5 ${OF}`,
          params: [accountId, id, content, Date.now(), content.length],
        },
      ]);
    },
    async cancel({ accountId, id }, nowMs) {
      await db.batch([
        {
          // One whose lines are not all here yet is cancelled when they are.
          sql: `UPDATE batches SET status = CASE status WHEN 'validating' THEN status ELSE 'cancelling' END, cancelled_at = $3
            ${OF} AND status IN ('in_progress', 'validating')`,
          params: [accountId, id, nowMs],
        },
        {
          sql: `UPDATE batch_lines SET state = 'cancelled' ${LINES_OF} AND state = 'waiting' AND attempts = 0
            AND EXISTS (SELECT id FROM batches ${OF} AND status = 'cancelling')`,
          params: [accountId, id],
        },
      ]);
    },
    async remove({ accountId, id }) {
      await db.batch([
        { sql: `DELETE FROM batch_lines ${LINES_OF}`, params: [accountId, id] },
        { sql: `DELETE FROM batches ${OF}`, params: [accountId, id] },
      ]);
    },
  };
}

async function list(
  db: Db,
  sealer: Sealer,
  { accountId, page }: { readonly accountId: string; readonly page: BatchPage },
): Promise<readonly StoredBatch[] | null> {
  const { api, after, isNewestFirst, limit } = page;
  const [comparison, order] = isNewestFirst ? ["<", "DESC"] : [">", "ASC"];
  const shown = "api = $2 AND deleted_at > $3";
  const [first] =
    after === null
      ? [null]
      : await db.query(`SELECT created_at FROM batches WHERE account_id = $1 AND ${shown} AND id = $4`, [
          ...[accountId, api],
          ...[Date.now(), after],
        ]);
  if (first === undefined) return null;
  const rows = await db.query(
    `SELECT * FROM batches WHERE account_id = $1 AND ${shown}
     ${first === null ? "" : `AND (created_at, id) ${comparison} ($5, $6)`}
     ORDER BY created_at ${order}, id ${order} LIMIT $4`,
    [accountId, api, Date.now(), limit, ...(first === null ? [] : [first.created_at ?? 0, after])],
  );
  return readBatches(db, sealer, rows);
}

async function readBatches(db: Db, sealer: Sealer, rows: readonly SqlRow[]): Promise<readonly StoredBatch[]> {
  if (rows.length === 0) return [];
  const counted = await db.query(
    `SELECT batch_id, state, COUNT(*) AS lines FROM batch_lines
     WHERE account_id = $1 AND ${inListSql(db.kind, "batch_id", "$2")} GROUP BY batch_id, state`,
    [
      String(rows[0]?.account_id),
      listValue(
        db.kind,
        rows.map(({ id }) => String(id)),
      ),
    ],
  );
  return Promise.all(rows.map((row) => readBatch(sealer, row, counted)));
}

export async function readBatch(sealer: Sealer, row: SqlRow, counted: readonly SqlRow[]): Promise<StoredBatch> {
  const name = { accountId: String(row.account_id), id: String(row.id) };
  const time = (value: SqlRow[string] | undefined): number | null => (value == null ? null : Number(value));
  const counts = Object.fromEntries(
    LINE_STATES.map((state) => {
      const found = counted.find((each) => each.batch_id === name.id && each.state === state);
      return [state, Number(found?.lines ?? 0)];
    }),
  ) as Record<LineState, number>;
  return {
    ...name,
    api: String(row.api) as BatchApi,
    status: String(row.status) as BatchStatus,
    keyId: String(row.key_id),
    content: await openBatch(sealer, name, String(row.content)),
    maxCost: row.max_cost == null ? null : BigInt(row.max_cost),
    cost: BigInt(row.cost ?? 0),
    createdAtMs: Number(row.created_at),
    expiresAtMs: Number(row.expires_at),
    deletedAtMs: Number(row.deleted_at),
    cancelledAtMs: time(row.cancelled_at),
    endedAtMs: time(row.ended_at),
    counts,
  };
}

const UNREADABLE: BatchContent = { endpoint: "", inputFileId: null, metadata: null, errors: [] };

function openBatch(sealer: Sealer, name: OwnedId, sealed: string): Promise<BatchContent> {
  return sealer.open(sealed, about("batches", name)).then(JSON.parse, () => UNREADABLE);
}

function sealBatch(sealer: Sealer, batch: NewBatch): Promise<string> {
  return sealer.seal(JSON.stringify(batch.content), about("batches", batch));
}

export function sealLine(sealer: Sealer, name: OwnedId, position: number, line: LineRequest): Promise<string> {
  return sealer.seal(JSON.stringify(line), about("request", name, position));
}

export function openLine(sealer: Sealer, name: OwnedId, row: SqlRow): Promise<LineRequest | null> {
  return sealer.open(String(row.request), about("request", name, Number(row.position))).then(JSON.parse, () => null);
}

/** The host of a line, or its answer. */
export function sealNative(
  sealer: Sealer,
  name: OwnedId,
  position: number,
  native: NativeHost | NativeAnswer,
): Promise<string> {
  return sealer.seal(JSON.stringify(native), about("native", name, position));
}

/** Resolves to null where there is none, and where it cannot be opened: the line then runs as if it was never sent. */
export async function openNative(sealer: Sealer, name: OwnedId, row: SqlRow): Promise<NativeAnswer | null> {
  if (row.native == null) return null;
  return sealer.open(String(row.native), about("native", name, Number(row.position))).then(JSON.parse, () => null);
}

export function sealResult(sealer: Sealer, name: OwnedId, position: number, result: LineResult): Promise<string> {
  return sealer.seal(JSON.stringify(result), about("result", name, position));
}

async function readEnded(sealer: Sealer, name: OwnedId, row: SqlRow): Promise<EndedLine> {
  const position = Number(row.position);
  const request = await openLine(sealer, name, row);
  const result =
    row.result === null
      ? null
      : await sealer.open(String(row.result), about("result", name, position)).then(JSON.parse, () => null);
  const { customId = "", metadata } = request ?? {};
  return { position, customId, metadata, state: String(row.state) as LineState, result };
}

function about(...parts: readonly [table: string, name: OwnedId, position?: number]): string {
  const [table, { accountId, id }, position] = parts;
  return JSON.stringify([table, accountId, id, position ?? null]);
}
