// Tables of uploads in parts. A part is sealed like a file of its own, and is sealed again as a piece of the file.

import { createHash } from "node:crypto";
import type { FileRoom, StoredFile } from "../../core/batches/files.ts";
import type {
  CompletedParts,
  PartContent,
  StoredUpload,
  UploadCompletion,
  UploadPart,
  UploadStatus,
  UploadStore,
} from "../../core/batches/uploads.ts";
import type { Db, SqlRow } from "../../core/db.ts";
import type { OwnedId } from "../../core/responses/stored.ts";
import type { Sealer } from "../secret/seal.ts";
import { COLUMNS, readPieces, readRow, removePieces, removeRows, reserve, writePieces } from "./files.ts";

const OF = "WHERE account_id = $1 AND id = $2";
const PARTS_OF = "WHERE account_id = $1 AND upload_id = $2";

export function createUploadStore(db: Db, sealer: Sealer): UploadStore {
  const find = (name: OwnedId) => findUpload(db, sealer, name);
  return {
    begin: (upload, room) => begin(db, sealer, { upload, room }),
    find,
    parts: async ({ accountId, id }) => {
      const rows = await db.query(`SELECT id, bytes FROM upload_parts ${PARTS_OF} AND is_ready = 1 ORDER BY place`, [
        ...[accountId, id],
      ]);
      return rows.map((row) => ({ id: String(row.id), bytes: Number(row.bytes) }));
    },
    addPart: (name, part, content) => addPart(db, sealer, { name, part, ...content }),
    complete: (name, parts) => complete(db, sealer, { name, parts }),
    async cancel({ accountId, id }) {
      const [row] = await db.query(
        `UPDATE uploads SET status = 'cancelled' ${OF} AND status = 'pending' RETURNING file_id`,
        [accountId, id],
      );
      if (row === undefined) return false;
      await removeParts(db, { accountId, id });
      await removeRows(db, { accountId, id: String(row.file_id) }, "AND state = 'writing'");
      return true;
    },
    async deleteExpired(nowMs, limit) {
      const rows = await db.query("SELECT account_id, id, file_id FROM uploads WHERE expires_at <= $1 LIMIT $2", [
        nowMs,
        limit,
      ]);
      for (const row of rows) {
        const name = { accountId: String(row.account_id), id: String(row.id) };
        await removeParts(db, name);
        await removeRows(db, { ...name, id: String(row.file_id) }, "AND state = 'writing'");
        await db.query(`DELETE FROM uploads ${OF}`, [name.accountId, name.id]);
      }
      return rows.length;
    },
  };
}

async function begin(
  db: Db,
  sealer: Sealer,
  { upload, room }: { readonly upload: StoredUpload; readonly room: FileRoom },
): Promise<"begun" | "full" | "taken"> {
  const { accountId, id, file, keptMs, createdAtMs, expiresAtMs } = upload;
  const reserved = await reserve(db, sealer, { file, room });
  if (reserved !== "reserved") return reserved;
  await db.query(
    `INSERT INTO uploads (account_id, id, file_id, status, kept_ms, created_at, expires_at)
     VALUES ($1, $2, $3, 'pending', $4, $5, $6)`,
    [accountId, id, file.id, keptMs, createdAtMs, expiresAtMs],
  );
  return "begun";
}

async function findUpload(db: Db, sealer: Sealer, { accountId, id }: OwnedId): Promise<StoredUpload | null> {
  const [row] = await db.query(
    `SELECT file_id, status, kept_ms, created_at, expires_at FROM uploads ${OF} AND expires_at > $3`,
    [accountId, id, Date.now()],
  );
  if (row === undefined) return null;
  const [found] = await db.query(`SELECT ${COLUMNS} FROM files ${OF}`, [accountId, String(row.file_id)]);
  const file = found === undefined ? gone(accountId, row) : await readRow(found, sealer);
  const [createdAtMs, expiresAtMs] = [Number(row.created_at), Number(row.expires_at)];
  const keptMs = Number(row.kept_ms);
  return { accountId, id, status: String(row.status) as UploadStatus, file, keptMs, createdAtMs, expiresAtMs };
}

/** A cancelled upload has no file any more. */
function gone(accountId: string, { file_id: id, created_at: createdAt, expires_at: expiresAt }: SqlRow): StoredFile {
  const times = { createdAtMs: Number(createdAt), expiresAtMs: Number(expiresAt) };
  return { accountId, id: String(id), purpose: "user_data", name: "", mimeType: null, bytes: 0, ...times };
}

interface AddedPart extends PartContent {
  readonly name: OwnedId;
  readonly part: UploadPart;
}

async function addPart(
  db: Db,
  sealer: Sealer,
  { name: { accountId, id }, part, pieces, bytesMax, offset }: AddedPart,
): ReturnType<UploadStore["addPart"]> {
  const [made] = await db.query(
    `INSERT INTO upload_parts (account_id, upload_id, id, place, bytes, is_ready)
     SELECT $1, $2, $3, (SELECT COUNT(*) FROM upload_parts ${PARTS_OF}), CAST($4 AS BIGINT), 0 FROM uploads ${OF} AND status = 'pending'
     RETURNING id`,
    [accountId, id, part.id, part.bytes],
  );
  if (made === undefined) return "over";
  const remove = async (): Promise<void> => {
    await removePieces(db, { accountId, id: part.id });
    await db.query(`DELETE FROM upload_parts ${PARTS_OF} AND id = $3`, [accountId, id, part.id]);
  };
  try {
    // Counted with the part itself: of two that come at once, at least one sees both.
    const [sum] = await db.query(`SELECT SUM(bytes) AS bytes FROM upload_parts ${PARTS_OF}`, [accountId, id]);
    if (Number(sum?.bytes) > bytesMax) {
      await remove();
      return "too-much";
    }
    await writePieces(db, sealer, { accountId, id: part.id }, pieces);
    const [open = [], ready = []] = await db.batch([
      // Parts of one upload wait for each other, so that each sees those before it.
      {
        sql: `UPDATE uploads SET status = 'pending' ${OF} AND status = 'pending' RETURNING id`,
        params: [accountId, id],
      },
      { sql: SET_READY, params: [accountId, id, part.id, offset] },
    ]);
    if (ready.length > 0) return "stored";
    await remove();
    return open.length === 0 ? "over" : "not-next";
  } catch (error) {
    await remove().catch(() => undefined);
    throw error;
  }
}

