// A gateway with a TCP proxy on every line: to provider A, to provider B, and from its clients. What a client saw, what
// the providers saw and what the ledger says can be had of each exchange.

import { request as httpRequest } from "node:http";
import { afterAll, beforeAll, expect, vi } from "vitest";
import { TIERS } from "../../src/core/tiers.ts";
import { HELLO, startGateway, type TestGateway } from "../support/gateway/gateway.ts";
import { startTcpProxy, type TcpProxy } from "../support/network/tcp-proxy.ts";
import { type FakeProvider, startFakeProvider, USAGE } from "../support/providers/fake-provider.ts";
import { type Bank, bankOf, owed, PRICES } from "../support/stores/money.ts";

export interface World {
  readonly a: FakeProvider;
  readonly b: FakeProvider;
  readonly toA: TcpProxy;
  readonly toB: TcpProxy;
  /** Between clients and the gateway. */
  readonly toClient: TcpProxy;
  readonly gateway: TestGateway;
  readonly bank: Bank;
  /** One exchange through the proxy, to its end, whatever that is. */
  exchange(body?: object, options?: ExchangeOptions): Promise<Seen>;
  /** Resolves when a client has read this text. */
  untilSeen(text: string): Promise<void>;
  /** Takes every harm and script away and lets both models answer once. */
  heal(): Promise<void>;
  close(): Promise<void>;
}

export interface ExchangeOptions {
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Called with all that was read so far, after each piece. True: the client leaves. */
  readonly leaveWhen?: (text: string) => boolean;
  /** The client leaves when this resolves. */
  readonly leaveAt?: Promise<unknown>;
}

/** What a client knows of an exchange. */
export interface Seen {
  /** Null when not even a status came. */
  readonly status: number | null;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly text: string;
  /** The connection ended as HTTP says it should. */
  readonly isWhole: boolean;
}

export interface WorldOptions {
  /** Models before alpha in the chain, by their addresses. */
  readonly elsewhere?: Readonly<Record<string, string>>;
  /** Another database than a fresh one in memory. */
  readonly database?: string;
  /** Of every provider but B, which is to answer however slow the machine is. */
  readonly timeouts?: Readonly<Record<string, number>>;
  /** Of B, where it is to be given up as well. */
  readonly timeoutsOfB?: Readonly<Record<string, number>>;
  /** A clock for circuit breakers and connections that the test sets by hand. */
  readonly providerNow?: () => number;
  readonly health?: Readonly<Record<string, number>>;
  readonly routing?: Readonly<Record<string, number>>;
  readonly server?: Readonly<Record<string, number>>;
}

/** Never reached: a provider that hangs is not given up by itself. */
const PATIENT = { connectMs: 60_000, firstByteMs: 60_000, idleMs: 60_000, totalMs: 120_000 };
/** For worlds in which providers fail all the time, and which model is tried is not the question. */
export const NEVER_OPEN = { failuresInRow: 100_000, callsMin: 100_000 };
export const COST = { alpha: owed(tokensOf(USAGE), PRICES.alpha), beta: owed(tokensOf(USAGE), PRICES.beta) };

export function tokensOf(usage: { prompt_tokens: number; completion_tokens: number }): {
  input: number;
  output: number;
} {
  return { input: usage.prompt_tokens, output: usage.completion_tokens };
}

export async function openWorld(options: WorldOptions = {}): Promise<World> {
  const [a, b] = await Promise.all([startFakeProvider(), startFakeProvider()]);
  const [toA, toB] = await Promise.all([startTcpProxy(a.url), startTcpProxy(b.url)]);
  const gateway = await startGateway({
    yaml: yamlOf(toA.url, toB.url, options),
    ...(options.database === undefined ? {} : { database: options.database }),
    ...(options.providerNow === undefined ? {} : { providerNow: options.providerNow }),
  });
  const toClient = await startTcpProxy(gateway.url);
  const readers = new Set<(text: string) => void>();
  return {
    a,
    b,
    toA,
    toB,
    toClient,
    gateway,
    bank: bankOf(a, gateway),
    exchange: (body = {}, how = {}) =>
      exchange({ url: toClient.url, key: gateway.key, body: { ...HELLO, ...body }, how }, readers),
    untilSeen: (text) => untilSeen(readers, text),
    async heal() {
      for (const proxy of [toA, toB, toClient]) {
        proxy.harm({});
        await proxy.comeBack();
      }
      a.reset();
      b.reset();
      for (const model of ["alpha", "beta"]) {
        const ask = async (): Promise<void> => {
          const answer = await gateway.post("/v1/chat/completions", { ...HELLO, model, service_profile: "direct" });
          expect(answer.status, await answer.text()).toBe(200);
        };
        // A breaker that opened lets one try through now and then.
        await vi.waitFor(ask, { timeout: 300_000, interval: 100 });
      }
      a.requests.length = 0;
      b.requests.length = 0;
    },
    async close() {
      await gateway.stop();
      await Promise.all([toA.close(), toB.close(), toClient.close(), a.close(), b.close()]);
    },
  };
}

