// A provider that keeps failing is left alone, probed, and used again when it is back; clients notice nothing as long as
// there is another. Numbers are those of docs/contribute/testing.md.

import { describe, expect, test, vi } from "vitest";
import { answers, type Behaviour, chunk, fails, hangs, sends, streams } from "../../support/providers/fake-provider.ts";
import { createRandom, few, promisedMs, seedOf, variants } from "../../support/random.ts";
import { parseStream } from "../lab.ts";
import { COST, NEVER_OPEN, shareWorlds, type World } from "../world.ts";

/** A fifth more or less is the breaker's own choice. */
const OPEN_MS = 10_000;
/** More than the failures in a row that open a breaker. */
const ROUNDS = few(6, 12);
/** The breakers' clock: nothing passes unless a test says so. */
let nowMs = Date.now();
const inSharedWorld = shareWorlds(1, {
  health: { openMs: OPEN_MS, openMsMax: OPEN_MS },
  providerNow: () => nowMs,
});

/** Begins with all breakers closed, and long after what other tests did. */
function inWorld(work: (world: World) => Promise<void>): Promise<void> {
  return inSharedWorld(async (world) => {
    nowMs += 3_600_000;
    await world.heal();
    await work(world);
    await world.bank.atRest();
  });
}

interface Told {
  readonly model: string;
  readonly service: { readonly model: string; readonly fallback: boolean };
}

async function answerOf(world: World, body: object = {}): Promise<Told> {
  const { status, text } = await world.exchange(body);
  expect(status, text).toBe(200);
  return JSON.parse(text) as Told;
}

interface State {
  readonly state: string;
  readonly since: string;
  readonly nextTryAt: string | null;
  readonly lastError: string | null;
}

async function providerOf(world: World, id: string) {
  const { data } = (await (await world.gateway.api("GET", "/api/providers")).json()) as {
    data: readonly {
      id: string;
      health: State;
      credential: State;
      models: readonly (State & { isResting: boolean })[];
    }[];
  };
  return data.find((provider) => provider.id === id)!;
}

async function metric(world: World, name: string, labels: string): Promise<number> {
  const text = await (await world.gateway.api("GET", "/metrics")).text();
  const line = text.split("\n").find((each) => each.startsWith(`switchyard_${name}{${labels}}`));
  return Number(line?.split(" ").at(-1) ?? 0);
}

