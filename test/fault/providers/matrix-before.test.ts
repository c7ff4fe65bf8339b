// The fault matrix, first part: what happens before the first content. Every row is played plain and streamed, with a
// healthy second provider and with a second one just as ill, and judged from three sides: what the client saw, what the
// providers saw, what was booked. Few gateways serve all rows, one after the other: each row leaves its own as it was.
// Numbers are those of docs/contribute/testing.md.

import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { TcpProxy } from "../../support/network/tcp-proxy.ts";
import {
  type Address,
  closedPort,
  deafPort,
  plainHttpUnderHttps,
  unknownHost,
  untrustedCertificate,
} from "../../support/network/unreachable.ts";
import {
  type Behaviour,
  cuts,
  cutsBody,
  type FakeProvider,
  fails,
  hangs,
  sends,
  sendsRaw,
} from "../../support/providers/fake-provider.ts";
import { isLong, variants } from "../../support/random.ts";
import { keyFor, parseStream } from "../lab.ts";
import { COST, NEVER_OPEN, openWorld, type Seen, shareWorlds, type World } from "../world.ts";

/** Nothing that a provider or the network said may reach a client. */
const SECRETS = /lab-secret|scripted|127\.0\.0\.1|ECONN|ENOTFOUND|EAI_|certificate|alpha|beta|\bat .*\.[jt]s:/i;

/** For providers that never answer in time. A busy machine still gets a request to them within it. */
const SHORT = { firstByteMs: 2_000, idleMs: 2_000, totalMs: 6_000 };
/** Moved on after each row, so that none has its retries taken by others. */
let nowMs = Date.now();
const OPTIONS = { health: NEVER_OPEN, providerNow: () => nowMs };
const inWorld = shareWorlds(1, OPTIONS);
const inWorldOfSilentA = shareWorlds(2, { ...OPTIONS, timeouts: SHORT });
const inSilentWorld = shareWorlds(1, { ...OPTIONS, timeouts: SHORT, timeoutsOfB: SHORT });

const LENGTH_2 = "content-length: 2\r\n\r\n{}";

interface Fault {
  readonly number: number;
  readonly name: string;
  /** Trouble on the line to a provider, or in what it does. */
  readonly line?: (proxy: TcpProxy) => Promise<void> | void;
  readonly provider?: Behaviour;
  /** How often a provider that can hear is asked. */
  readonly calls: number;
  /** The exchange is left open by the provider, and must be closed by the gateway. */
  readonly isCutOff?: boolean;
  /** Only a timeout ends it, so there it is short; elsewhere none is reached, however busy the machine is. */
  readonly isSilent?: boolean;
}

const FAULTS: readonly Fault[] = [
  { number: 54, name: "nobody listens", line: (proxy) => proxy.goAway("refuse"), calls: 0 },
  { number: 54, name: "connections are reset at once", line: (proxy) => proxy.goAway("reset"), calls: 0 },
  { number: 54, name: "connections are closed at once", line: (proxy) => proxy.goAway("close"), calls: 0 },
  {
    number: 55,
    name: "nothing comes back over the line",
    line: (proxy) => proxy.goAway("swallow"),
    calls: 0,
    isSilent: true,
  },
  { number: 55, name: "accepts and never answers", provider: hangs, calls: 1, isCutOff: true, isSilent: true },
  {
    number: 55,
    name: "headers at ten bytes a second",
    line: (proxy) => proxy.harm({ bytesPerSecond: 10 }),
    calls: 1,
    isSilent: true,
  },
  {
    number: 55,
    name: "the request is swallowed half-way",
    line: (proxy) => proxy.harm({}, { swallowAfterBytes: 100 }),
    calls: 0,
    isSilent: true,
  },
  { number: 54, name: "reset inside the headers", line: (proxy) => proxy.harm({ resetAfterBytes: 20 }), calls: 2 },
  { number: 54, name: "closed inside the headers", line: (proxy) => proxy.harm({ closeAfterBytes: 20 }), calls: 2 },
  {
    number: 55,
    name: "silent inside the headers",
    line: (proxy) => proxy.harm({ swallowAfterBytes: 20 }),
    calls: 1,
    isSilent: true,
  },
  { number: 55, name: "cut without an answer", provider: cuts, calls: 2 },
  { number: 55, name: "cut inside the body", provider: cutsBody, calls: 1 },
  { number: 55, name: "no HTTP at all", provider: sendsRaw("SSH-2.0-OpenSSH_9.6\r\n"), calls: 2 },
  { number: 55, name: "bytes of no meaning", provider: sendsRaw(Buffer.alloc(5000, 0xff)), calls: 2 },
  { number: 55, name: "a status that is no number", provider: sendsRaw(`HTTP/1.1 fine\r\n${LENGTH_2}`), calls: 2 },
  {
    number: 55,
    name: "a header without end",
    provider: sendsRaw(`HTTP/1.1 200 OK\r\nx-long: ${"x".repeat(40_000)}`, true),
    calls: 2,
    isCutOff: true,
  },
  {
    number: 55,
    name: "two lengths",
    provider: sendsRaw(`HTTP/1.1 200 OK\r\ncontent-length: 5\r\n${LENGTH_2}`),
    calls: 2,
  },
  {
    number: 55,
    name: "a broken chunk size",
    provider: sendsRaw("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n"),
    calls: 1,
  },
  {
    number: 55,
    name: "fewer bytes than promised",
    provider: sendsRaw("HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{"),
    calls: 1,
  },
  {
    number: 55,
    name: "an upgrade nobody asked for",
    provider: sendsRaw("HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n"),
    calls: 2,
  },
  {
    number: 55,
    name: "interim answers only",
    provider: sendsRaw("HTTP/1.1 103 Early Hints\r\n\r\n".repeat(50), true),
    calls: 1,
    isCutOff: true,
    isSilent: true,
  },
  { number: 59, name: "401", provider: fails(401, { code: "invalid_api_key" }), calls: 1 },
  { number: 59, name: "402", provider: fails(402, { type: "billing_error" }), calls: 1 },
  { number: 59, name: "403", provider: fails(403), calls: 1 },
  { number: 59, name: "429, wait an hour", provider: fails(429, {}, { "retry-after": "3600" }), calls: 1 },
  { number: 59, name: "500", provider: fails(500), calls: 2 },
];

