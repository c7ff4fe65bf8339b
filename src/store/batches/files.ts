// Tables of files. A file lies in sealed parts of equal size, so that neither storing nor reading it takes memory.

import type { FilePage, FilePurpose, FileRoom, FileStore, StoredFile } from "../../core/batches/files.ts";
import type { Db, SqlRow } from "../../core/db.ts";
import type { OwnedId } from "../../core/responses/stored.ts";
import type { Sealer } from "../secret/seal.ts";

const PART_BYTES = 256 * 1024;
/** An upload that has not ended after this long belongs to a process that died. */
const ABANDONED_MS = 60 * 60 * 1000;
const OF = "WHERE account_id = $1 AND id = $2";
const PARTS_OF = "WHERE account_id = $1 AND file_id = $2";
const DELETED = "a file was deleted while it was read";
/** Followed by the time. */
const SEEN = "AND state = 'ready' AND expires_at >";
export const COLUMNS = "account_id, id, purpose, content, bytes, created_at, expires_at";

export function createFileStore(db: Db, sealer: Sealer): FileStore {
  return {
    create: (file, pieces, room) => create(db, sealer, { file, pieces, room }),
    async find(name) {
      const { accountId, id } = name;
      const rows = await db.query(`SELECT ${COLUMNS} FROM files ${OF} ${SEEN} $3`, [accountId, id, Date.now()]);
      return rows[0] === undefined ? null : readRow(rows[0], sealer);
    },
    list: (accountId, page) => list(db, sealer, { accountId, page }),
    async *read(name) {
      const { accountId, id } = name;
      const [counted] = await db.query(
        `SELECT (SELECT COUNT(*) FROM file_parts ${PARTS_OF}) AS parts FROM files ${OF} AND state = 'ready'`,
        [accountId, id],
      );
      if (counted === undefined) throw new Error(DELETED);
      yield* readPieces(db, sealer, { accountId, id, count: Number(counted.parts) });
    },
    remove: (name) => removeRows(db, name, "AND state = 'ready'"),
    async deleteExpired(nowMs, limit) {
      const rows = await db.query(
        `SELECT account_id, id FROM files
         WHERE expires_at <= $1 OR (state = 'writing' AND created_at <= $2) LIMIT $3`,
        [nowMs, nowMs - ABANDONED_MS, limit],
      );
      for (const row of rows) await removeRows(db, { accountId: String(row.account_id), id: String(row.id) });
      return rows.length;
    },
  };
}

/** Reads the first `count` pieces under a name. */
export async function* readPieces(
  db: Db,
  sealer: Sealer,
  { accountId, id, count }: OwnedId & { readonly count: number },
): AsyncGenerator<Buffer, void, void> {
  for (let position = 0; position < count; position += 1) {
    const [row] = await db.query(`SELECT content FROM file_parts ${PARTS_OF} AND position = $3`, [
      accountId,
      id,
      position,
    ]);
    if (row === undefined) throw new Error(DELETED);
    yield Buffer.from(await sealer.open(String(row.content), aboutPart({ accountId, id }, position)), "latin1");
  }
}

interface NewFile {
  readonly file: StoredFile;
  readonly pieces: AsyncIterable<Buffer>;
  readonly room: FileRoom;
}

async function create(db: Db, sealer: Sealer, { file, pieces, room }: NewFile): Promise<"stored" | "full" | "taken"> {
  const { accountId, id } = file;
  const reserved = await reserve(db, sealer, { file, room });
  if (reserved !== "reserved") return reserved;
  try {
    await writePieces(db, sealer, file, pieces);
    await db.batch([{ sql: `UPDATE files SET state = 'ready' ${OF}`, params: [accountId, id], expectRows: 1 }]);
    return "stored";
  } catch (error) {
    // What cannot be deleted now is deleted as an abandoned upload. If that was done already, only parts are left.
    await removeRows(db, file)
      .then(() => removePieces(db, file))
      .catch(() => undefined);
    throw error;
  }
}

/** Takes up the room of a file, which nobody sees until all of it is here. */
export async function reserve(
  db: Db,
  sealer: Sealer,
  { file, room }: Pick<NewFile, "file" | "room">,
): Promise<"reserved" | "full" | "taken"> {
  const { accountId } = file;
  const made = await db.query(
    `INSERT INTO files (${COLUMNS}, state) VALUES ($1, $2, $3, $4, $5, $6, $7, 'writing')
     ON CONFLICT (account_id, id) DO NOTHING RETURNING id`,
    await valuesOf(file, sealer),
  );
  if (made.length === 0) return "taken";
  // Counted with the file itself: of two that come at once, at least one sees both.
  const [used] = await db.query("SELECT SUM(bytes) AS bytes, COUNT(*) AS files FROM files WHERE account_id = $1", [
    accountId,
  ]);
  if (Number(used?.bytes) <= room.bytes && Number(used?.files) <= room.files) return "reserved";
  await removeRows(db, file);
  return "full";
}