describe("case 57: one provider fails all the time", () => {
  test.for([false, true])("it is left alone but for one probe per window (stream: %s)", async (stream) => {
    await inWorld(async (world) => {
      world.a.on("alpha", fails(500));
      for (let round = 0; round < 3; round += 1) expect((await world.exchange({ stream })).status).toBe(200);
      expect(world.a.requests.length, "five failures in a row").toBe(5);
      for (let windows = 0; windows < few(2, 4); windows += 1) {
        for (const passingMs of [0, 0.7 * OPEN_MS]) {
          nowMs += passingMs;
          const seen = await Promise.all(Array.from({ length: 4 }, () => world.exchange({ stream })));
          expect(seen.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
          expect(world.a.requests.length).toBe(5 + windows);
        }
        nowMs += 0.6 * OPEN_MS;
        const seen = await Promise.all(Array.from({ length: 4 }, () => world.exchange({ stream })));
        expect(seen.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
        expect(world.a.requests.length, "one probe").toBe(5 + windows + 1);
      }
    });
  });

  test("back again, it is used within one window", async () => {
    await inWorld(async (world) => {
      world.a.on("alpha", fails(503));
      for (let round = 0; round < 4; round += 1) await world.exchange();
      expect(await answerOf(world)).toMatchObject({ model: "beta", service: { model: "beta", fallback: false } });
      world.a.reset();
      expect((await answerOf(world)).model, "nobody knows yet").toBe("beta");
      nowMs += 1.3 * OPEN_MS;
      for (let round = 0; round < 2; round += 1) {
        expect(await answerOf(world)).toMatchObject({ model: "alpha", service: { fallback: false } });
      }
    });
  });

  test("while the probe is out, everybody else goes past it", async () => {
    await inWorld(async (world) => {
      world.a.on("alpha", fails(500));
      for (let round = 0; round < 4; round += 1) await world.exchange();
      let release = (): void => undefined;
      const mayAnswer = new Promise<void>((resolve) => {
        release = resolve;
      });
      const late: Behaviour = async (exchange) => {
        await mayAnswer;
        await sends(500, {})(exchange);
      };
      world.a.on("alpha", late);
      nowMs += 1.3 * OPEN_MS;
      const before = world.a.requests.length;
      const probe = world.exchange();
      await vi.waitFor(() => expect(world.a.requests.length).toBe(before + 1), { timeout: 300_000 });
      const others = await Promise.all(Array.from({ length: 10 }, () => answerOf(world)));
      expect(others.every(({ model }) => model === "beta")).toBe(true);
      expect(world.a.requests.length).toBe(before + 1);
      release();
      const seen = await probe;
      expect({ status: seen.status, model: (JSON.parse(seen.text) as Told).model }).toEqual({
        status: 200,
        model: "beta",
      });
    });
  });

  test("clients' own faults and clients that leave never open it", async () => {
    await inWorld(async (world) => {
      world.a.on("alpha", fails(400));
      for (let round = 0; round < ROUNDS; round += 1) expect((await world.exchange()).status).toBe(400);
      world.a.on("alpha", hangs);
      for (let round = 0; round < ROUNDS; round += 1) {
        const received = world.a.nextRequest();
        await world.exchange({}, { leaveAt: received });
      }
      world.a.reset();
      expect(await answerOf(world)).toMatchObject({ model: "alpha" });
      expect((await providerOf(world, "lab-a")).models[0]).toMatchObject({ state: "closed", isResting: false });
    });
  });

  test("streams that break count; the probe's stream closes it only when it ends well", async () => {
    await inWorld(async (world) => {
      const breaks = streams([chunk("alpha", { content: "Hello" })], { ending: "cut" });
      world.a.on("alpha", breaks);
      for (let round = 0; round < 5; round += 1) {
        expect(parseStream((await world.exchange({ stream: true })).text).error?.code).toBe("stream_interrupted");
      }
      expect(parseStream((await world.exchange({ stream: true })).text).events[0]?.model).toBe("beta");
      nowMs += 1.3 * OPEN_MS;
      const probed = parseStream((await world.exchange({ stream: true })).text);
      expect(probed.error?.code).toBe("stream_interrupted");
      expect(parseStream((await world.exchange({ stream: true })).text).events[0]?.model).toBe("beta");
    });
  });
});

describe("case 58: all are open", () => {
  async function allOpen(world: World, behaviour: Behaviour): Promise<void> {
    world.a.on("alpha", behaviour);
    world.b.on("beta", behaviour);
    for (let round = 0; round < 5; round += 1) expect((await world.exchange()).status).toBe(503);
    world.a.requests.length = 0;
    world.b.requests.length = 0;
  }

  test("each is tried once more, then 503 at once, with a time to come back", async () => {
    await inWorld(async (world) => {
      await allOpen(world, fails(500));
      const spent = await world.bank.spentBy(async () => {
        const times: number[] = [];
        for (let round = 0; round < few(3, 9); round += 1) {
          const startedAtMs = performance.now();
          const seen = await world.exchange();
          times.push(performance.now() - startedAtMs);
          expect(seen.status).toBe(503);
          expect(Number(seen.headers["retry-after"])).toBeGreaterThan(1);
        }
        // The machine may be busy at one moment, hardly at all of them, and no timeout is that short.
        expect(Math.min(...times)).toBeLessThan(promisedMs(100));
      });
      expect(spent).toBe(0n);
      expect([world.a.requests.length, world.b.requests.length]).toEqual([few(3, 9), few(3, 9)]);
    });
  });

  test("whichever is back answers, also when it is not the first, and that closes its breaker", async () => {
    await inWorld(async (world) => {
      await allOpen(world, fails(500));
      world.b.reset();
      const spent = await world.bank.spentBy(async () => {
        const seen = await answerOf(world);
        expect(seen).toMatchObject({ model: "beta", service: { model: "alpha", fallback: true } });
        expect(await answerOf(world)).toMatchObject({ model: "beta", service: { model: "beta", fallback: false } });
      });
      expect(spent).toBe(2n * COST.beta);
    });
  });

  test("the try finds out when both are back, and that closes the first", async () => {
    await inWorld(async (world) => {
      await allOpen(world, fails(500));
      world.a.reset();
      world.b.reset();
      const spent = await world.bank.spentBy(async () => {
        for (let round = 0; round < 2; round += 1) {
          expect(await answerOf(world)).toMatchObject({ model: "alpha", service: { fallback: false } });
        }
      });
      expect(spent).toBe(2n * COST.alpha);
    });
  });

  test("providers that hang hold up a few requests; the others get their 503 at once", async () => {
    await inWorld(async (world) => {
      await allOpen(world, fails(500));
      world.a.on("alpha", hangs);
      world.b.on("beta", hangs);
      let leave = (): void => undefined;
      const leaveAt = new Promise<void>((resolve) => {
        leave = resolve;
      });
      const statuses: (number | null)[] = [];
      const all = Array.from({ length: 35 }, async () => {
        statuses.push((await world.exchange({}, { leaveAt })).status);
      });
      await vi.waitFor(() => expect(statuses.length).toBeGreaterThanOrEqual(15), { timeout: 300_000 });
      expect(statuses).toEqual(Array(15).fill(503));
      expect(world.a.requests.length + world.b.requests.length).toBe(20);
      leave();
      await Promise.all(all);
    });
  });
});

describe("case 59: the operator's faults", () => {
  test.for([
    [401, "API key refused"],
    [402, "API credit used up"],
    [403, "API key refused"],
  ] as const)("%i: the key is left alone after three, and what is wrong is shown", async ([status, reason]) => {
    await inWorld(async (world) => {
      const openings = (): Promise<number> =>
        metric(world, "breaker_openings_total", 'scope="model",provider="lab-a",model="alpha"');
      const openingsBefore = await openings();
      world.a.on("alpha", fails(status, { message: "your key lab-secret is no good" }));
      for (let round = 0; round < 6; round += 1) expect((await answerOf(world)).model).toBe("beta");
      expect(world.a.requests.length).toBe(3);
      const { health, credential, models } = await providerOf(world, "lab-a");
      expect(health.state).toBe("closed");
      for (const state of [credential, models[0]!]) {
        expect(state).toMatchObject({ state: "open", lastError: `${reason}, status ${status}` });
        expect(Date.parse(state.nextTryAt!)).toBeGreaterThan(Date.parse(state.since));
      }
      expect(await metric(world, "breaker_state", 'scope="credential",provider="lab-a",model=""')).toBe(2);
      expect(await metric(world, "breaker_state", 'scope="model",provider="lab-a",model="alpha"')).toBe(2);
      expect(await metric(world, "breaker_state", 'scope="model",provider="lab-b",model="beta"')).toBe(0);
      expect((await openings()) - openingsBefore).toBe(1);
    });
  });

  test("the decision names the model that was passed over, and why", async () => {
    await inWorld(async (world) => {
      world.a.on("alpha", fails(401));
      for (let round = 0; round < 3; round += 1) await world.exchange();
      const debug = await world.gateway.post("/v1/routing/debug", { prompt: "Hello" });
      const { decision } = (await debug.json()) as { decision: Record<string, unknown> };
      expect(decision).toMatchObject({
        model: "beta",
        filteredChain: ["beta", "alpha"],
        resting: {
          alpha: expect.stringMatching(
            /^the key of lab-a is cooling down until \S+Z after failures \(API key refused, status 401\)$/,
          ),
        },
        reasoning: expect.stringContaining("cooling down after failures, tried last: alpha"),
      });
      const seen = await world.exchange();
      const id = seen.headers["x-request-id"];
      await vi.waitFor(
        async () => {
          const list = (await (await world.gateway.api("GET", "/api/requests")).json()) as {
            data: readonly { id: string; requestId: string }[];
          };
          const found = list.data.find(({ requestId }) => requestId === id);
          const detail = (await (await world.gateway.api("GET", `/api/requests/${found?.id}`)).json()) as {
            decision: { candidates: readonly object[] };
          };
          expect(detail.decision.candidates).toContainEqual({
            model: "alpha",
            removedBecause: null,
            restingBecause: expect.stringContaining("status 401"),
          });
        },
        { timeout: 300_000 },
      );
    });
  });
});

describe("a pause the provider asked for", () => {
  test.for([
    ["seconds", () => ({ "retry-after": "250" })],
    ["milliseconds", () => ({ "retry-after-ms": "250000" })],
    ["a date", () => ({ "retry-after": new Date(Date.now() + 290_000).toUTCString() })],
    ["a limit's reset", () => ({ "x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "4m0s" })],
  ] as const)("%s: one call, and none until it is over", async ([, headers]) => {
    await inWorld(async (world) => {
      world.a.on("alpha", fails(429, {}, headers()));
      expect((await answerOf(world)).service).toEqual(expect.objectContaining({ model: "alpha", fallback: true }));
      for (let round = 0; round < 5; round += 1) expect((await answerOf(world)).service.model).toBe("beta");
      expect(world.a.requests.length).toBe(1);
      expect((await providerOf(world, "lab-a")).models[0]).toMatchObject({ state: "resting", lastError: "status 429" });
      expect(await metric(world, "breaker_state", 'scope="model",provider="lab-a",model="alpha"')).toBe(3);
    });
  });

  test("over, the model is used again", async () => {
    await inWorld(async (world) => {
      world.a.once("alpha", fails(429, {}, { "retry-after-ms": "2500" }));
      expect((await answerOf(world)).model).toBe("beta");
      nowMs += 2_400;
      expect((await answerOf(world)).model).toBe("beta");
      nowMs += 200;
      expect((await answerOf(world)).model).toBe("alpha");
    });
  });
});

test("case 65: a storm of half failing calls moves to the other provider, without a storm of retries", async () => {
  await inWorld(async (world) => {
    const { next } = createRandom(seedOf(65));
    const retries = (): Promise<number> => metric(world, "retries_total", 'provider="lab-a",outcome="made"');
    const retriesBefore = await retries();
    world.a.on("alpha", (exchange) => (next() < 0.5 ? fails(500) : answers("ok"))(exchange));
    const statuses: (number | null)[] = [];
    const rounds = few(8, 20);
    for (let round = 0; round < rounds; round += 1) {
      const seen = await Promise.all(Array.from({ length: 25 }, () => world.exchange()));
      statuses.push(...seen.map(({ status }) => status));
    }
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(0.999 * 25 * rounds);
    const calls = world.a.requests.length;
    expect((await retries()) - retriesBefore).toBeLessThanOrEqual(0.2 * calls + 20);
    expect(calls, "the breaker moved the load").toBeLessThan(12.5 * rounds);
    expect(world.b.requests.length).toBeGreaterThan(12.5 * rounds);
  });
});

describe("the time in which an answer must begin", () => {
  const inHastyWorld = shareWorlds(1, {
    routing: { answerWithinMs: 1_500 },
    health: NEVER_OPEN,
    // Longer than the test may take: nothing else ends a request.
    timeouts: { firstByteMs: 900_000, idleMs: 900_000, totalMs: 900_000 },
  });

  test.for(variants([true, false], 0))("is one for all attempts (stream: %s)", async (stream) => {
    await inHastyWorld(async (world) => {
      await world.heal();
      world.a.on("alpha", hangs);
      world.b.on("beta", hangs);
      let tookMs = 0;
      // On a busy machine the time may be over before the provider hears of the request: then there is another.
      while (world.a.requests.length === 0) {
        const startedAtMs = performance.now();
        expect((await world.exchange({ stream })).status).toBe(503);
        tookMs = performance.now() - startedAtMs;
      }
      expect(tookMs).toBeLessThan(promisedMs(4_000));
      expect(await world.a.requests[0]!.closed).toEqual({ wasCut: true });
      expect(world.b.requests.length, "no time was left for another").toBe(0);
      await world.bank.atRest();
    });
  });
});
