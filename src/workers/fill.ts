// Decides which worker gets the next connection where workers are started as needed: the first that has room. Few busy
// workers answer sooner than many that are nearly idle, whose code and caches are cold. Workers report their load, and a
// worker that has too much lets go of connections, whose clients then connect to another one.

import type { Distribution } from "./turns.ts";

export interface LoadReport {
  /** The part of its time or of its slots that the worker uses, from 0 to 1. */
  readonly load: number;
  readonly connections: number;
}

interface Member extends LoadReport {
  load: number;
  connections: number;
  /** Connections that the worker got since its last report. */
  handed: number;
  /** The worker is told to let go of connections no sooner than this. */
  restsUntilMs: number;
  /** Since when the worker has had no connection; null while it has some. */
  emptySinceMs: number | null;
}

/** A worker below this load gets the next connection. */
const ROOM_LOAD_MAX = 0.5;
/** A worker above this load lets go of connections if others have room for them. */
const BUSY_LOAD = 0.65;
/** The load that a worker keeps when connections are gathered on fewer workers. */
const GATHERED_LOAD = 0.4;
/** Room of all others together below which connections stay where they are: each move costs a new connection. */
const ROOM_MIN = 0.25;
/** A limit: where all workers are busy, one with more than this times the average lets go of the rest. */
const LEVEL_RATIO = 1.25;
/** With this load, a worker may have more to do than its report can say. */
const FULL_LOAD = 0.9;
/** Growth while all workers are full, so that few steps lead to all cores. */
const GROWTH = 4;
/** Number of connections for each full worker. More show at once how many workers are needed. */
const FULL_CONNECTIONS = 16;
/** Weight of a report beside those before it. One large request fills a tenth of a second and says little. */
const NEWEST_WEIGHT = 0.5;
/** Connections that a worker gets before it has reported. A burst goes to several workers. */
const UNREPORTED_MAX = 8;
/** A worker that let go of connections shows the effect in its second report. */
const REST_MS = 250;

export class Fill<T> implements Distribution<T> {
  readonly #members = new Map<T, Member>();
  readonly #nowMs: () => number;
  #waiting: (() => void)[] | null = [];

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  /** Connections wait for no worker that starts. */
  expect(): void {}

  begin(): void {
    this.open();
  }

  open(): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = null;
    for (const hand of waiting) hand();
  }

  noteJoined(worker: T): void {
    const emptySinceMs = this.#nowMs();
    this.#members.set(worker, { load: 0, connections: 0, handed: 0, restsUntilMs: 0, emptySinceMs });
  }

  noteEnded(worker: T): void {
    this.#members.delete(worker);
  }

  wait(worker: T, hand: (target: T) => void): void {
    const decide = (): void => hand(this.#pick() ?? worker);
    if (this.#waiting === null) decide();
    else this.#waiting.push(decide);
  }

  handOut(): void {}

  /** Takes a report. Returns the number of connections that the worker should let go of. */
  report(worker: T, { load, connections }: LoadReport): number {
    const member = this.#members.get(worker);
    if (member === undefined) return 0;
    const emptySinceMs = connections > 0 ? null : (member.emptySinceMs ?? this.#nowMs());
    member.load += NEWEST_WEIGHT * (load - member.load);
    Object.assign(member, { connections, handed: 0, emptySinceMs });
    if (connections === 0 || this.#nowMs() < member.restsUntilMs) return 0;
    const leaving = member.load > BUSY_LOAD ? this.#excessOf(member) : this.#gathered(worker, member);
    if (leaving > 0) member.restsUntilMs = this.#nowMs() + REST_MS;
    return leaving;
  }

  /** The number of workers that the load needs. */
  wanted(): number {
    const members = [...this.#members.values()];
    const loads = members.map(({ load }) => load);
    if (loads.every((load) => load > FULL_LOAD)) {
      const connections = sum(members.map((member) => member.connections));
      return Math.max(loads.length * GROWTH, Math.ceil(connections / FULL_CONNECTIONS));
    }
    return Math.ceil(sum(loads) / BUSY_LOAD);
  }

  /** True for a worker that has had no connection for this long, while the others have room. */
  isSpare(worker: T, forMs: number): boolean {
    const since = this.#members.get(worker)?.emptySinceMs ?? null;
    return since !== null && this.#nowMs() - since >= forMs && this.wanted() < this.#members.size;
  }

  #pick(): T | undefined {
    const members = [...this.#members];
    const hasRoom = ({ load, handed }: Member): boolean => load < ROOM_LOAD_MAX && handed < UNREPORTED_MAX;
    const free = members.find(([, member]) => hasRoom(member)) ?? members.sort(byConnections)[0];
    if (free === undefined) return undefined;
    const [worker, member] = free;
    member.handed += 1;
    member.emptySinceMs = null;
    return worker;
  }

  /** Connections that a busy worker has more than others. */
  #excessOf({ load, connections }: Member): number {
    const members = [...this.#members.values()];
    const room = sum(members.map((member) => Math.max(0, ROOM_LOAD_MAX - member.load)));
    if (room >= ROOM_MIN) {
      const busy = members.filter((member) => member.load > BUSY_LOAD).length;
      return Math.ceil((connections * Math.min(load - ROOM_LOAD_MAX, room / busy)) / load);
    }
    // All are busy. Then loads say little, and as many connections are as much work.
    const average = sum(members.map((member) => member.connections)) / members.length;
    return connections > LEVEL_RATIO * average + 1 ? Math.ceil(connections - average) : 0;
  }

  /** Everything, where the workers before this one suffice for all. */
  #gathered(worker: T, { connections }: Member): number {
    const needed = Math.max(1, Math.ceil(sum([...this.#members.values()].map(({ load }) => load)) / GATHERED_LOAD));
    return [...this.#members.keys()].indexOf(worker) >= needed ? connections : 0;
  }
}

function byConnections([, a]: readonly [unknown, Member], [, b]: readonly [unknown, Member]): number {
  return a.connections + a.handed - b.connections - b.handed;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
