// Clients that disconnect at any moment: within their own request, while the hold is taken, before, within or at the end
// of the response. Whatever the moment, soon nothing is on hold, nothing is in flight and every provider is released.

import { request as httpRequest, ServerResponse } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, afterEach, expect, test, vi } from "vitest";
import { ADMIN_TOKEN, HELLO } from "../../support/gateway/gateway.ts";
import { openSocket } from "../../support/network/raw-http.ts";
import {
  answers,
  type Behaviour,
  chunk,
  cuts,
  delays,
  event,
  fails,
  hangs,
} from "../../support/providers/fake-provider.ts";
import { createRandom, few, isLong, type Random, seedOf } from "../../support/random.ts";
import { createTestDatabase } from "../../support/stores/postgres.ts";
import { openWorld, type World } from "../world.ts";

const SEED = seedOf(20261115);
const ROUNDS = few(1, 4);
const AT_ONCE = isLong ? 150 : 100;
/** From the last client's leaving to the last hold. Generous, for a machine that is busy with other things. */
const REST_MS = 300_000;
const QUIET_CHECKS = 5;

const database = await createTestDatabase();
const OPTIONS = {
  timeouts: { firstByteMs: 600_000, idleMs: 600_000, totalMs: 600_000 },
  health: { failuresInRow: 100_000, callsMin: 100_000 },
};
let world: World;
afterEach(() => world.close());
afterAll(() => database?.drop());

/** Words with pauses between them, for as long as somebody listens. */
function trickles(random: Random): Behaviour {
  const words = 1 + random.below(20);
  const gapMs = random.below(40);
  return async ({ response }) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (let word = 0; word < words && !response.destroyed; word += 1) {
      response.write(event(chunk("alpha", { content: `word ${word} ` })));
      await pause(gapMs);
    }
    response.end(`${event(chunk("alpha", {}, "stop"))}data: [DONE]\n\n`);
  };
}

function drawBehaviour(random: Random): Behaviour {
  return random.pick<() => Behaviour>([
    () => hangs,
    () => trickles(random),
    () => trickles(random),
    () => delays(random.below(300), answers("late but whole")),
    () => delays(random.below(100), cuts),
    () => fails(500),
    () => answers("at once"),
  ])();
}

interface LeavingClient {
  readonly path: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  /** How much of the body is sent before the client leaves; all of it when it leaves later. */
  readonly sentBytes: number;
  readonly leavesAfterMs: number;
  readonly isRude: boolean;
  /** Whether the same is sent again on the connection without waiting. */
  readonly times: number;
}

function draw(random: Random, index: number): LeavingClient {
  const isMessages = random.below(4) === 0;
  const stream = random.below(3) > 0;
  const wish = isMessages
    ? { max_tokens: 50, messages: HELLO.messages, model: "auto", stream }
    : { ...HELLO, stream, ...(random.below(2) === 0 ? { max_tokens: 50 } : {}) };
  const body = JSON.stringify(wish);
  const isMidUpload = random.below(8) === 0;
  return {
    path: isMessages ? "/v1/messages" : "/v1/chat/completions",
    body,
    headers: random.below(6) === 0 ? { "idempotency-key": `storm-${SEED}-${index}` } : {},
    sentBytes: isMidUpload ? random.below(body.length) : body.length,
    leavesAfterMs: random.pick([0, random.below(5), random.below(30), random.below(400)]),
    isRude: random.below(2) === 0,
    times: random.below(5) === 0 ? 3 : 1,
  };
}