/** A part that a client sends twice at once is stored once. */
const SET_READY = `UPDATE upload_parts SET is_ready = 1, place = COALESCE(CAST($4 AS BIGINT), place) ${PARTS_OF} AND id = $3
  AND EXISTS (SELECT id FROM uploads ${OF} AND status = 'pending')
  AND (CAST($4 AS BIGINT) IS NULL
    OR (SELECT COALESCE(SUM(bytes), 0) FROM upload_parts ${PARTS_OF} AND is_ready = 1) = CAST($4 AS BIGINT)) RETURNING id`;

interface ToComplete {
  readonly name: OwnedId;
  readonly parts: CompletedParts;
}

async function complete(db: Db, sealer: Sealer, { name, parts }: ToComplete): Promise<UploadCompletion> {
  const { accountId, id } = name;
  const begun = await findUpload(db, sealer, name);
  if (begun?.status === "completed") return { state: "completed", file: begun.file };
  const [taken] = await db.query(`UPDATE uploads SET status = 'completing' ${OF} AND status = 'pending' RETURNING id`, [
    accountId,
    id,
  ]);
  if (begun === null || taken === undefined) return { state: "over" };
  let isDone = false;
  try {
    const chosen = await chosenParts(db, { name, partIds: parts.partIds, bytes: begun.file.bytes });
    if ("state" in chosen) return chosen;
    const completed = await join(db, sealer, { upload: begun, parts, chosen });
    isDone = completed.state === "completed";
    return completed;
  } finally {
    if (!isDone) {
      await removePieces(db, begun.file);
      await db.query(`UPDATE uploads SET status = 'pending' ${OF} AND status = 'completing'`, [accountId, id]);
    }
  }
}

async function chosenParts(
  db: Db,
  { name, partIds, bytes }: { readonly name: OwnedId; readonly partIds: readonly string[]; readonly bytes: number },
): Promise<readonly OwnedId[] | Exclude<UploadCompletion, { readonly state: "completed" }>> {
  const rows = await db.query(`SELECT id, bytes FROM upload_parts ${PARTS_OF} AND is_ready = 1`, [
    ...[name.accountId, name.id],
  ]);
  const known = new Map(rows.map((row) => [String(row.id), Number(row.bytes)]));
  let sum = 0;
  for (const id of partIds) {
    const length = known.get(id);
    if (length === undefined) return { state: "unknown-part", id };
    known.delete(id);
    sum += length;
  }
  if (sum !== bytes) return { state: "other-length", bytes: sum };
  return partIds.map((id) => ({ accountId: name.accountId, id }));
}

interface Joined {
  readonly upload: StoredUpload;
  readonly parts: CompletedParts;
  readonly chosen: readonly OwnedId[];
}

async function join(db: Db, sealer: Sealer, { upload, parts, chosen }: Joined): Promise<UploadCompletion> {
  const { accountId, id, keptMs } = upload;
  const hash = createHash("md5");
  async function* all(): AsyncGenerator<Buffer> {
    for (const part of chosen) {
      const [row] = await db.query("SELECT COUNT(*) AS count FROM file_parts WHERE account_id = $1 AND file_id = $2", [
        ...[accountId, part.id],
      ]);
      for await (const piece of readPieces(db, sealer, { ...part, count: Number(row?.count) })) {
        hash.update(piece);
        yield piece;
      }
    }
  }
  // Removes what an earlier attempt left.
  await removePieces(db, upload.file);
  await writePieces(db, sealer, upload.file, all());
  if (parts.md5 !== null && hash.digest("hex") !== parts.md5) return { state: "other-md5" };
  const file = { ...upload.file, createdAtMs: parts.nowMs, expiresAtMs: parts.nowMs + keptMs };
  await db.batch([
    {
      sql: `UPDATE files SET state = 'ready', created_at = $3, expires_at = $4 ${OF} AND state = 'writing'`,
      params: [accountId, file.id, file.createdAtMs, file.expiresAtMs],
      expectRows: 1,
    },
    {
      sql: `UPDATE uploads SET status = 'completed' ${OF} AND status = 'completing'`,
      params: [accountId, id],
      expectRows: 1,
    },
  ]);
  await removeParts(db, upload);
  return { state: "completed", file };
}

async function removeParts(db: Db, { accountId, id }: OwnedId): Promise<void> {
  await db.batch([
    {
      sql: `DELETE FROM file_parts WHERE account_id = $1 AND file_id IN (SELECT id FROM upload_parts ${PARTS_OF})`,
      params: [accountId, id],
    },
    { sql: `DELETE FROM upload_parts ${PARTS_OF}`, params: [accountId, id] },
  ]);
}