const SILENT = FAULTS.filter(({ isSilent }) => isSilent);
/** Waited for twice, one provider after the other. The usual run does so where nothing, and where something, came. */
const SILENT_TWICE = isLong ? SILENT : SILENT.filter(({ name }) => /never answers|silent inside/.test(name));

// Silence is waited for in several worlds at the same time.
describe.each(FAULTS.filter(({ isSilent }) => !isSilent))("case $number: $name", (fault) => {
  playBeside(fault);
  playOnBoth(fault);
});
describe.concurrent.each(SILENT)("case $number: $name", playBeside);
describe.concurrent.each(SILENT_TWICE)("case $number: $name", playOnBoth);

function playBeside(fault: Fault): void {
  test.for(variants([false, true], FAULTS.indexOf(fault)))("the next provider answers (stream: %s)", async (stream) => {
    await (fault.isSilent ? inWorldOfSilentA : inWorld)(async (world) => {
      await cause(fault, world.a, world.toA);
      const received = world.a.nextRequest();
      const spent = await world.bank.spentBy(async () =>
        expectAnswerOf("beta", await world.exchange({ stream }), stream),
      );
      expect(spent, "only the model that answered is charged").toBe(COST.beta);
      await expectCalls(world, { a: fault.calls, b: 1 });
      if (fault.isCutOff) expect(await (await received).closed).toEqual({ wasCut: true });
      await expectRecovery(world);
    });
  });
}

function playOnBoth(fault: Fault): void {
  test.for(variants([true, false], FAULTS.indexOf(fault)))(
    "503 when both fail, and nothing is booked (stream: %s)",
    async (stream) => {
      await (fault.isSilent ? inSilentWorld : inWorld)(async (world) => {
        await cause(fault, world.a, world.toA);
        await cause(fault, world.b, world.toB);
        const spent = await world.bank.spentBy(async () => expect503(await world.exchange({ stream })));
        expect(spent).toBe(0n);
        await expectCalls(world, { a: fault.calls, b: fault.calls });
        await expectRecovery(world);
      });
    },
  );
}

const ADDRESSES: readonly (readonly [string, () => Promise<Address>])[] = [
  ["a closed port", closedPort],
  ["a SYN that gets no answer", deafPort],
  ["no TLS where TLS should be", plainHttpUnderHttps],
  ["a certificate that nobody trusts", untrustedCertificate],
  ["a host that does not exist", unknownHost],
];