/** Writes, and leaves at its time, with a FIN or an RST, whatever has come by then. */
async function leave({ path, body, headers, sentBytes, leavesAfterMs, isRude, times }: LeavingClient): Promise<void> {
  const socket = openSocket(world.gateway.url);
  socket.on("error", () => undefined).on("data", () => undefined);
  const head = [
    `POST ${path} HTTP/1.1`,
    "host: gateway",
    `authorization: Bearer ${world.gateway.key}`,
    "content-type: application/json",
    `content-length: ${Buffer.byteLength(body)}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    "",
    "",
  ].join("\r\n");
  socket.write(`${(head + body).repeat(times - 1)}${head}${body.slice(0, sentBytes)}`);
  await pause(leavesAfterMs);
  if (isRude) socket.resetAndDestroy();
  else socket.destroy();
}

async function inFlight(): Promise<number> {
  const answer = await fetch(`${world.gateway.url}/metrics`, { headers: { authorization: `Bearer ${ADMIN_TOKEN}` } });
  return Number(/^switchyard_requests_in_flight (\d+)/m.exec(await answer.text())?.[1]);
}

/** Returns how long it took. What the last clients sent may only now be read, so one quiet moment is not enough. */
async function restMs(): Promise<number> {
  const startedAtMs = performance.now();
  let quiet = 0;
  await vi.waitFor(
    async () => {
      const [requests, { held }] = [await inFlight(), await world.bank.balance()];
      quiet = requests === 0 && held === 0n ? quiet + 1 : 0;
      expect({ requests, held, isQuiet: quiet >= QUIET_CHECKS }).toEqual({ requests: 0, held: 0n, isQuiet: true });
    },
    { timeout: REST_MS, interval: 20 },
  );
  return performance.now() - startedAtMs;
}

const STORES = [{ store: "SQLite" }, ...(database === null ? [] : [{ store: "PostgreSQL", database: database.url }])];
const STORM = `${ROUNDS} storms of ${AT_ONCE} clients that leave, seed ${SEED}`;

test.each(STORES)(`${STORM}, $store`, { timeout: 300_000 + REST_MS * ROUNDS }, async ({ store, ...where }) => {
  world = await openWorld({ ...OPTIONS, ...where });
  const random = createRandom(SEED);
  const took: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    world.a.on("alpha", (exchange) => drawBehaviour(random)(exchange));
    world.b.on("beta", (exchange) => drawBehaviour(random)(exchange));
    await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => leave(draw(random, round * AT_ONCE + index))));
    took.push(Math.round(await restMs()));
    const ends = [...world.a.requests, ...world.b.requests].map(({ closed }) => closed);
    await Promise.all(ends);
    await world.bank.atRest();
    world.a.reset();
    world.b.reset();
  }
  expect((await world.exchange()).status).toBe(200);
  console.info(`storms of ${AT_ONCE} disconnects on ${store}: at rest after ${took.join(", ")} ms`);
});

test("a stream whose head cannot be written is a 500, costs nothing and releases the provider", async () => {
  world = await openWorld(OPTIONS);
  world.a.once("alpha", ({ response }) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(event(chunk("alpha", { content: "Hello" })));
  });
  const received = world.a.nextRequest();
  const original = ServerResponse.prototype.writeHead;
  const spoilt = vi.spyOn(ServerResponse.prototype, "writeHead").mockImplementation(function (
    this: ServerResponse,
    ...rest: unknown[]
  ) {
    const isOurs =
      this.req.url === "/v1/chat/completions" && String(JSON.stringify(rest)).includes("x-accel-buffering");
    if (isOurs) throw new TypeError("Invalid character in header content");
    return Reflect.apply(original, this, rest) as ServerResponse;
  } as never);
  try {
    const spent = await world.bank.spentBy(async () => {
      const status = await new Promise((resolve, reject) => {
        const request = httpRequest(`${world.gateway.url}/v1/chat/completions`, {
          method: "POST",
          agent: false,
          headers: { authorization: `Bearer ${world.gateway.key}`, "content-type": "application/json" },
        });
        request.once("error", reject).once("response", (response) => {
          response.resume();
          resolve(response.statusCode);
        });
        request.end(JSON.stringify({ ...HELLO, stream: true }));
      });
      expect(status).toBe(500);
      expect(await (await received).closed).toEqual({ wasCut: true });
    });
    expect(spent).toBe(0n);
  } finally {
    spoilt.mockRestore();
  }
  expect((await world.exchange({ stream: true })).status).toBe(200);
});
