// Hands connections from the primary process to workers. Node's cluster module loses a connection if its worker dies
// before taking it: here another worker gets the connection. Node closes the port when the last worker ends: here
// connections wait for the next worker. Node chooses the worker of a connection. `Turns` chooses the time.

import type { ChildProcess } from "node:child_process";
import { type Handout, interceptWorker, type NodeWorker } from "./node-messages.ts";
import { type TakingWorker, Turns } from "./turns.ts";

export interface Handover {
  /** Watches a worker. Call this before the worker gets its first connection. */
  watch(worker: ChildProcess): void;
  /** Tells that the worker takes connections from now on. */
  join(worker: ChildProcess): void;
  /** Hands out connections from now on: all workers were started, and the first one serves. */
  begin(): void;
  /** Lets the port close with the last worker from now on. */
  retire(): void;
}

interface WatchedWorker extends TakingWorker {
  /** Connections that the worker has not taken yet. */
  readonly pending: Set<Handout>;
  readonly node: NodeWorker;
  /** True once the worker takes connections. */
  hasJoined: boolean;
}

export function createHandover(): Handover {
  const workers = new Map<ChildProcess, WatchedWorker>();
  const joined = (): readonly WatchedWorker[] => [...workers.values()].filter(({ hasJoined }) => hasJoined);
  const turns = new Turns(joined);
  let isRetired = false;

  function passOn(handout: Handout): void {
    const [next] = joined();
    if (next === undefined) handout.connection.close();
    else next.node.hand(handout);
  }

  const isLast = (watched: WatchedWorker): boolean => !isRetired && watched.hasJoined && joined().length === 1;
  const releaseEnds = (): void => [...workers.values()].forEach(({ node }) => void node.releaseEnd());

  return {
    watch(worker) {
      const pending = new Set<Handout>();
      const node = interceptWorker(worker, {
        onHandout(handout) {
          pending.add(handout);
          turns.wait(watched, () => {
            if (pending.has(handout)) handout.deliver();
          });
        },
        onTaken(handout) {
          pending.delete(handout);
          turns.handOut();
        },
        mayEnd: () => !isLast(watched),
        onEnding() {
          watched.hasJoined = false;
        },
        onEnded() {
          workers.delete(worker);
          const untaken = [...pending];
          pending.clear();
          untaken.forEach(passOn);
          turns.noteEnded(watched);
        },
      });
      const watched: WatchedWorker = { pending, node, handed: 0, hasJoined: false };
      workers.set(worker, watched);
      turns.expect(watched);
    },
    join(worker) {
      const watched = workers.get(worker);
      if (watched === undefined) return;
      watched.hasJoined = true;
      releaseEnds();
      turns.noteJoined(watched);
    },
    begin: () => turns.begin(),
    retire() {
      isRetired = true;
      turns.open();
      releaseEnds();
    },
  };
}
