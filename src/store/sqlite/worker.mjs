// The thread that owns the SQLite connection, so that an fsync never blocks the event loop.
// Plain JavaScript on purpose: a worker is loaded by Node itself, which on Node 20 reads no TypeScript, so the same
// file serves from src/ (tests) and from dist/ (the build copies it).
//
// Group commit: the thread takes all waiting messages. Their writes share one BEGIN IMMEDIATE … COMMIT and one sync of
// SQLite's log, and are answered after the sync. If one write fails, the others are committed without it.

import { closeSync, fdatasyncSync, openSync } from "node:fs";
import { basename } from "node:path";
import { deserialize, serialize } from "node:v8";
import { parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { createFileIdentity } from "./file-identity.mjs";
import { BACKGROUND_ROWS_MAX, createCollector, splitGroup } from "./group.mjs";
import { attach, checkTables, isDamage, loadDatabaseSync, prepareFile, takeLock } from "./open.mjs";
import { createStatements } from "./statements.mjs";
import { createHead, createWitness, findLoss, readHead, readWitness } from "./witness.mjs";

/** SQLite's code of a disk failure. */
const IO_ERROR = 10;

const { path, lockPath, busyTimeoutMs, acceptsLoss = false, isReadOnly = false } = workerData;
const { holds = "ledger", attached = null } = workerData;
const isWritten = path !== ":memory:" && !isReadOnly;
/** True if money depends on commits, so that they are counted. */
const isLedger = isWritten && holds === "ledger";
/** True if a commit is answered when it is on disk. */
const isSynced = isLedger || (isWritten && holds === "contents");
const collector = holds === "log" ? createCollector(work) : null;
let queue = [];
let answers = [];
/** Answers to writes that are committed but not synced, with the head after the last one. */
let committed = [];
let reached = null;
/** The write-ahead log, opened for its first sync. SQLite appends to the same file for as long as the database is open. */
let log = null;
/** Reason for a failed sync. The disk may lack parts of the log from then on, even if a later sync succeeds. */
let logFault = null;
/** Id of the open interactive transaction, or null. */
let openTransaction = null;
let db;
let runBatch;
/** The statements around every group, prepared once. */
let bounds;
/** Lock of the serving process. It ends with the process in any case. */
let lock;

const witness = isLedger ? createWitness(`${path}.witness`) : null;
/** Names a damaged part. A damaged ledger is met at the start already. */
let damage = null;
/** The head of the ledger. */
let head;
/** The identity of every file that stays open. */
let identity;

try {
  const DatabaseSync = await loadDatabaseSync();
  if (lockPath !== null) lock = takeLock(DatabaseSync, lockPath);
  const witnessed = isLedger ? readWitness(`${path}.witness`) : null;
  const loss = witnessed === null ? null : lossOf(DatabaseSync, witnessed);
  if (loss !== null && !acceptsLoss) throw Object.assign(new Error("behind"), { loss });
  if (loss !== null) witness.remove();
  // Copying the tables of an index of words is refused in defensive mode.
  db = new DatabaseSync(path, { readOnly: isReadOnly, defensive: attached === null });
  db.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
  if (!isReadOnly && holds !== "copy") prepareFile(db, holds);
  if (attached !== null) attach(db, attached);
  if (lockPath !== null) checkTables(db);
  runBatch = createStatements(db);
  bounds = { begin: db.prepare("BEGIN IMMEDIATE"), commit: db.prepare("COMMIT") };
  const adopted = isLedger ? watch(witnessed) : 0;
  if (isLedger || holds === "log" || holds === "contents") identity = identifyFiles();
  parentPort.on("message", receive);
  parentPort.postMessage([loss === null && adopted === 0 ? { id: 0 } : { id: 0, rows: [[{ ...loss, adopted }]] }]);
} catch (error) {
  parentPort.postMessage([{ id: 0, error: describe(error) }]);
}

/** Looks for lost commits read-only: a writable connection would remove a damaged log when it is closed. */
function lossOf(DatabaseSync, witnessed) {
  let reader;
  try {
    reader = new DatabaseSync(path, { readOnly: true });
    reader.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
    return findLoss(reader, witnessed);
  } catch (error) {
    // Opening the file later reports it as damaged or unavailable.
    if (isDamage(error)) return null;
    throw error;
  } finally {
    reader?.close();
  }
}

/** Starts counting commits. Returns the existing count if there is no witness file, otherwise 0. */
function watch(witnessed) {
  const found = readHead(db);
  head = createHead(db, witness);
  if (witnessed !== null || lockPath === null || found.commits === 0) return 0;
  witness.write({ commits: found.commits, text: JSON.stringify(found) });
  return found.commits;
}

/** Identifies the open files, or the ledger if both are open, because an audit reads the ledger. */
function identifyFiles() {
  // The first read makes SQLite create its log.
  db.prepare(`SELECT 1 FROM ${attached === null ? "main" : "attached"}.sqlite_master`).get();
  const file = attached ?? path;
  return createFileIdentity([file, `${file}-wal`, ...(lockPath === null ? [] : [lockPath])]);
}

function receive(message) {
  queue.push(readCall(message));
  work();
}

/** Decodes the statements of a worker process, which the primary process passes on without reading them. */
function readCall({ encoded, statements = [], ...call }) {
  const isEncoded = encoded !== undefined;
  return { ...call, isEncoded, statements: isEncoded ? deserialize(encoded) : statements };
}

function work() {
  for (let isMoving = true; isMoving; ) {
    takeWaiting();
    isMoving = openTransaction === null ? takeNext() : takeStep();
    if (committed.length > 0) sync();
    send();
  }
}

function takeWaiting() {
  for (let next = receiveMessageOnPort(parentPort); next !== undefined; next = receiveMessageOnPort(parentPort)) {
    queue.push(readCall(next.message));
  }
}

function send() {
  if (answers.length === 0) return;
  parentPort.postMessage(answers);
  answers = [];
}

/** Makes commits durable. SQLite itself does not wait for the disk (synchronous = NORMAL). */
function sync() {
  const synced = committed;
  committed = [];
  try {
    if (isSynced) syncLog();
  } catch (error) {
    logFault = error;
    const failure = describe(Object.assign(error, { errcode: IO_ERROR }));
    for (const { id } of synced) answers.push({ id, error: failure });
    return;
  }
  answers.push(...synced);
  send();
  head?.confirm(reached);
}

function syncLog() {
  // Opened for writing, because Windows syncs only such files.
  log ??= openSync(`${path}-wal`, "r+");
  fdatasyncSync(log);
}

/** Copies SQLite's log into the database, begins a new log and syncs both. Throws if that fails too. */
function renewLog() {
  const { busy } = db.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get();
  if (Number(busy) !== 0) throw Object.assign(new Error("the log could not be synced"), { errcode: IO_ERROR });
  logFault = null;
}

/** Makes an answer, mostly without rows. Another process gets rows encoded. */
function answerTo({ id, isEncoded }, rows) {
  if (rows.every((found) => found.length === 0)) return { id };
  return isEncoded ? { id, encoded: serialize(rows) } : { id, rows };
}

/** Runs the next group of independent calls, or one call that must run alone. Returns false if nothing waits. */
function takeNext() {
  if (queue.length === 0 || collector?.mayWait(queue)) return false;
  const { group, left } = splitGroup(queue, holds === "log" ? Number.POSITIVE_INFINITY : BACKGROUND_ROWS_MAX);
  queue = left;
  if (group.length > 0) runGroup(group);
  else runAlone(queue.shift());
  return true;
}

/** Runs the next step of the open transaction. All other calls wait. */
function takeStep() {
  const index = queue.findIndex((message) => message.transaction === openTransaction);
  if (index === -1) {
    // After a close no message follows, so nobody can end the transaction any more.
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
  answer(message, () => endTransaction(message), message.kind === "commit");
  return true;
}

function runAlone(message) {
  if (message.kind === "begin") {
    answer(message, () => beginTransaction(message));
  } else if (message.kind === "problems") {
    answer(message, () => [findProblems().map((problem) => ({ problem }))]);
  } else if (message.kind === "close") {
    collector?.close();
    db.close();
    if (log !== null) closeSync(log);
    witness?.close();
    lock?.close();
    parentPort.postMessage([{ id: message.id }]);
    parentPort.close();
  } else {
    answers.push({ id: message.id, error: { message: `No such call: ${message.kind}` } });
  }
}

/** Finds lost files. Throws if the database does not answer at all. */
function findProblems() {
  db.prepare("SELECT 1").get();
  witness?.refresh();
  return [...(identity?.check() ?? []), ...(damage === null ? [] : [damage])];
}

function begin() {
  identity?.assert();
  if (logFault !== null) renewLog();
  bounds.begin.get();
}

function commit() {
  const next = head?.advance() ?? null;
  bounds.commit.get();
  reached = next;
}

/** Begins a transaction. Begin and end may bring statements, which saves a message each. */
function beginTransaction({ transaction, statements: first }) {
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

function endTransaction({ kind, statements: last }) {
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

/** Runs a group. Reads come after the commit, so they see earlier writes and never writes of a failed commit. */
function runGroup(group) {
  const writes = group.filter((message) => message.isWrite);
  if (writes.length > 0) commitTogether(writes);
  for (const message of group) {
    if (!message.isWrite) answer(message, () => runBatch(message.statements));
  }
}

/** Commits writes without savepoints, which copy every touched page. A failed call repeats the group with them. */
function commitTogether(writes) {
  collector?.began(writes);
  try {
    committed.push(...inTransaction(() => writes.map(runPlainly)));
  } catch (error) {
    // An error without a statement is a failure of the store, such as a full disk or a missing lock.
    if (writes.length > 1 && error.statementIndex !== undefined) commitOneByOne(writes);
    else rejectAll(writes, error);
  }
}

/** Commits each write in its own savepoint, so that a bad call does not undo the others. */
function commitOneByOne(writes) {
  try {
    committed.push(...inTransaction(() => writes.map(runInSavepoint)));
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
    // Throws if SQLite has already rolled back everything. Then the whole group fails.
    try {
      db.exec("ROLLBACK TO batch");
    } catch {
      throw error;
    }
    db.exec("RELEASE batch");
    return { id: message.id, error: describe(error) };
  }
}

function answer(message, work, isCommit = false) {
  try {
    const done = answerTo(message, work());
    (isCommit ? committed : answers).push(done);
  } catch (error) {
    answers.push({ id: message.id, error: describe(error) });
  }
}

function abandon() {
  try {
    db.exec("ROLLBACK");
  } catch {
    // SQLite rolls back by itself on some failures, so there may be nothing to undo.
  }
}

function openedNames() {
  return [path, attached].flatMap((file) => (file === null ? [] : [basename(file)])).join(" or ");
}

function describe(error) {
  const { message, errcode = null, statementIndex = 0, rejection = null, isInUse = false, isMisplaced = false } = error;
  const { loss = null, isDamaged = isDamage(error) } = error;
  if (isDamaged && !isLedger) damage = `${openedNames()} is damaged (${message})`;
  return { message, errcode, statementIndex, rejection, isInUse, isMisplaced, isDamaged, loss };
}
