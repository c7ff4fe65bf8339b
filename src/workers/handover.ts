// Hands connections from the primary process to workers. Node's cluster module loses a connection if its worker dies
// before taking it: here another worker gets the connection. Node closes the port when the last worker ends: here
// connections wait for the next worker. Node chooses a worker for each connection. `Turns` chooses only the time, and
// `Fill` another worker.

import type { ChildProcess } from "node:child_process";
import { Fill, type LoadReport } from "./fill.ts";
import { type Handout, interceptWorker, type NodeWorker } from "./node-messages.ts";
import { type Distribution, type TakingWorker, Turns } from "./turns.ts";

export interface Handover extends LoadAnswers {
  /** Watches a worker. Call this before the worker gets its first connection. */
  watch(worker: ChildProcess): void;
  /** Tells that the worker takes connections from now on. */
  join(worker: ChildProcess): void;
  /** Hands out connections from now on: all workers were started, and the first one serves. */
  begin(): void;
  /** Gives the worker no connection from now on, because it is about to end. */
  leave(worker: ChildProcess): void;
  /** Lets the port close with the last worker from now on. */
  retire(): void;
}

/** Answers to reports of load. They ask for nothing where all workers are always there. */
interface LoadAnswers {
  /** Takes a worker's report. Returns the number of connections that it should let go of. */
  report(worker: ChildProcess, report: LoadReport): number;
  /** The number of workers that the load needs. */
  wanted(): number;
  /** True for a worker that has had no connection for this long, and that the load does not need. */
  isSpare(worker: ChildProcess, forMs: number): boolean;
}

interface WatchedWorker extends TakingWorker {
  /** Connections that the worker has not taken yet. */
  readonly pending: Set<Handout>;
  readonly node: NodeWorker;
  /** True once the worker takes connections. */
  hasJoined: boolean;
}

/** `isFilled` where workers are started as needed. Otherwise all of them get about as many connections. */
export function createHandover({ isFilled = false } = {}): Handover {
  const workers = new Map<ChildProcess, WatchedWorker>();
  const joined = (): readonly WatchedWorker[] => [...workers.values()].filter(({ hasJoined }) => hasJoined);
  const fill = isFilled ? new Fill<WatchedWorker>() : null;
  const crew: WatchedCrew = { workers, joined, turns: fill ?? new Turns(joined), isRetired: false };
  const releaseEnds = (): void => [...workers.values()].forEach(({ node }) => void node.releaseEnd());
  return {
    ...loadReports(fill, (worker) => workers.get(worker)),
    watch: (worker) => watchWorker(worker, crew),
    join(worker) {
      const watched = workers.get(worker);
      if (watched === undefined) return;
      watched.hasJoined = true;
      releaseEnds();
      crew.turns.noteJoined(watched);
    },
    begin: () => crew.turns.begin(),
    leave(worker) {
      const watched = workers.get(worker);
      if (watched === undefined) return;
      watched.hasJoined = false;
      crew.turns.noteEnded(watched);
    },
    retire() {
      crew.isRetired = true;
      crew.turns.open();
      releaseEnds();
    },
  };
}

interface WatchedCrew {
  readonly workers: Map<ChildProcess, WatchedWorker>;
  readonly joined: () => readonly WatchedWorker[];
  readonly turns: Distribution<WatchedWorker>;
  isRetired: boolean;
}

function watchWorker(worker: ChildProcess, crew: WatchedCrew): void {
  const { workers, turns, joined } = crew;
  const pending = new Set<Handout>();
  const node = interceptWorker(worker, {
    onHandout(handout) {
      pending.add(handout);
      turns.wait(watched, (target) => deliver(handout, { chosen: watched, target }));
    },
    onTaken(handout) {
      pending.delete(handout);
      turns.handOut();
    },
    onRefused(handout) {
      pending.delete(handout);
      // While the gateway stops, the next one would refuse it as well.
      if (crew.isRetired) handout.connection.close();
      else passOn(handout, crew);
    },
    mayEnd: () => crew.isRetired || !watched.hasJoined || joined().length > 1,
    onEnding() {
      watched.hasJoined = false;
    },
    onEnded() {
      workers.delete(worker);
      const untaken = [...pending];
      pending.clear();
      for (const handout of untaken) passOn(handout, crew);
      turns.noteEnded(watched);
    },
  });
  const watched: WatchedWorker = { pending, node, handed: 0, hasJoined: false };
  workers.set(worker, watched);
  turns.expect(watched);
}

function passOn(handout: Handout, { joined }: WatchedCrew): void {
  const [next] = joined();
  if (next === undefined) handout.connection.close();
  else next.node.hand(handout);
}

/** A connection that was passed on already is not passed on again by choice. */
function deliver(handout: Handout, { chosen, target }: Record<"chosen" | "target", WatchedWorker>): void {
  if (!chosen.pending.has(handout)) return;
  if (target === chosen || handout.isPassedOn) handout.deliver();
  else if (chosen.pending.delete(handout)) target.node.hand(handout);
}

function loadReports(
  fill: Fill<WatchedWorker> | null,
  find: (worker: ChildProcess) => WatchedWorker | undefined,
): LoadAnswers {
  return {
    report(worker, report) {
      const watched = find(worker);
      return watched === undefined ? 0 : (fill?.report(watched, report) ?? 0);
    },
    wanted: () => fill?.wanted() ?? 0,
    isSpare(worker, forMs) {
      const watched = find(worker);
      return watched !== undefined && fill?.isSpare(watched, forMs) === true;
    },
  };
}
