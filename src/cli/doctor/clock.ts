// Check of the clock. Keys expire by it, certificates are judged by it, and processes that share limits must agree on it.

import type { Check } from "../../config/doctor.ts";
import type { Db } from "../../core/db.ts";
import type { Listing } from "../../gateway/operate/list-models.ts";
import * as TEXT from "../command/text.ts";

export interface ClockReading {
  readonly source: string;
  /** By how much ours is ahead; negative when it is behind. */
  readonly aheadMs: number;
  /** Half of the round trip: the reading may be wrong by this much. */
  readonly uncertaintyMs: number;
}

/** Beyond this, limits per minute and expiries are visibly wrong. */
const OFF_MS = 30_000;
/** Beyond this, signed requests and certificates begin to fail. */
const FAR_OFF_MS = 300_000;

export interface Clocks {
  readonly providers: readonly ClockReading[];
  readonly database: ClockReading | null;
}

/** The database has a check of its own: it and this machine must agree, whichever is right. */
export function clockChecks({ providers, database }: Clocks, nowMs: number): readonly Check[] {
  const ours = providers.length > 0 || database === null ? [clockCheck(providers, nowMs)] : [];
  return database === null ? ours : [...ours, clockCheck([database], nowMs)];
}

/** Compared with the source that agrees best: a wrong clock elsewhere is not ours to fix. */
function clockCheck(readings: readonly ClockReading[], nowMs: number): Check {
  const [best] = [...readings].sort((a, b) => offBy(a) - offBy(b));
  const time = `${new Date(nowMs).toISOString().slice(0, 19).replace("T", " ")} UTC`;
  if (best === undefined) return { state: "ok", what: TEXT.clockUnchecked(time), fix: null };
  if (offBy(best) <= OFF_MS) return { state: "ok", what: TEXT.clockMatches(time, best.source), fix: null };
  const what = `Clock is ${spanOf(best.aheadMs)} ${best.aheadMs > 0 ? "ahead of" : "behind"} ${best.source}: ${time}`;
  const fix = TEXT.turnOnNtp;
  return { state: offBy(best) > FAR_OFF_MS ? "fail" : "warn", what, fix };
}

/** The part of the difference that cannot come from the network's delay. */
function offBy({ aheadMs, uncertaintyMs }: ClockReading): number {
  return Math.max(0, Math.abs(aheadMs) - uncertaintyMs);
}

function spanOf(ms: number): string {
  const seconds = Math.round(Math.abs(ms) / 1000);
  return seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
}

export function providerClocks(listings: readonly Listing[]): readonly ClockReading[] {
  return listings.flatMap(({ provider, clock }) => (clock === null ? [] : [{ source: provider.id, ...clock }]));
}

/** Reads the clock of the database; null if the database has none of its own. */
export async function databaseClock(db: Db, now: () => number): Promise<ClockReading | null> {
  if (db.kind === "sqlite") return null;
  const sentAtMs = now();
  const [row] = await db.query("SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) AS now_ms");
  const receivedAtMs = now();
  const aheadMs = (sentAtMs + receivedAtMs) / 2 - Number(row?.now_ms);
  return { source: TEXT.theDatabase, aheadMs, uncertaintyMs: (receivedAtMs - sentAtMs) / 2 };
}
