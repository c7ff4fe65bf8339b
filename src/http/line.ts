// The line in front of the gateway's own work. A few requests begin in each turn of the event loop and the others wait
// here, so that turns stay short and what has begun is soon done. A burst is worked off; a flood is cut down to what
// does not have to wait.

import { createPatience } from "./patience.ts";

export interface Line {
  /** Whether a request may begin at once; it then counts as begun. */
  passes(): boolean;
  /** For one that may not: it is told to begin when its turn has come, or refused, perhaps at once. */
  wait(visitor: Visitor): void;
  /** A request that has come in whole needs the gateway itself. Gives the function that says it no longer does. */
  work(): () => void;
  length(): number;
  close(): void;
}

export interface Visitor {
  isGone(): boolean;
  begin(waitedMs: number): void;
  refuse(): void;
}

interface Waiting {
  readonly visitor: Visitor;
  readonly sinceMs: number;
}

const TICK_MS = 50;
/** What begins is most of a request's work in one go: so many make a turn of a few milliseconds. */
const BEGIN_PER_TURN = 8;
/** So many requests wait for the store at once; what comes back from providers wants its share of it too. */
const AT_WORK_MAX = 64;
/** How long a request waits while there is a flood. */
const WAIT_MS = 50;
/** As many may always wait, however slow the machine. */
const LENGTH_MIN = 64;
/** More than can be worked off in this time is refused at once, flood or not; but never so few. */
const BURST_MS = 2_000;
const BURST_MIN = 2_048;
/** Nobody waits for so many times as long as a line may stay as long as it is; the store may have stopped answering. */
const WAIT_FACTOR = 10;
/** So much of the rate is that of the last tick. */
const NEWEST_SHARE = 0.2;

export function createLine(queueMs: number, nowMs: () => number = () => performance.now()): Line {
  const patience = createPatience(queueMs);
  const pace = createPace(nowMs());
  const waiting: Waiting[] = [];
  const door = createDoor(letIn);

  function letIn(): void {
    while (waiting.length > 0 && door.isOpen()) {
      const { visitor, sinceMs } = waiting.shift() as Waiting;
      if (visitor.isGone()) continue;
      door.enter();
      pace.count();
      visitor.begin(nowMs() - sinceMs);
    }
  }

  const most = (isFlood: boolean): number =>
    isFlood ? Math.max(LENGTH_MIN, pace.perMs() * WAIT_MS) : Math.max(BURST_MIN, pace.perMs() * BURST_MS);

  const waitsTooLong = (waitedMs: number, atMs: number): boolean =>
    waitedMs > WAIT_FACTOR * queueMs || (waitedMs > WAIT_MS && patience.isOver(atMs) && waiting.length > most(true));

  const timer = setInterval(() => {
    const atMs = nowMs();
    pace.tick(atMs, waiting.length > 0);
    patience.look(waiting.length, atMs);
    while (waiting.length > 0 && waitsTooLong(atMs - (waiting[0] as Waiting).sinceMs, atMs)) {
      const { visitor } = waiting.shift() as Waiting;
      if (visitor.isGone()) continue;
      patience.refused(atMs);
      visitor.refuse();
    }
  }, TICK_MS).unref();

  return {
    passes() {
      if (waiting.length > 0 || !door.isOpen()) return false;
      door.enter();
      return true;
    },
    wait(visitor) {
      const atMs = nowMs();
      const isFlood = patience.isOver(atMs);
      if (waiting.length < most(isFlood)) {
        waiting.push({ visitor, sinceMs: atMs });
        return;
      }
      if (isFlood) patience.refused(atMs);
      visitor.refuse();
    },
    work() {
      return door.work(() => waiting.length > 0);
    },
    length: () => waiting.length,
    close: () => clearInterval(timer),
  };
}

/** Open to a few in each turn, as long as not too many are at work. `onTurn` is called in the next turn after somebody entered or left. */
function createDoor(onTurn: () => void) {
  let begun = 0;
  let atWork = 0;
  let isTurnDue = false;
  const turn = (): void => {
    isTurnDue = false;
    begun = 0;
    onTurn();
  };
  const awaitTurn = (): void => {
    if (isTurnDue) return;
    isTurnDue = true;
    setImmediate(turn);
  };
  return {
    isOpen: () => begun < BEGIN_PER_TURN && atWork < AT_WORK_MAX,
    enter(): void {
      begun += 1;
      awaitTurn();
    },
    work(isAwaited: () => boolean): () => void {
      atWork += 1;
      let isAtWork = true;
      return () => {
        if (!isAtWork) return;
        isAtWork = false;
        atWork -= 1;
        if (isAwaited()) awaitTurn();
      };
    },
  };
}

/** How many leave the line in a millisecond, as far as somebody waited. */
function createPace(startedAtMs: number) {
  let perMs = 0;
  let left = 0;
  let tickedAtMs = startedAtMs;
  return {
    perMs: () => perMs,
    count(): void {
      left += 1;
    },
    tick(atMs: number, isBusy: boolean): void {
      if (isBusy) perMs += NEWEST_SHARE * (left / Math.max(1, atMs - tickedAtMs) - perMs);
      left = 0;
      tickedAtMs = atMs;
    },
  };
}
