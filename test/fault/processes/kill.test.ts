// kill -9 under load, again and again. After each start the ledger adds up and nothing is on hold; at the end every charge is
// compared with what the provider itself knows it has sent.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request as httpRequest } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ensureBuild } from "../../../scripts/setup.mjs";
import { type GatewayProcess, prepareGatewayProcess, type Spare } from "../../support/gateway/gateway-process.ts";
import {
  type Behaviour,
  completion,
  type FakeProvider,
  sends,
  startFakeProvider,
  streams,
  textChunks,
} from "../../support/providers/fake-provider.ts";
import { createRandom, few, isLong, seedOf } from "../../support/random.ts";
import { bankYaml, chargesOf, decimal, owed, PRICES, postedOf } from "../../support/stores/money.ts";

/** As many kills as fit into the time, up to so many; SWITCHYARD_TEST_SCALE=20 for a thousand. */
const KILLS = few(5, 50);
const TIME_MS = few(60_000, 180_000);
const CLIENTS = isLong ? 24 : 12;
const START_USD = "100000";
const random = createRandom(seedOf(Date.now() % 1_000_000));

const folder = mkdtempSync(join(tmpdir(), "switchyard-kill-"));
/** What the provider has sent to its end, by request: nothing of the gateway's went into it. */
const transcript = new Map<string, bigint>();
/** How many requests have come to the provider, and who waits for one of them. */
let calls = 0;
let awaited = { call: 0, resolve: (): void => undefined };
/** What clients have received to its end. */
const delivered = new Set<string>();

let provider: FakeProvider;
/** Loading takes longer than serving here, so two successors are under way. */
let spares: Spare[] = [];
let prepared = 0;
let key = "";

beforeAll(async () => {
  await ensureBuild();
  provider = await startFakeProvider();
  provider.on("*", answersByName);
  writeFileSync(join(folder, "switchyard.yaml"), bankYaml(provider.url, { chain: ["alpha"] }));
  for (let count = 0; count < 2; count += 1) prepareNext();
});

afterAll(async () => {
  await Promise.all(spares.map((spare) => spare.discard()));
  await provider.close();
  rmSync(folder, { recursive: true, force: true });
});

/** The name in the prompt decides what is used, so that each request has a price of its own. */
const answersByName: Behaviour = async (exchange) => {
  calls += 1;
  if (calls === awaited.call) awaited.resolve();
  const { body } = exchange.request;
  const name = (body.messages as readonly { content: string }[])[0]?.content ?? "";
  const number = Number(name.split("-").at(-1));
  const tokens = { input: 7 + (number % 101), output: 3 + (number % 89) };
  const usage = { prompt_tokens: tokens.input, completion_tokens: tokens.output, total_tokens: 0 };
  await wait(number % 7);
  if (body.stream === true) {
    const pace = (): Promise<void> => wait(number % 3);
    await streams(textChunks("some words for you", "alpha"), { usage, before: pace })(exchange);
  } else await sends(200, completion("some words for you", "alpha", { usage }))(exchange);
  transcript.set(name, owed(tokens, PRICES.alpha));
};

/** One request; true when its answer came to its end. */
function ask(url: string, name: string, agent: Agent): Promise<boolean> {
  const stream = Number(name.split("-").at(-1)) % 2 === 0;
  return new Promise((resolve) => {
    const request = httpRequest(`${url}/v1/chat/completions`, {
      method: "POST",
      agent,
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json", "x-request-id": name },
    });
    request.once("error", () => resolve(false));
    request.once("response", (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (piece) => {
        text += piece;
      });
      response.once("error", () => resolve(false));
      response.once("close", () => {
        if (response.statusCode !== 200 && response.complete) return resolve(failUnexpectedly(text));
        resolve(response.complete && (stream ? text.includes("[DONE]") : text.includes('"service"')));
      });
    });
    request.end(JSON.stringify({ model: "auto", stream, messages: [{ role: "user", content: name }] }));
  });
}

const unexpected: string[] = [];
function failUnexpectedly(text: string): boolean {
  unexpected.push(text);
  return false;
}

/** Clients that ask one thing after another until the gateway is gone. */
async function load(url: string, round: number): Promise<void> {
  const agent = new Agent({ keepAlive: true });
  const client = async (index: number): Promise<void> => {
    for (let count = 0; ; count += 1) {
      const name = `round${round}-client${index}-${round * 1000 + index * 37 + count}`;
      if (!(await ask(url, name, agent))) return;
      delivered.add(name);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, (_, index) => client(index)));
  agent.destroy();
}

async function expectRest(gateway: GatewayProcess): Promise<void> {
  const verdict = await (await gateway.api("GET", "/api/ledger/verify")).json();
  expect(verdict).toMatchObject({ ok: true, openHolds: 0, problems: [] });
  expect(await (await gateway.api("GET", "/api/credits")).json()).toMatchObject({ heldUsd: "0" });
}

async function serveNext(): Promise<GatewayProcess> {
  const [next, ...others] = spares as [Spare, ...Spare[]];
  spares = others;
  prepareNext();
  return next.serve();
}

/** One for each kill, and the first. */
function prepareNext(): void {
  if (prepared > KILLS) return;
  prepared += 1;
  spares.push(prepareGatewayProcess({ folder }));
}

function untilCall(call: number): Promise<void> {
  return new Promise((resolve) => {
    awaited = { call, resolve };
  });
}

test("after each kill the ledger agrees with the provider", { timeout: 900_000 + TIME_MS }, async () => {
  const endAtMs = performance.now() + TIME_MS;
  let gateway = await serveNext();
  key = gateway.firstKey ?? "";
  await gateway.api("POST", "/api/credits/topups", { amountUsd: START_USD });
  let kills = 0;
  while (kills < KILLS && performance.now() < endAtMs) {
    kills += 1;
    const moment = untilCall(calls + 2 * CLIENTS + random.below(80));
    const running = load(gateway.url, kills);
    await moment;
    await wait(random.below(5));
    await gateway.kill();
    await running;
    gateway = await serveNext();
    await expectRest(gateway);
  }
  expect(unexpected).toEqual([]);
  await compare(gateway, kills);
  expect(await gateway.stop()).toBe(0);
});

async function compare(gateway: GatewayProcess, kills: number): Promise<void> {
  const charges = await chargesOf(gateway);
  const charged = new Map(charges.map(({ requestId, amountUsd }) => [requestId ?? "", -decimal(amountUsd, 9)]));
  expect(charged.size, "no request is charged twice").toBe(charges.length);
  expect(delivered.size).toBeGreaterThan(kills * 5);
  const missing = [...delivered].filter((name) => charged.get(name) !== transcript.get(name));
  expect(missing, "what was delivered is charged, at its own price").toEqual([]);
  // Killed between the booking and the end of the answer: the provider had finished, the client has not seen all of it.
  const undelivered = [...charged].filter(([name]) => !delivered.has(name));
  const invented = undelivered.filter(([name, amount]) => transcript.get(name) !== amount);
  expect(invented, "what was not delivered is charged only when the provider had finished").toEqual([]);
  expect(undelivered.length).toBeLessThanOrEqual(kills * CLIENTS);
  console.info(
    `${kills} kills, ${delivered.size} answers delivered, ${undelivered.length} booked at the moment of a kill`,
  );
  const spent = [...charged.values()].reduce((sum, amount) => sum + amount, 0n);
  expect(await postedOf(gateway)).toBe(decimal(START_USD, 9) - spent);
}
