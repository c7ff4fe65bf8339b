// The witness of a SQLite file: a small file beside it that says how far the database had come. It is written after each
// commit, and nobody waits for it, so it may lag behind the database and never leads it. A database that is behind its
// witness has lost commits. Plain JavaScript for the same reason as worker.mjs.

import { hash } from "node:crypto";
import {
  closeSync,
  constants,
  fdatasync,
  fdatasyncSync,
  fstatSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";

/** One record fits in a disk sector. Records alternate between two slots, so that a torn write spoils only the newer one. */
const SLOT_BYTES = 512;
/** A kill loses nothing of what was written. Only a power failure can, and then the witness lags by this much. */
const SYNC_MS = 1_000;

/** The newest readable record, or null: without a witness nothing can be said. */
export function readWitness(path) {
  let text;
  try {
    text = readFileSync(path, "latin1");
  } catch {
    return null;
  }
  const records = [0, SLOT_BYTES].map((start) => parseRecord(text.slice(start, start + SLOT_BYTES)));
  return records.reduce((best, record) => ((record?.commits ?? 0) > (best?.commits ?? 0) ? record : best), null);
}

/** A checksum and the head, with spaces to the end of the slot. */
function parseRecord(slot) {
  const [check, text = ""] = slot.trimEnd().split(/ (.*)/s);
  return check === checksum(text) ? JSON.parse(text) : null;
}

function checksum(text) {
  return hash("sha256", text).slice(0, 16);
}

/** The file is made with the first record. */
export function createWitness(path) {
  const record = Buffer.alloc(SLOT_BYTES);
  let file = null;
  let syncing = null;

  function sync() {
    syncing = null;
    if (file !== null) fdatasync(file, () => {});
  }
  function close() {
    if (file === null) return;
    closeSync(file);
    file = null;
  }

  return {
    write({ commits, text }) {
      record.write(`${checksum(text)} ${text}`.padEnd(SLOT_BYTES), "latin1");
      try {
        // Read and write, made where missing, never cut short: "a+" would ignore the position.
        file ??= openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600);
        writeSync(file, record, 0, SLOT_BYTES, (commits % 2) * SLOT_BYTES);
      } catch {
        // A witness that lags proves less and harms nothing; the commit itself is safe.
      }
      syncing ??= setTimeout(sync, SYNC_MS).unref();
    },
    /** Makes another file where this one was deleted. */
    refresh() {
      const named = statSync(path, { throwIfNoEntry: false });
      if (file !== null && named?.ino !== fstatSync(file).ino) close();
    },
    remove() {
      close();
      rmSync(path, { force: true });
    },
    close() {
      clearTimeout(syncing);
      if (file !== null) fdatasyncSync(file);
      close();
    },
  };
}

/** Counts commits in the database, and tells the witness of those that are durable. */
export function createHead(db, witness) {
  let advance = null;
  return {
    /** The last statement of a write transaction. Where that leads if it is committed, as the witness writes it. */
    advance() {
      advance ??= prepareAdvance(db);
      return advance?.() ?? null;
    },
    /** Notes the point that a synced commit has reached. */
    confirm(reached) {
      if (reached !== null) witness.write(reached);
    },
  };
}

const HEAD = "commits, transactions, account_id AS accountId, sequence, hash";
/** The head as text: an object of the row would only be made to be written as JSON. */
const HEAD_TEXT =
  "json_object('commits', commits, 'transactions', transactions, 'accountId', account_id, 'sequence', sequence, 'hash', hash)";

/** Prepares the count; null as long as the table is missing, as the first migrations are not counted. */
function prepareAdvance(db) {
  if (!hasHead(db)) return null;
  // For RETURNING, SQLite makes a table each time: 25 µs more in a busy thread (17 November 2026).
  const count = db.prepare("UPDATE store_head SET commits = commits + 1");
  const read = db.prepare(`SELECT commits, ${HEAD_TEXT} AS text FROM store_head`);
  return () => {
    count.get();
    return read.get();
  };
}

export function readHead(db) {
  return hasHead(db) ? db.prepare(`SELECT ${HEAD} FROM store_head`).get() : NO_HEAD;
}

const NO_HEAD = { commits: 0, transactions: 0, accountId: "", sequence: 0, hash: "" };

function hasHead(db) {
  return db.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'store_head'").get() !== undefined;
}

/** Finds the witnessed commits that the database lacks, or null. The witness must be read before the database. */
export function findLoss(db, witnessed) {
  const found = readHead(db);
  const commits = witnessed.commits - found.commits;
  const transactions = Math.max(0, witnessed.transactions - found.transactions);
  if (commits > 0) return { commits, transactions, isForeign: false };
  return isInLedger(db, witnessed) ? null : { commits: 0, transactions: 0, isForeign: true };
}

/** Hashes of transactions are chained, so the same hash means the same history up to there. */
function isInLedger(db, { accountId, sequence, hash }) {
  if (hash === "") return true;
  const find = db.prepare("SELECT 1 FROM ledger_transactions WHERE account_id = ? AND sequence = ? AND hash = ?");
  return find.get(accountId, sequence, hash) !== undefined;
}
