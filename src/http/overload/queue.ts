// The line in front of the gateway's own work. A few requests begin in each turn of the event loop and the others wait
// here, so that turns stay short and what has begun is soon done. A burst is worked off; a flood is cut down to what
// does not have to wait.

import { BURST, createPatience, LONG } from "./flood.ts";
import { createDoor } from "./starts.ts";

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
/** How long a request waits while there is a flood. */
const WAIT_MS = 25;
/** As many may wait even then, however slow the machine. */
const LENGTH_MIN = 16;
/** A line that was empty a moment ago shows that there is time for whoever comes, flood or not. */
const CROWDED_MS = 100;
const LENGTH_UNCROWDED = 256;
/** More than can be worked off in this time is refused at once, flood or not; but never what a burst has. */
const BURST_MS = 2_000;
/** Nobody waits for longer; the store may have stopped answering. */
const WAIT_MS_MAX = 30_000;
/** So much of the rate is that of the last tick. */
const NEWEST_SHARE = 0.2;

export function createLine(queueMs: number, nowMs: () => number = () => performance.now()): Line {
  const patience = createPatience(queueMs);
  const pace = createPace(nowMs());
  const waiting: Waiting[] = [];
  let crowdedSinceMs = 0;
  const door = createDoor(letIn, nowMs);

  function letIn(): void {
    while (waiting.length > 0 && door.isOpen()) {
      // While there is more than can be done soon, who has just come is served as on any day; it is the others' wait.
      const { visitor, sinceMs } = (waiting.length > LONG ? waiting.pop() : waiting.shift()) as Waiting;
      if (visitor.isGone()) continue;
      door.enter();
      pace.count();
      visitor.begin(nowMs() - sinceMs);
    }
  }

  /** How many may wait. */
  function most(atMs: number): number {
    if (!patience.isOver(atMs)) return Math.max(BURST, pace.perMs() * BURST_MS);
    return atMs - crowdedSinceMs > CROWDED_MS ? Math.max(LENGTH_MIN, pace.perMs() * WAIT_MS) : LENGTH_UNCROWDED;
  }

  const waitsTooLong = (waitedMs: number, atMs: number): boolean =>
    waitedMs > WAIT_MS_MAX || (waitedMs > WAIT_MS && waiting.length > most(atMs));

  const timer = setInterval(() => {
    const atMs = nowMs();
    pace.tick(atMs, waiting.length > 0);
    patience.look(waiting.length, atMs);
    door.tick(patience.isOver(atMs));
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
      if (waiting.length === 0) crowdedSinceMs = atMs;
      patience.joined();
      if (waiting.length < most(atMs)) {
        waiting.push({ visitor, sinceMs: atMs });
        return;
      }
      if (patience.isOver(atMs)) patience.refused(atMs);
      visitor.refuse();
    },
    work: () => door.work(),
    length: () => waiting.length,
    close: () => clearInterval(timer),
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
