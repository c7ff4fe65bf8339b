// Requests come all the while, and one worker after the other is killed. What a client got is charged once, at the price
// of its own usage, and nothing else is.

import { text } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";
import { expect } from "vitest";
import { isRunning, openFresh, PATIENTLY, type WorkersGateway } from "../../support/gateway/workers.ts";
import { type Behaviour, completion, type FakeProvider, sends } from "../../support/providers/fake-provider.ts";
import { few, isLong } from "../../support/random.ts";
import { chargesOf, decimal, owed, PRICES, postedOf } from "../../support/stores/money.ts";

const CLIENTS = isLong ? 16 : 6;
/** In the usual run clients leave the machine some time to start workers. */
const PACE_MS = isLong ? 0 : 150;
const ENOUGH = few(10, 12);
/** A client whose connection nobody answers asks again. */
const PATIENCE_MS = 30_000;

interface Load {
  readonly key: string;
  readonly provider: FakeProvider;
}

export async function killUnderLoad(gateway: WorkersGateway, { key, provider }: Load): Promise<void> {
  const before = new Set((await chargesOf(gateway)).map(({ id }) => id));
  const postedBefore = await postedOf(gateway);
  const sent = new Map<string, bigint>();
  provider.on("alpha", pricedByName(sent));
  const clients = openClients(gateway, key);
  await killBoth(gateway, clients.delivered);
  await clients.close();
  provider.reset();
  const verdict = async (): Promise<unknown> => (await gateway.api("GET", "/api/ledger/verify")).json();
  await expect.poll(verdict, PATIENTLY).toMatchObject({ ok: true, openHolds: 0, problems: [] });
  const charges = (await chargesOf(gateway)).filter(({ id }) => !before.has(id));
  const charged = new Map(charges.map(({ requestId, amountUsd }) => [String(requestId), -decimal(amountUsd, 9)]));
  expect(charged.size).toBe(charges.length);
  for (const [name, amount] of charged) expect(amount, name).toBe(sent.get(name));
  for (const name of clients.delivered) expect(charged.has(name), name).toBe(true);
  const spent = [...charged.values()].reduce((sum, amount) => sum + amount, 0n);
  expect(postedBefore - (await postedOf(gateway))).toBe(spent);
}

/** Clients that ask one thing after another, and what they were answered. */
function openClients(gateway: WorkersGateway, key: string) {
  const delivered = new Set<string>();
  let isOver = false;
  const client = async (index: number): Promise<void> => {
    for (let count = 0; !isOver; count += 1) {
      const name = `client${index}-${index * 1000 + count}`;
      const body = { messages: [{ role: "user", content: name }] };
      const asked = { key, body, headers: { "x-request-id": name }, patienceMs: PATIENCE_MS };
      const response = await openFresh(gateway, asked).catch(() => null);
      const answer = response === null ? null : await text(response).catch(() => null);
      if (answer?.includes('"service"')) delivered.add(name);
      await wait(PACE_MS);
    }
  };
  const clients = Array.from({ length: CLIENTS }, (_, index) => client(index));
  const close = (): Promise<unknown> => {
    isOver = true;
    return Promise.all(clients);
  };
  return { delivered, close };
}

async function killBoth(gateway: WorkersGateway, delivered: ReadonlySet<string>): Promise<void> {
  const moreAreDelivered = (): Promise<void> => {
    const so = delivered.size;
    return expect.poll(() => delivered.size, PATIENTLY).toBeGreaterThan(so + ENOUGH);
  };
  await moreAreDelivered();
  const started = gateway.workers().length;
  const [first = 0, second = 0] = gateway.workers().filter(isRunning);
  process.kill(first, "SIGKILL");
  // The other one goes on meanwhile.
  await moreAreDelivered();
  await gateway.untilStarted(started + 1);
  process.kill(second, "SIGKILL");
  await gateway.untilStarted(started + 2);
  await moreAreDelivered();
}

/** The name in the prompt decides what is used. What was sent to its end is noted. */
function pricedByName(sent: Map<string, bigint>): Behaviour {
  return async (exchange) => {
    const name = (exchange.request.body.messages as readonly { content: string }[])[0]?.content ?? "";
    const number = Number(name.split("-").at(-1));
    const tokens = { input: 7 + (number % 101), output: 3 + (number % 89) };
    const usage = { prompt_tokens: tokens.input, completion_tokens: tokens.output, total_tokens: 0 };
    sent.set(name, owed(tokens, PRICES.alpha));
    await sends(200, completion("some words", "alpha", { usage }))(exchange);
  };
}