/**
 * Worlds that the tests of a file share, each for one test at a time. One in which a test has failed is not used again.
 * Each test leaves its world healthy.
 */
export function shareWorlds(
  count: number,
  options: WorldOptions = {},
): (work: (world: World) => Promise<void>) => Promise<void> {
  const free: World[] = [];
  const waiting: ((world: World) => void)[] = [];
  const putBack = (world: World): void => {
    const next = waiting.shift();
    if (next === undefined) free.push(world);
    else next(world);
  };
  beforeAll(async () => {
    free.push(...(await Promise.all(Array.from({ length: count }, () => openWorld(options)))));
  });
  afterAll(async () => {
    for (const world of free) await world.close();
  });
  return async (work) => {
    const world = free.pop() ?? (await new Promise<World>((resolve) => waiting.push(resolve)));
    for (const { requests } of [world.a, world.b]) requests.length = 0;
    try {
      await work(world);
    } catch (error) {
      await world.close();
      putBack(await openWorld(options));
      throw error;
    }
    putBack(world);
  };
}

/** Everything of a test runs in one process: that it is busy says nothing about the gateway. */
const LIMITS = { requestsPerMinute: 1_000_000, queueMs: 60_000, eventLoopDelayMs: 60_000 };

function yamlOf(urlOfA: string, urlOfB: string, options: WorldOptions): string {
  const { elsewhere = {}, timeouts = {}, timeoutsOfB = {} } = options;
  const host = (id: string, url: string, limits: Readonly<Record<string, number>>): string =>
    `  ${id}: { kind: openai, baseUrl: "${url}", apiKey: lab-secret, timeouts: ${flow({ ...PATIENT, ...limits })} }`;
  const model = (id: string, provider: string, price: object): string =>
    `  - { id: ${id}, provider: ${provider}, price: ${flow(price)}, context: 128000, maxOutput: 4096, capabilities: [tools, json] }`;
  const chain = [...Object.keys(elsewhere), "alpha", "beta"];
  return [
    "catalog: none",
    `limits: ${flow(LIMITS)}`,
    "providers:",
    ...Object.values(elsewhere).map((url, index) => host(`elsewhere-${index}`, url, timeouts)),
    host("lab-a", urlOfA, timeouts),
    host("lab-b", urlOfB, timeoutsOfB),
    "models:",
    ...Object.keys(elsewhere).map((id, index) => model(id, `elsewhere-${index}`, PRICES.alpha)),
    model("alpha", "lab-a", PRICES.alpha),
    model("beta", "lab-b", PRICES.beta),
    "tiers:",
    ...TIERS.map((tier) => `  ${tier}: [${chain.join(", ")}]`),
    `routing: ${flow({ baseline: "beta", ...options.routing })}`,
    `health: ${flow(options.health ?? {})}`,
    `server: ${flow(options.server ?? {})}`,
  ].join("\n");
}

function flow(values: object): string {
  return JSON.stringify(values).replaceAll('"', "").replaceAll(":", ": ");
}

interface Asked {
  readonly url: string;
  readonly key: string;
  readonly body: object;
  readonly how: ExchangeOptions;
}

function exchange({ url, key, body, how }: Asked, readers: Set<(text: string) => void>): Promise<Seen> {
  return new Promise((resolve) => {
    const request = httpRequest(new URL(how.path ?? "/v1/chat/completions", url), {
      method: "POST",
      agent: false,
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...how.headers },
    });
    let text = "";
    void how.leaveAt?.then(() => request.destroy());
    request.on("error", () => resolve({ status: null, headers: {}, text, isWhole: false }));
    request.once("response", (response) => {
      const { statusCode: status = null, headers } = response;
      response.setEncoding("utf8").on("data", (piece) => {
        text += piece;
        for (const reader of readers) reader(text);
        if (how.leaveWhen?.(text)) request.destroy();
      });
      response.on("error", () => undefined);
      response.once("close", () => resolve({ status, headers, text, isWhole: response.complete }));
    });
    request.end(JSON.stringify(body));
  });
}

function untilSeen(readers: Set<(text: string) => void>, wanted: string): Promise<void> {
  return new Promise((resolve) => {
    const reader = (text: string): void => {
      if (!text.includes(wanted)) return;
      readers.delete(reader);
      resolve();
    };
    readers.add(reader);
  });
}
