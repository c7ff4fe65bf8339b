// Makes calls again of what thread-messages.ts sent to this thread. Plain JavaScript for the same reason as worker.mjs.

import { deserialize } from "node:v8";

/** The statements of a worker process come encoded, so that the process between them and this thread need not read them. */
export function callOf(message) {
  const sent = message[5];
  const isEncoded = sent instanceof Uint8Array;
  return {
    id: message[0],
    kind: message[1],
    isWrite: message[2],
    isBackground: message[3],
    transaction: message[4],
    statements: statementsOf(isEncoded ? deserialize(sent) : sent),
    isEncoded,
  };
}

const [PARAMS, ROWS] = [0, 1];

function statementsOf(list) {
  const statements = [];
  let at = 0;
  const takeValues = () => {
    const from = at + 1;
    at = from + list[at];
    return list.slice(from, at);
  };
  while (at < list.length) {
    const sql = list[at];
    const expectRows = list[at + 1];
    const form = list[at + 2];
    const count = list[at + 3];
    at += 4;
    if (form === PARAMS) statements.push({ sql, expectRows, params: takeValues() });
    else if (form === ROWS) {
      const rows = [];
      for (let row = 0; row < count; row += 1) rows.push(takeValues());
      statements.push({ sql, expectRows, rows });
    } else statements.push({ sql, expectRows, packed: { count, values: takeValues() } });
  }
  return statements;
}
