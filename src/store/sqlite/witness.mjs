// The witness of a SQLite file: a small file beside the database that names its last synced commit. Nobody waits for the
// witness, so it may lag behind the database but never lead. A database behind its witness has lost commits. Plain
// JavaScript for the same reason as worker.mjs.

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
/** Interval of syncs. A kill loses nothing; after a power failure the witness lags by this much. */
const SYNC_MS = 1_000;

/** Reads the newest readable record; null without a witness. */
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

/** Parses a slot: a checksum, the head, and spaces. */
function parseRecord(slot) {
  const [check, text = ""] = slot.trimEnd().split(/ (.*)/s);
  return check === checksum(text) ? JSON.parse(text) : null;
}

function checksum(text) {
  return hash("sha256", text).slice(0, 16);
}

/** Opens the witness. The first record creates the file. */
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
        // Opens for reading and writing, and creates but never truncates: "a+" would ignore the position.
        file ??= openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600);
        writeSync(file, record, 0, SLOT_BYTES, (commits % 2) * SLOT_BYTES);
      } catch {
        // A lagging witness proves less, but the commit itself is safe.
      }
      syncing ??= setTimeout(sync, SYNC_MS).unref();
    },
    /** Creates the file again if it was deleted. */
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

/** Counts commits in the database, and writes durable ones to the witness. */
export function createHead(db, witness) {
  let advance = null;
  return {
    /** Runs the last statement of a write transaction. Returns the head after its commit, as the witness writes it. */
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
/** SQL of the head as JSON text, which saves an object per commit. */
const HEAD_TEXT =
  "json_object('commits', commits, 'transactions', transactions, 'accountId', account_id, 'sequence', sequence, 'hash', hash)";

/** Prepares the count. Returns null while the table is missing, because the first migrations are not counted. */
function prepareAdvance(db) {
  if (!hasHead(db)) return null;
  // RETURNING makes SQLite create a table each time: 25 µs more in a busy thread (17 November 2026).
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

/** Finds witnessed commits that the database lacks, or null. Read the witness before the database. */
export function findLoss(db, witnessed) {
  const found = readHead(db);
  const commits = witnessed.commits - found.commits;
  const transactions = Math.max(0, witnessed.transactions - found.transactions);
  if (commits > 0) return { commits, transactions, isForeign: false };
  return isInLedger(db, witnessed) ? null : { commits: 0, transactions: 0, isForeign: true };
}

/** Tells whether the ledger has a transaction. Hashes are chained, so an equal hash means an equal history. */
function isInLedger(db, { accountId, sequence, hash }) {
  if (hash === "") return true;
  const find = db.prepare("SELECT 1 FROM ledger_transactions WHERE account_id = ? AND sequence = ? AND hash = ?");
  return find.get(accountId, sequence, hash) !== undefined;
}