describe("case 54: an address where nobody is reached", () => {
  const idOf = (name: string): string => `alpha-${ADDRESSES.findIndex(([each]) => each === name)}`;
  let addresses: readonly Address[];
  let world: World;
  beforeAll(async () => {
    addresses = await Promise.all(ADDRESSES.map(([, open]) => open()));
    const elsewhere = Object.fromEntries(ADDRESSES.map(([name], index) => [idOf(name), addresses[index]!.url]));
    world = await openWorld({ ...OPTIONS, elsewhere, timeouts: { connectMs: 1_500 } });
  });
  beforeEach(() => world.heal());
  afterAll(async () => {
    await world.close();
    for (const address of addresses) await address.close();
  });

  describe.each(ADDRESSES)("%s", (name) => {
    test.for(variants([false, true], name.length))("the next provider answers (stream: %s)", async (stream) => {
      const model = idOf(name);
      const headers = { authorization: `Bearer ${await keyFor(world.gateway, [model, "beta"])}` };
      const spent = await world.bank.spentBy(async () =>
        expectAnswerOf("beta", await world.exchange({ stream }, { headers }), stream),
      );
      expect(spent).toBe(COST.beta);
      await expectCalls(world, { a: 0, b: 1 });
      const direct = { stream, model, service_profile: "direct" };
      // The connection that is waited for is waited for once, but for the long run.
      if (isLong || !name.startsWith("a SYN")) {
        expect(await world.bank.spentBy(async () => expect503(await world.exchange(direct)))).toBe(0n);
      }
      await expectRecovery(world);
    });
  });
});

describe("case 60: what the client did wrong", () => {
  test.for([false, true])("400 once, and nobody else is asked (stream: %s)", async (stream) => {
    await inWorld(async (world) => {
      world.a.on("*", fails(400, { code: "invalid_value", message: "temperature is out of range" }));
      const spent = await world.bank.spentBy(async () => {
        const seen = await world.exchange({ stream });
        expect(seen.status).toBe(400);
        expect(JSON.parse(seen.text).error).toMatchObject({ type: "invalid_request_error", code: "invalid_value" });
      });
      expect(spent).toBe(0n);
      await expectCalls(world, { a: 1, b: 0 });
      await expectRecovery(world);
    });
  });
});

describe("case 62: redirects", () => {
  test.for([301, 302, 303, 307, 308])("%s is not followed, not even to ourselves", async (status) => {
    let visits = 0;
    const trap = createServer((_request, response) => {
      visits += 1;
      response.end("{}");
    }).listen(0, "127.0.0.1");
    await once(trap, "listening");
    await inWorld(async (world) => {
      const { port } = trap.address() as AddressInfo;
      world.a.once("alpha", sends(status, "", { location: `http://127.0.0.1:${port}/latest/meta-data` }));
      const spent = await world.bank.spentBy(async () => expectAnswerOf("beta", await world.exchange(), false));
      world.a.on("*", sends(status, "", { location: "http://169.254.169.254/latest/meta-data" }));
      world.b.on("*", sends(status, "", { location: "//169.254.169.254/latest/meta-data" }));
      expect(await world.bank.spentBy(async () => expect503(await world.exchange()))).toBe(0n);
      expect({ spent, visits }).toEqual({ spent: COST.beta, visits: 0 });
      await expectCalls(world, { a: 2, b: 2 });
      await expectRecovery(world);
    });
    await new Promise((resolve) => trap.close(resolve));
  });
});

async function cause(fault: Fault, provider: FakeProvider, proxy: TcpProxy): Promise<void> {
  // Trouble on the line is counted from the first byte of a connection, and one that has idled is tried once more.
  proxy.cut();
  await fault.line?.(proxy);
  if (fault.provider !== undefined) provider.on("*", fault.provider);
}

/** A request that was given up may still be on its way through the proxy. */
async function expectCalls({ a, b }: World, calls: { readonly a: number; readonly b: number }): Promise<void> {
  await vi.waitFor(() => expect({ a: a.requests.length, b: b.requests.length }).toEqual(calls), { timeout: 300_000 });
}

function expectAnswerOf(model: "alpha" | "beta", seen: Seen, stream: boolean): void {
  expect(seen, seen.text).toMatchObject({ status: 200, isWhole: true });
  expect(seen.headers["x-request-id"]).toMatch(/./);
  if (stream) {
    const { text, isDone, error, events } = parseStream(seen.text);
    expect({ text, isDone, error, model: events[0]?.model }).toEqual({ text: "ok", isDone: true, error: null, model });
  } else {
    expect(JSON.parse(seen.text)).toMatchObject({ model, choices: [{ message: { content: "ok" } }] });
  }
}

function expect503(seen: Seen): void {
  expect(seen, seen.text).toMatchObject({ status: 503, isWhole: true });
  expect(seen.headers["x-request-id"]).toMatch(/./);
  expect(Number(seen.headers["retry-after"])).toBeGreaterThanOrEqual(1);
  const { error } = JSON.parse(seen.text);
  expect(error).toMatchObject({ type: "provider_error", code: "all_providers_failed" });
  expect(error.message).not.toMatch(SECRETS);
}

/** The process is well, and when the trouble is over everything is as it was. */
async function expectRecovery(world: World): Promise<void> {
  expect((await world.gateway.get("/healthz")).status).toBe(200);
  nowMs += 60_000;
  await world.heal();
  expect((await world.exchange()).status).toBe(200);
  await world.bank.atRest();
}
