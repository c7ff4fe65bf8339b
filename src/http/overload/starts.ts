// How many requests begin: a few in each turn of the event loop, as long as not too many wait for the store. A store that
// is slow by itself may have many waiting; one that is slow because of them may not.

export interface Door {
  isOpen(): boolean;
  /** Somebody begins; `onTurn` is called in the next turn. */
  enter(): void;
  /** A request that has come in whole waits for the store. Gives the function that says it no longer does. */
  work(): () => void;
  /** To be called regularly. */
  tick(isFlood: boolean): void;
}

/**
 * What begins is most of a request's work in one go, and what begins together is booked together, which is cheaper. In a
 * flood turns are to be short: connections are accepted one in each, and refusals are written at its end.
 */
const BEGIN_PER_TURN = { usual: 32, flood: 8 };
/** So many may always be at work. In a flood refusing takes its share of the machine, and only few are soon done. */
const AT_WORK_MIN = { usual: 64, flood: 24 };
const AT_WORK_MAX = 1_024;
/** No more than leave it in this time, or in twice the time that it takes when there is little to do. */
const WORK_MS = 15;
const SLOWER = 2;
/** With so few at work it is the store itself that takes its time. */
const FEW = 8;
/** So much of an average is what the last tick brought. */
const NEWEST_SHARE = 0.2;

export function createDoor(onTurn: () => void, nowMs: () => number): Door {
  const store = createStoreWatch(nowMs());
  let begun = 0;
  let atWork = 0;
  let atWorkMax: number = AT_WORK_MIN.usual;
  let state: "usual" | "flood" = "usual";
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
    isOpen: () => begun < BEGIN_PER_TURN[state] && atWork < atWorkMax,
    enter(): void {
      begun += 1;
      awaitTurn();
    },
    work() {
      const sinceMs = nowMs();
      atWork += 1;
      store.busyWith(atWork);
      let isAtWork = true;
      return () => {
        if (!isAtWork) return;
        isAtWork = false;
        atWork -= 1;
        // Somebody may be waiting for this very place.
        if (atWork === atWorkMax - 1) awaitTurn();
        store.done(nowMs() - sinceMs);
      };
    },
    tick(isFlood) {
      const worthwhile = store.tick(nowMs());
      const wasOpen = atWork < atWorkMax;
      state = isFlood ? "flood" : "usual";
      atWorkMax = Math.min(Math.max(worthwhile, AT_WORK_MIN[state]), AT_WORK_MAX);
      if (!wasOpen && atWork < atWorkMax) awaitTurn();
    },
  };
}

/** Tells how many at work the store is worth: by how many it is done with, and how long it takes at its best. */
function createStoreWatch(startedAtMs: number) {
  let perMs = 0;
  let ownMs = 0;
  let done = 0;
  let sumMs = 0;
  let most = 0;
  let tickedAtMs = startedAtMs;
  return {
    busyWith(atWork: number): void {
      if (atWork > most) most = atWork;
    },
    done(tookMs: number): void {
      done += 1;
      sumMs += tookMs;
    },
    tick(atMs: number): number {
      if (done > 0) {
        perMs += NEWEST_SHARE * (done / Math.max(1, atMs - tickedAtMs) - perMs);
        if (most <= FEW) ownMs += NEWEST_SHARE * (sumMs / done - ownMs);
      }
      tickedAtMs = atMs;
      done = sumMs = most = 0;
      return Math.ceil(perMs * Math.max(WORK_MS, SLOWER * ownMs));
    },
  };
}