/** Seals bytes piece by piece under this name, and returns their number. */
export async function writePieces(
  db: Db,
  sealer: Sealer,
  name: OwnedId,
  pieces: AsyncIterable<Buffer>,
): Promise<number> {
  let [position, bytes] = [0, 0];
  for await (const part of inParts(pieces)) {
    const content = await sealer.seal(part.toString("latin1"), aboutPart(name, position));
    await db.query("INSERT INTO file_parts (account_id, file_id, position, content) VALUES ($1, $2, $3, $4)", [
      ...[name.accountId, name.id],
      ...[position, content],
    ]);
    position += 1;
    bytes += part.length;
  }
  return bytes;
}

export async function removePieces(db: Db, { accountId, id }: OwnedId): Promise<void> {
  await db.query(`DELETE FROM file_parts ${PARTS_OF}`, [accountId, id]);
}

async function valuesOf(file: StoredFile, sealer: Sealer) {
  const { accountId, id, purpose, name, mimeType, bytes, createdAtMs, expiresAtMs } = file;
  // A name has no line break.
  const about = mimeType === null ? name : `${name}\n${mimeType}`;
  return [
    accountId,
    id,
    purpose,
    await sealer.seal(about.toWellFormed(), aboutName(file)),
    bytes,
    createdAtMs,
    expiresAtMs,
  ];
}

export async function readRow(row: SqlRow, sealer: Sealer): Promise<StoredFile> {
  const name = { accountId: String(row.account_id), id: String(row.id) };
  // A row that another secret sealed keeps its id, so that it can be deleted.
  const about = await sealer.open(String(row.content), aboutName(name)).catch(() => name.id);
  const [shown = "", mimeType = null] = about.split("\n");
  return {
    ...name,
    purpose: String(row.purpose) as FilePurpose,
    name: shown,
    mimeType,
    bytes: Number(row.bytes),
    createdAtMs: Number(row.created_at),
    expiresAtMs: Number(row.expires_at),
  };
}

async function list(
  db: Db,
  sealer: Sealer,
  { accountId, page }: { readonly accountId: string; readonly page: FilePage },
): Promise<readonly StoredFile[] | null> {
  const { purpose, after, isNewestFirst, limit } = page;
  const [comparison, order] = isNewestFirst ? ["<", "DESC"] : [">", "ASC"];
  const [first] =
    after === null
      ? [{ created_at: null }]
      : await db.query(`SELECT created_at FROM files ${OF} ${SEEN} $3`, [accountId, after, Date.now()]);
  if (first === undefined) return null;
  const rows = await db.query(
    `SELECT ${COLUMNS} FROM files WHERE account_id = $1 ${SEEN} $3
     ${purpose === null ? "" : `AND purpose = ${after === null ? "$4" : "$6"}`}
     ${after === null ? "" : `AND (created_at, id) ${comparison} ($4, $5)`}
     ORDER BY created_at ${order}, id ${order} LIMIT $2`,
    [
      ...[accountId, limit, Date.now()],
      ...(after === null ? [] : [first.created_at ?? 0, after]),
      ...(purpose === null ? [] : [purpose]),
    ],
  );
  return Promise.all(rows.map((row) => readRow(row, sealer)));
}

export async function removeRows(db: Db, { accountId, id }: OwnedId, condition = ""): Promise<boolean> {
  const answers = await db.batch([
    {
      sql: `DELETE FROM file_parts ${PARTS_OF} AND EXISTS (SELECT id FROM files ${OF} ${condition})`,
      params: [accountId, id],
    },
    { sql: `DELETE FROM files ${OF} ${condition} RETURNING id`, params: [accountId, id] },
  ]);
  return (answers[1]?.length ?? 0) > 0;
}

function aboutName({ accountId, id }: OwnedId): string {
  return JSON.stringify(["files", accountId, id]);
}

function aboutPart({ accountId, id }: OwnedId, position: number): string {
  return JSON.stringify(["file_parts", accountId, id, position]);
}

async function* inParts(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let waiting: Buffer[] = [];
  let length = 0;
  for await (const piece of pieces) {
    waiting.push(piece);
    length += piece.length;
    if (length < PART_BYTES) continue;
    const whole = Buffer.concat(waiting);
    let at = 0;
    for (; length - at >= PART_BYTES; at += PART_BYTES) yield whole.subarray(at, at + PART_BYTES);
    waiting = [Buffer.from(whole.subarray(at))];
    length -= at;
  }
  if (length > 0) yield Buffer.concat(waiting);
}
