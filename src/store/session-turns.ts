// The last turns of sessions in the database, as JSON, because only the gateway's own memory reads them.

import type { Db } from "../core/db.ts";
import { type SessionTurn, type TurnStore, turnKey } from "../core/session.ts";
import { bulkInsert, type InsertShape, integer, text } from "./dialect.ts";

export function createSessionStore(db: Db): TurnStore {
  const insert = bulkInsert(db.kind, TURNS);
  return {
    async write(turns) {
      await db.batch([await insert.statementInSlices(turns)], { isBackground: true });
    },
    async since(atMs, most) {
      const rows = await db.query(SINCE, [atMs, most]);
      return rows.map(({ turn_json: json }) => readTurn(String(json)));
    },
    async deleteBefore(atMs, most) {
      return (await db.query(DELETE, [atMs, most])).length;
    },
  };
}

const TURNS: InsertShape<SessionTurn> = {
  table: "session_turns",
  columns: {
    session: text(turnKey),
    turn_at: integer((turn) => turn.atMs),
    turn_json: text(writeTurn),
  },
  onConflict: `ON CONFLICT (session) DO UPDATE SET turn_at = excluded.turn_at, turn_json = excluded.turn_json
    WHERE excluded.turn_at >= session_turns.turn_at`,
};

/** Stored turns call the host key `route`, as earlier versions do. */
type StoredTurn = Omit<SessionTurn, "hostKey"> & { readonly route: string };

function writeTurn({ hostKey: route, ...turn }: SessionTurn): string {
  return JSON.stringify({ ...turn, route } satisfies StoredTurn);
}

function readTurn(json: string): SessionTurn {
  const { route: hostKey, ...turn } = JSON.parse(json) as StoredTurn;
  return { ...turn, hostKey };
}

const SINCE = "SELECT turn_json FROM session_turns WHERE turn_at >= $1 ORDER BY turn_at DESC LIMIT $2";

const DELETE = `DELETE FROM session_turns WHERE session IN
  (SELECT session FROM session_turns WHERE turn_at < $1 ORDER BY turn_at LIMIT $2) RETURNING session`;
