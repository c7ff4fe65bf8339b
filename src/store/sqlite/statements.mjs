// Statements on one SQLite connection: prepared once, bound by position, with integers kept exact. Used by worker.mjs,
// and plain JavaScript for the same reason.

const STATEMENTS_MAX = 500;
const SAFE_MAX = BigInt(Number.MAX_SAFE_INTEGER);

/** Runs a batch and returns the rows of each statement. An error names its statement. */
export function createStatements(db) {
  const prepared = new Map();

  function prepare(sql) {
    const known = prepared.get(sql);
    if (known !== undefined) return known;
    // Bound by position: SQLite compares all names to find $17, which is most of the cost of a long insert.
    const order = [...sql.matchAll(/\$(\d+)/g)].map((match) => Number(match[1]) - 1);
    const text = sql.replace(/\$\d+/g, "?");
    const statement = db.prepare(text);
    statement.setReadBigInts(true);
    const placeholders = Math.max(-1, ...order) + 1;
    const isInOrder = order.every((index, place) => index === place);
    const returnsRows = statement.columns().length > 0;
    const entry = { statement, returnsRows, placeholders, order, isInOrder };
    if (prepared.size >= STATEMENTS_MAX) prepared.clear();
    prepared.set(sql, entry);
    return entry;
  }

  return (batch) =>
    batch.map((statement, statementIndex) => {
      let result;
      try {
        const entry = prepare(statement.sql);
        result = runOne(entry, statement);
      } catch (error) {
        throw Object.assign(error, { statementIndex });
      }
      const expectedRows = statement.expectRows ?? 0;
      if (result.affectedRows < expectedRows) {
        const rejection = { statementIndex, expectedRows, affectedRows: result.affectedRows };
        throw Object.assign(new Error("rejected"), { statementIndex, rejection });
      }
      return result.rows;
    });
}

function runOne(entry, statement) {
  if (statement.packed !== undefined) return runPacked(entry, statement);
  return statement.rows === undefined ? run(entry, statement) : runEach(entry, statement);
}

/** Runs a statement whose text has SQLite's own placeholders. */
function runPacked({ statement }, { packed }) {
  return { rows: [], affectedRows: Number(statement.run(...packed.values).changes) };
}

/** Runs one insert per row. Numbers need no conversion here, because the column makes them integers again. */
function runEach(entry, { sql, rows }) {
  const { statement, placeholders, order, isInOrder } = entry;
  for (const row of rows) checkCount(row, placeholders, sql);
  const bound = isInOrder ? rows : rows.map((row) => order.map((index) => row[index]));
  let affectedRows = 0;
  for (const row of bound) affectedRows += Number(statement.run(...row).changes);
  return { rows: [], affectedRows };
}

function run({ statement, returnsRows, placeholders, order }, { sql, params = [] }) {
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

/** Converts integers: a number is bound as floating point, and `balance + $1` would lose digits beyond 2^53. */
function toSql(value) {
  return Number.isInteger(value) ? BigInt(value) : value;
}

function fromSql(value) {
  return typeof value === "bigint" && value <= SAFE_MAX && value >= -SAFE_MAX ? Number(value) : value;
}
