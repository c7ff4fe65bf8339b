// The lines around the gateway break at random bytes, in random ways, on every side. Two laws hold each time: who was
// given a whole answer pays for exactly the usage it shows, and who was given none pays nothing unless it left by itself.
// SEED repeats a run, SWITCHYARD_TEST_SCALE=20 makes it twenty times as long.

import { afterAll, beforeAll, expect, test } from "vitest";
import type { Harm, TcpProxy } from "../../support/network/tcp-proxy.ts";
import { answers } from "../../support/providers/fake-provider.ts";
import { createRandom, type Random, scaled, seedOf } from "../../support/random.ts";
import { decimal, type LedgerLine, owed, PRICES } from "../../support/stores/money.ts";
import { parseStream } from "../lab.ts";
import { openWorld, type Seen, tokensOf, type World } from "../world.ts";

const LANES = 4;
const EXCHANGES = scaled(60);
const SEED = seedOf(20_261);
/** Short, because every line that goes silent is waited for; the laws hold whatever is too late. */
const TIMEOUTS = { connectMs: 600, firstByteMs: 800, idleMs: 800, totalMs: 2500 };
const TEXT = "some words that are sent one by one, with Grüße and 世界 between them";

interface Plan {
  readonly index: number;
  readonly stream: boolean;
  readonly line: "toA" | "both providers" | "client";
  readonly harm: Harm;
  /** Whether the harm is done to what goes towards the provider, or towards the gateway from the client. */
  readonly isOnTheWayOut: boolean;
}

const worlds: World[] = [];
beforeAll(async () => {
  for (let lane = 0; lane < LANES; lane += 1) worlds.push(await openWorld({ timeouts: TIMEOUTS }));
});
afterAll(async () => {
  for (const world of worlds) await world.close();
});

function draw(random: Random, index: number): Plan {
  const isOnTheWayOut = random.next() < 0.2;
  // Headers, the first events, and now and then more than the whole answer.
  const bytes = random.below(isOnTheWayOut ? 600 : random.pick([250, 1500, 5000]));
  const harm = random.pick<Harm>([
    { closeAfterBytes: bytes },
    { resetAfterBytes: bytes },
    { swallowAfterBytes: bytes },
    { sliceBytes: 1 + random.below(40) },
    { sliceBytes: 1 + random.below(40), resetAfterBytes: bytes },
    { delayMs: random.below(60) },
    { bytesPerSecond: 20_000 + random.below(50_000) },
  ]);
  return {
    index,
    stream: random.next() < 0.7,
    line: random.pick(["toA", "both providers", "both providers", "client"]),
    harm,
    isOnTheWayOut,
  };
}

/** What a client can say of its answer: whole with this cost, or not whole. */
function costOf({ stream }: Plan, seen: Seen): bigint | null {
  if (seen.status !== 200 || !seen.isWhole) return null;
  if (!stream) {
    const { model, usage, choices } = JSON.parse(seen.text);
    expect(choices[0].message.content).toBe(TEXT);
    return owed(tokensOf(usage), PRICES[model as "alpha" | "beta"]);
  }
  const { text, isDone, error, events } = parseStream(seen.text);
  expect(isDone, "either an end or an error, never both and never neither").toBe(error === null);
  if (!isDone) return null;
  expect(text).toBe(TEXT);
  const usage = events.at(-1)?.usage as { prompt_tokens: number; completion_tokens: number };
  return owed(tokensOf(usage), PRICES[events[0]?.model as "alpha" | "beta"]);
}

async function play(world: World, plan: Plan): Promise<"whole" | "broken" | "refused" | "left"> {
  for (const provider of [world.a, world.b]) provider.on("*", answers(TEXT));
  const lines = { toA: [world.toA], "both providers": [world.toA, world.toB], client: [world.toClient] }[plan.line];
  for (const line of lines) harmLine(line, plan);
  const requestId = `cut-${plan.index}`;
  const body = { stream: plan.stream, ...(plan.stream ? { stream_options: { include_usage: true } } : {}) };
  // A client that is told nothing more gives up; the providers' timeouts are shorter.
  const leaveAt = plan.line === "client" ? new Promise((resolve) => setTimeout(resolve, 1500)) : undefined;
  const options = { headers: { "x-request-id": requestId }, ...(leaveAt === undefined ? {} : { leaveAt }) };
  const seen = await world.exchange(body, options);
  await world.heal();
  await world.bank.atRest();
  const paid = await chargeOf(world, requestId);
  const cost = costOf(plan, seen);
  if (cost !== null) {
    expect(paid, "a whole answer costs what it shows").toBe(cost);
    return "whole";
  }
  if (plan.line === "client") return expectPaidAtMostTheAnswer(paid);
  expect(paid, "no whole answer, and the client stayed: nothing").toBe(0n);
  if (seen.status === 503) return "refused";
  expect(seen).toMatchObject({ status: 200, isWhole: true });
  return "broken";
}

/** The client's own line broke: it pays for what was sent to it, which is at most the answer. */
function expectPaidAtMostTheAnswer(paid: bigint): "left" {
  expect(paid).toBeGreaterThanOrEqual(0n);
  expect(paid).toBeLessThanOrEqual(owed({ input: 60, output: 60 }, PRICES.alpha));
  return "left";
}

function harmLine(line: TcpProxy, { harm, isOnTheWayOut }: Plan): void {
  if (isOnTheWayOut) line.harm({}, harm);
  else line.harm(harm);
  // Connections kept alive have their bytes behind them already; the harm counts from the first byte of new ones.
  line.cut();
}

async function chargeOf(world: World, requestId: string): Promise<bigint> {
  const answer = await world.gateway.api("GET", "/api/ledger?limit=20");
  const { data } = (await answer.json()) as { data: readonly LedgerLine[] };
  const charges = data.filter((line) => line.kind === "charge" && line.requestId === requestId);
  expect(charges.length, "charged once at most").toBeLessThanOrEqual(1);
  return charges.reduce((sum, { amountUsd }) => sum - decimal(amountUsd, 9), 0n);
}

test(`${EXCHANGES} exchanges over lines that break, seed ${SEED}`, {
  timeout: 300_000 + EXCHANGES * 2000,
}, async () => {
  const outcomes: string[] = [];
  let next = 0;
  const lane = async (world: World): Promise<void> => {
    while (next < EXCHANGES) {
      const index = next;
      next += 1;
      const plan = draw(createRandom(SEED + index * 7919), index);
      await play(world, plan).then(
        (outcome) => outcomes.push(outcome),
        (error) => {
          throw new Error(`${JSON.stringify(plan)}: ${error.message}`, { cause: error });
        },
      );
    }
  };
  await Promise.all(worlds.map(lane));
  const count = (outcome: string): number => outcomes.filter((one) => one === outcome).length;
  const counts = Object.fromEntries(["whole", "broken", "refused", "left"].map((name) => [name, count(name)]));
  console.info(`exchanges over lines that break: ${JSON.stringify(counts)}`);
  for (const [name, times] of Object.entries(counts)) expect(times, `some are ${name}`).toBeGreaterThan(0);
});
