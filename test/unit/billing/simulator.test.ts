// A small world with a seed: clients that leave, providers that fail, a store that goes away before or after it has
// committed, an outbox that cannot be written, and processes that die between any two steps. At the end every request
// that was answered is charged once, every other one not at all, and the ledger adds up. Seeds that failed stay below.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test, vi } from "vitest";
import { createLedger, type Ledger } from "../../../src/billing/ledger.ts";
import { createOutbox, type Outbox } from "../../../src/billing/outbox.ts";
import { post } from "../../../src/billing/post.ts";
import { type BudgetTerm, newCounter } from "../../../src/core/budgets/counter.ts";
import type { LedgerStore } from "../../../src/core/ledger.ts";
import { StoreUnavailable } from "../../../src/core/store-errors.ts";
import { SILENT_LOG } from "../../../src/telemetry/log.ts";
import { seedOf } from "../../support/random.ts";
import { createMemoryLedger, hold, type MemoryLedger, problemsOf, settle, topUp } from "../../support/stores/ledger.ts";
import { SCALE } from "../../support/stores/ledger-history.ts";

const REGRESSIONS: readonly number[] = [];
const WORLDS = 40 * SCALE;
const START = 2_000n;

const root = mkdtempSync(join(tmpdir(), "switchyard-simulator-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

type Random = (below: number) => number;

/** mulberry32: small, and the same everywhere. */
function seeded(seed: number): Random {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/** What must be true of a request at the end: charged once, never, or at most once because nobody was told. */
type Fate = "charged" | "free" | "unknown";

interface World {
  readonly random: Random;
  readonly memory: MemoryLedger;
  readonly folder: string;
  readonly fates: Map<string, Fate>;
  /** The budgets that the charge of each request counts on. */
  readonly budgets: Map<string, readonly BudgetTerm[]>;
  isCalm: boolean;
}

class Killed extends Error {}

function unlessKilled(error: unknown): void {
  if (!(error instanceof Killed)) throw error;
}

/** A process: from the moment it is dead nothing of it has any effect, and none of its promises ever resolves. */
class Process {
  readonly ledger: Ledger;
  #isDead = false;

  constructor(world: World, name: string) {
    const { random, memory, folder } = world;
    const own = memory.as(name);
    const trouble = (chance: number): void => {
      if (this.#isDead) throw new Killed();
      if (!world.isCalm && random(100) < chance) throw new StoreUnavailable(new Error("away"));
    };
    const mayDie = (): void => {
      if (!world.isCalm && random(120) === 0) this.#isDead = true;
      if (this.#isDead) throw new Killed();
    };
    const store: LedgerStore = {
      ...own,
      commit: async (ops, posting) => {
        mayDie();
        trouble(6);
        const outcomes = await own.commit(ops, posting);
        mayDie();
        trouble(6);
        return outcomes;
      },
    };
    const file = createOutbox({ folder, name, log: SILENT_LOG });
    const outbox: Outbox = {
      ...file,
      add: async (op) => {
        mayDie();
        await file.add(op);
        mayDie();
      },
      done: async (holdIds) => {
        mayDie();
        await file.done(holdIds);
      },
    };
    this.ledger = createLedger({ store, owner: name, outbox, log: SILENT_LOG, ownerSilentMs: 0 });
  }

  get isDead(): boolean {
    return this.#isDead;
  }
}

/** One that never refuses, one that often does, one that counts a part, and one that only warns. */
const BUDGETS: readonly BudgetTerm[] = [
  { counter: "wide x", limit: 1_000_000n, isHard: true, fromMs: 0, partMs: 0, most: null },
  { counter: "tight x", limit: 400n, isHard: true, fromMs: 0, partMs: 0, most: null },
  { counter: "part x", limit: 300n, isHard: true, fromMs: 0, partMs: 0, most: 20n },
  { counter: "soft x", limit: 100n, isHard: false, fromMs: 0, partMs: 0, most: null },
];

/** Counters that do not say what was charged on them, or that still hold or lease something. */
function wrongCounters({ memory, budgets }: World): readonly string[] {
  return BUDGETS.flatMap(({ counter: id }) => {
    const { spent, held, leased } = memory.counters.get(id) ?? newCounter(id);
    const ids = [...memory.charges.keys()].filter((holdId) =>
      budgets.get(holdId)?.some(({ counter }) => counter === id),
    );
    const paid = ids.reduce((sum, holdId) => sum + (memory.charges.get(holdId)?.paid ?? 0n), 0n);
    const isRight = spent === paid && held === 0n && leased === 0n;
    return isRight ? [] : [`${id} says ${spent}, ${held} and ${leased}, and ${paid} were charged`];
  });
}

async function serve(world: World, process: Process, id: string): Promise<void> {
  const { random, fates } = world;
  const { ledger } = process;
  fates.set(id, "unknown");
  const limited = random(3) === 0 ? { spendLimit: BigInt(random(600)), keyId: "limited" } : {};
  const budgets = random(3) === 0 ? undefined : BUDGETS.filter(() => random(4) > 0);
  const terms = { ...limited, isMetered: random(5) === 0, ...(budgets && { budgets }) };
  const asked = Promise.resolve(ledger.hold(hold(id, BigInt(1 + random(60)), terms)));
  const held = await asked.catch(() => null);
  if (process.isDead) return;
  if (held === null || held.state === "refused") return void fates.set(id, "free");
  await Promise.resolve();
  if (random(4) === 0) {
    // The provider failed, or broke the stream: nothing is charged.
    await ledger.release({ holdId: id, accountId: "a" });
    if (!process.isDead) fates.set(id, "free");
    return;
  }
  // Answered in full, or left by its client half way: either way it is paid, sometimes for more than was held.
  world.budgets.set(id, budgets ?? []);
  const settled = await ledger.settle(settle(id, random(80), budgets && { budgets }));
  if (process.isDead) return;
  expect(["settled", "deferred"]).toContain(settled.state);
  fates.set(id, "charged");
  // A fault of ours after the booking must not undo it.
  if (random(6) === 0) await ledger.release({ holdId: id, accountId: "a" });
}

async function live(seed: number): Promise<{ world: World; problems: readonly string[] }> {
  const world: World = {
    random: seeded(seed),
    memory: createMemoryLedger(),
    folder: join(root, String(seed)),
    fates: new Map(),
    budgets: new Map(),
    isCalm: false,
  };
  const { random, memory, fates } = world;
  await memory.commit([topUp("t", START)], post);
  for (let life = 0; life < 4; life += 1) {
    const process = new Process(world, `life-${life}`);
    await process.ledger.start().catch(() => undefined);
    for (let round = 0; round < 6 && !process.isDead; round += 1) {
      const ids = Array.from({ length: 1 + random(8) }, (_, index) => `${life}-${round}-${index}`);
      await Promise.all(ids.map((id) => serve(world, process, id).catch(unlessKilled)));
      await vi.advanceTimersByTimeAsync(random(2) * 1_000);
    }
  }
  world.isCalm = true;
  const last = new Process(world, "last");
  await last.ledger.start();
  await last.ledger.stop();
  const wrong = [...fates].filter(([id, fate]) => {
    const isCharged = memory.charges.has(id);
    return (fate === "charged" && !isCharged) || (fate === "free" && isCharged);
  });
  const open = [...memory.holds.values()].filter(({ state }) => state === "open");
  const problems = [
    ...(await problemsOf(memory)),
    ...wrong.map(([id, fate]) => `${id} should be ${fate}`),
    ...open.map(({ id }) => `${id} is still open`),
    ...wrongCounters(world),
    ...[...memory.leases.values()].filter(({ amount }) => amount > 0n).map(({ owner }) => `${owner} has a lease`),
  ];
  return { world, problems };
}

test("whatever happens, who was answered pays once and nobody else pays", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  const counts = { charged: 0, free: 0, unknown: 0 };
  let leases = 0;
  let budgetLeases = 0;
  const first = seedOf(1);
  const seeds = [...REGRESSIONS, ...Array.from({ length: WORLDS }, (_, index) => first + index)];
  for (const seed of seeds) {
    const { world, problems } = await live(seed);
    expect({ seed, problems }).toEqual({ seed, problems: [] });
    for (const fate of world.fates.values()) counts[fate] += 1;
    leases += world.memory.leases.size;
    budgetLeases += world.memory.budgetLeases.size;
    vi.clearAllTimers();
  }
  vi.useRealTimers();
  // The world is worth something only while all of it happens.
  expect(leases).toBeGreaterThan(seeds.length);
  expect(budgetLeases).toBeGreaterThan(seeds.length);
  expect(Math.min(...Object.values(counts))).toBeGreaterThan(seeds.length / 2);
});
