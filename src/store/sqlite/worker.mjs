// The thread that owns the SQLite connection, so that an fsync never blocks the event loop.
// Plain JavaScript on purpose: a worker is loaded by Node itself, which on Node 20 reads no TypeScript, so the same
// file serves from src/ (tests) and from dist/ (the build copies it).
//
// Group commit: all messages that wait are taken at once; their writes share one BEGIN IMMEDIATE … COMMIT, and are answered
// after it. Where one fails, the others are written without it.

import { deserialize, serialize } from "node:v8";
import { parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { checkTables, isDamage, loadDatabaseSync, takeLock } from "./open.mjs";
import { createPlacement } from "./placement.mjs";
import { createStatements } from "./statements.mjs";
import { createHead, createWitness, findLoss, readHead, readWitness } from "./witness.mjs";

const GROUP_MAX = 512;

const { path, lockPath, busyTimeoutMs, acceptsLoss = false, isReadOnly = false } = workerData;
/** A file that is written to, so that its commits are counted. */
const isFile = path !== ":memory:" && !isReadOnly;
const queue = [];
let answers = [];
/** The id of the interactive transaction that is open, if one is. */
let openTransaction = null;
let db;
let runBatch;
/** Held open for as long as this process serves; the lock dies with the process, whichever way it dies. */
let lock;

const witness = isFile ? createWitness(`${path}.witness`) : null;
/** Both only for a file. */
let head;
let placement;

try {
  const DatabaseSync = await loadDatabaseSync();
  if (lockPath !== null) lock = takeLock(DatabaseSync, lockPath);
  const witnessed = isFile ? readWitness(`${path}.witness`) : null;
  const loss = witnessed === null ? null : lossOf(DatabaseSync, witnessed);
  if (loss !== null && !acceptsLoss) throw Object.assign(new Error("behind"), { loss });
  if (loss !== null) witness.remove();
  db = new DatabaseSync(path, { readOnly: isReadOnly });
  db.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
  if (!isReadOnly) prepareFile();
  if (lockPath !== null) checkTables(db);
  runBatch = createStatements(db);
  const adopted = isFile ? watch(witnessed) : 0;
  parentPort.on("message", receive);
  parentPort.postMessage([loss === null && adopted === 0 ? { id: 0 } : { id: 0, rows: [[{ ...loss, adopted }]] }]);
} catch (error) {
  parentPort.postMessage([{ id: 0, error: describe(error) }]);
}

function prepareFile() {
  // Of a new file; one that exists keeps its own. Measured: 5 % less CPU a request than with SQLite's 4096.
  db.exec("PRAGMA page_size = 8192");
  db.exec("PRAGMA journal_mode = WAL");
  db.exec("PRAGMA synchronous = FULL");
  db.exec("PRAGMA foreign_keys = ON");
}

/** Read-only, because a connection that could write would tidy a damaged log away when it is closed. */
function lossOf(DatabaseSync, witnessed) {
  let reader;
  try {
    reader = new DatabaseSync(path, { readOnly: true });
    reader.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
    return findLoss(reader, witnessed);
  } catch (error) {
    // What cannot be read at all is reported by the real opening, as damage or as unavailable.
    if (isDamage(error)) return null;
    throw error;
  } finally {
    reader?.close();
  }
}

/** Begins to count commits and to look after the files. How many commits the file had, where it came without a witness. */
function watch(witnessed) {
  const found = readHead(db);
  head = createHead(db, witness);
  placement = createPlacement([path, `${path}-wal`, ...(lockPath === null ? [] : [lockPath])]);
  if (witnessed !== null || lockPath === null || found.commits === 0) return 0;
  witness.write(found);
  return found.commits;
}

function receive(first) {
  queue.push(decoded(first));
  for (let next = receiveMessageOnPort(parentPort); next !== undefined; next = receiveMessageOnPort(parentPort)) {
    queue.push(decoded(next.message));
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

/** The statements of a worker process come encoded, so that the process between them and this thread need not read them. */
function decoded(message) {
  if (message.encoded) message.statements = deserialize(message.encoded);
  return message;
}

/** The rows for the caller: another process gets them encoded, and nothing where there are none. */
function answerTo(message, rows) {
  if (message.encoded === undefined) return { id: message.id, rows };
  return rows.every((found) => found.length === 0) ? { id: message.id } : { id: message.id, encoded: serialize(rows) };
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
  if (index === -1) {
    // Nothing is sent after a close, so its opener cannot end it any more.
    if (queue.at(-1)?.kind !== "close") return false;
    openTransaction = null;
    abandon();
    return true;
  }
  const [message] = queue.splice(index, 1);
  if (message.kind === "step") {
    answer(message, () => runBatch(message.statements));
    return true;
  }
  openTransaction = null;
  answer(message, () => endTransaction(message));
  return true;
}

function runAlone(message) {
  if (message.kind === "begin") {
    answer(message, () => beginTransaction(message));
  } else if (message.kind === "problems") {
    answer(message, () => [findProblems().map((problem) => ({ problem }))]);
  } else if (message.kind === "close") {
    db.close();
    witness?.close();
    lock?.close();
    parentPort.postMessage([{ id: message.id }]);
    parentPort.close();
  } else {
    answers.push({ id: message.id, error: { message: `No such call: ${message.kind}` } });
  }
}

/** Throws where the database does not answer at all. */
function findProblems() {
  db.prepare("SELECT 1").get();
  witness?.refresh();
  return placement?.check() ?? [];
}

function begin() {
  placement?.assert();
  db.exec("BEGIN IMMEDIATE");
}

function commit() {
  head?.advance();
  db.exec("COMMIT");
  head?.confirm();
}

/** Both ends may bring statements along, which saves a message each. */
function beginTransaction({ transaction, statements: first = [] }) {
  begin();
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
    if (kind === "commit") commit();
    else db.exec("ROLLBACK");
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

/** Hardly any call fails, and a savepoint costs a copy of every page it touches: they are used when one has. */
function commitTogether(writes) {
  try {
    answers.push(...inTransaction(() => writes.map(runPlainly)));
  } catch (error) {
    // Without a statement to blame, the store itself failed (disk full, lock not given).
    if (writes.length > 1 && error.statementIndex !== undefined) commitOneByOne(writes);
    else rejectAll(writes, error);
  }
}

/** Each in a savepoint of its own, so that one bad call does not spoil the others. */
function commitOneByOne(writes) {
  try {
    answers.push(...inTransaction(() => writes.map(runInSavepoint)));
  } catch (error) {
    rejectAll(writes, error);
  }
}

function inTransaction(work) {
  begin();
  try {
    const done = work();
    commit();
    return done;
  } catch (error) {
    abandon();
    throw error;
  }
}

function rejectAll(writes, error) {
  for (const message of writes) answers.push({ id: message.id, error: describe(error) });
}

function runPlainly(message) {
  return answerTo(message, runBatch(message.statements));
}

function runInSavepoint(message) {
  db.exec("SAVEPOINT batch");
  try {
    const rows = runBatch(message.statements);
    db.exec("RELEASE batch");
    return answerTo(message, rows);
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

function answer(message, work) {
  try {
    answers.push(answerTo(message, work()));
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
  const { message, errcode = null, statementIndex = 0, rejection = null, isInUse = false, isMisplaced = false } = error;
  const { loss = null, isDamaged = isDamage(error) } = error;
  return { message, errcode, statementIndex, rejection, isInUse, isMisplaced, isDamaged, loss };
}
