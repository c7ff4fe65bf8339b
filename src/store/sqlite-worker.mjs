// The thread that owns the SQLite connection, so that an fsync never blocks the event loop.
// Plain JavaScript on purpose: a worker is loaded by Node itself, which on Node 20 reads no TypeScript, so the same
// file serves from src/ (tests) and from dist/ (the build copies it).
//
// Group commit: all messages that wait are taken at once; their writes share one BEGIN IMMEDIATE … COMMIT, each in a
// savepoint of its own, and are answered after the commit.

import { parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { checkTables, isDamage, loadDatabaseSync, takeLock } from "./sqlite-open.mjs";

const GROUP_MAX = 512;
const STATEMENTS_MAX = 500;
const SAFE_MAX = BigInt(Number.MAX_SAFE_INTEGER);

const { path, lockPath, busyTimeoutMs } = workerData;
const queue = [];
const statements = new Map();
let answers = [];
/** The id of the interactive transaction that is open, if one is. */
let openTransaction = null;
let db;
/** Held open for as long as this process serves; the lock dies with the process, whichever way it dies. */
let lock;

try {
  const DatabaseSync = await loadDatabaseSync();
  if (lockPath !== null) lock = takeLock(DatabaseSync, lockPath);
  db = new DatabaseSync(path);
  db.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
  db.exec("PRAGMA journal_mode = WAL");
  db.exec("PRAGMA synchronous = FULL");
  db.exec("PRAGMA foreign_keys = ON");
  if (lockPath !== null) checkTables(db);
  parentPort.on("message", receive);
  parentPort.postMessage([{ id: 0 }]);
} catch (error) {
  parentPort.postMessage([{ id: 0, error: describe(error) }]);
}

function receive(first) {
  queue.push(first);
  for (let next = receiveMessageOnPort(parentPort); next !== undefined; next = receiveMessageOnPort(parentPort)) {
    queue.push(next.message);
  }
  let isMoving = true;
  while (isMoving) {
    isMoving = openTransaction === null ? takeNext() : takeStep();
    if (answers.length > 0) {
      parentPort.postMessage(answers);
      answers = [];
    }
  }
}

/** Runs the next group of independent calls, or the one call that stands alone. False when nothing waits. */
function takeNext() {
  let size = 0;
  while (size < queue.length && size < GROUP_MAX && queue[size].kind === "batch") size += 1;
  if (size > 0) runGroup(queue.splice(0, size));
  else if (queue.length > 0) runAlone(queue.shift());
  else return false;
  return true;
}

/** While a transaction is open only its own steps may run; everything else keeps its place. */
function takeStep() {
  const index = queue.findIndex((message) => message.transaction === openTransaction);
  if (index === -1) return false;
  const [message] = queue.splice(index, 1);
  if (message.kind === "step") {
    answer(message, () => [run(message.statements[0]).rows]);
    return true;
  }
  openTransaction = null;
  answer(message, () => endTransaction(message));
  return true;
}

function runAlone(message) {
  if (message.kind === "begin") {
    answer(message, () => beginTransaction(message));
  } else if (message.kind === "close") {
    db.close();
    lock?.close();
    parentPort.postMessage([{ id: message.id }]);
    parentPort.close();
  } else {
    answers.push({ id: message.id, error: { message: `No such call: ${message.kind}` } });
  }
}

/** Both ends may bring statements along, which saves a message each. */
function beginTransaction({ transaction, statements: first = [] }) {
  db.exec("BEGIN IMMEDIATE");
  try {
    const rows = runBatch(first);
    openTransaction = transaction;
    return rows;
  } catch (error) {
    abandon();
    throw error;
  }
}

function endTransaction({ kind, statements: last = [] }) {
  try {
    const rows = runBatch(last);
    db.exec(kind === "commit" ? "COMMIT" : "ROLLBACK");
    return rows;
  } catch (error) {
    abandon();
    if (kind === "commit") throw error;
    return [];
  }
}

/** Reads run after the commit: they see what was sent before them, and never what a failed commit took back. */
function runGroup(group) {
  const writes = group.filter((message) => message.isWrite);
  if (writes.length > 0) commitTogether(writes);
  for (const message of group) {
    if (!message.isWrite) answer(message, () => runBatch(message.statements));
  }
}

function commitTogether(writes) {
  const done = [];
  try {
    db.exec("BEGIN IMMEDIATE");
    for (const message of writes) done.push(runInSavepoint(message));
    db.exec("COMMIT");
    answers.push(...done);
  } catch (error) {
    // The store itself failed (disk full, lock not given): nothing of the group is written.
    abandon();
    for (const message of writes) answers.push({ id: message.id, error: describe(error) });
  }
}

function runInSavepoint(message) {
  db.exec("SAVEPOINT batch");
  try {
    const rows = runBatch(message.statements);
    db.exec("RELEASE batch");
    return { id: message.id, rows };
  } catch (error) {
    // Throws where SQLite has already rolled back everything; then the whole group is lost.
    try {
      db.exec("ROLLBACK TO batch");
    } catch {
      throw error;
    }
    db.exec("RELEASE batch");
    return { id: message.id, error: describe(error) };
  }
}

function runBatch(batch) {
  return batch.map((statement, statementIndex) => {
    let result;
    try {
      result = statement.rows === undefined ? run(statement) : runEach(statement);
    } catch (error) {
      throw Object.assign(error, { statementIndex });
    }
    const expectedRows = statement.expectRows ?? 0;
    if (result.affectedRows < expectedRows) {
      const refusal = { statementIndex, expectedRows, affectedRows: result.affectedRows };
      throw Object.assign(new Error("refused"), { refusal });
    }
    return result.rows;
  });
}

/** Whole numbers need no conversion here: each goes into a column as it is, and the column makes it whole again. */
function runEach({ sql, rows }) {
  const { statement, placeholders, order } = prepare(sql);
  let affectedRows = 0;
  for (const row of rows) {
    checkCount(row, placeholders, sql);
    affectedRows += Number(statement.run(...order.map((index) => row[index])).changes);
  }
  return { rows: [], affectedRows };
}

function run({ sql, params = [] }) {
  const { statement, returnsRows, placeholders, order } = prepare(sql);
  checkCount(params, placeholders, sql);
  const bound = order.map((index) => toSql(params[index]));
  if (!returnsRows) return { rows: [], affectedRows: Number(statement.run(...bound).changes) };
  const rows = statement.all(...bound);
  for (const row of rows) {
    for (const name in row) row[name] = fromSql(row[name]);
  }
  return { rows, affectedRows: rows.length };
}

function checkCount(params, placeholders, sql) {
  if (params.length === placeholders) return;
  throw new Error(`The statement has ${placeholders} placeholders and got ${params.length} values: ${sql}`);
}

function prepare(sql) {
  const known = statements.get(sql);
  if (known !== undefined) return known;
  // Bound by place: SQLite looks a name such as $17 up by comparing all, which for long inserts is most of their cost.
  const order = [...sql.matchAll(/\$(\d+)/g)].map((match) => Number(match[1]) - 1);
  const statement = db.prepare(sql.replace(/\$\d+/g, "?"));
  statement.setReadBigInts(true);
  const placeholders = Math.max(-1, ...order) + 1;
  const entry = { statement, returnsRows: statement.columns().length > 0, placeholders, order };
  if (statements.size >= STATEMENTS_MAX) statements.clear();
  statements.set(sql, entry);
  return entry;
}

/** A plain number would be bound as floating point, and `balance + $1` would lose digits beyond 2^53. */
function toSql(value) {
  return Number.isInteger(value) ? BigInt(value) : value;
}

function fromSql(value) {
  return typeof value === "bigint" && value <= SAFE_MAX && value >= -SAFE_MAX ? Number(value) : value;
}

function answer(message, work) {
  try {
    answers.push({ id: message.id, rows: work() });
  } catch (error) {
    answers.push({ id: message.id, error: describe(error) });
  }
}

function abandon() {
  try {
    db.exec("ROLLBACK");
  } catch {
    // SQLite rolls back by itself on some failures; then there is nothing left to undo.
  }
}

function describe(error) {
  const { message, errcode = null, statementIndex = 0, refusal = null, isInUse = false } = error;
  return { message, errcode, statementIndex, refusal, isInUse, isDamaged: error.isDamaged ?? isDamage(error) };
}
