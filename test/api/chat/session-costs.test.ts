// The bill of a conversation: the same at one gateway, after restarts, at two workers, and at two gateways on one PostgreSQL.
// The provider caches honestly: it reads what it has seen of a conversation at the price of a cache read. Behaviour 5.23.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ensureBuild } from "../../../scripts/setup.mjs";
import { startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { CHEAP_PASSWORDS } from "../../support/gateway/gateway-process.ts";
import { askFresh, PATIENTLY, startWorkers } from "../../support/gateway/workers.ts";
import {
  type Behaviour,
  completion,
  type FakeProvider,
  sends,
  startFakeProvider,
} from "../../support/providers/fake-provider.ts";
import { createTestDatabase, type TestDatabase } from "../../support/stores/postgres.ts";

const database = await createTestDatabase();
const env = { SWITCHYARD_SECRET: "a-secret-for-both-gateways" };
let provider: FakeProvider;
let folder: string;

beforeAll(async () => {
  provider = await startFakeProvider();
  folder = mkdtempSync(join(tmpdir(), "switchyard-session-costs-"));
});
afterAll(async () => {
  await provider.close();
  rmSync(folder, { recursive: true, force: true });
  await database?.drop();
});

function yaml(more = ""): string {
  const row = (id: string, tier: string, input: number, cacheRead: number): string =>
    `  - { id: ${id}, provider: lab, tier: ${tier}, price: { input: ${input}, output: 3, cacheRead: ${cacheRead} }, context: 200000, capabilities: [tools] }`;
  return [
    "catalog: none",
    "limits: { requestsPerMinute: 100000 }",
    `providers: { lab: { kind: openai, baseUrl: "${provider.url}", apiKey: lab-secret } }`,
    "models:",
    ...[row("small", "LIGHT", 1, 0.1), row("large", "COMPLEX", 2, 0.02)],
    "tiers: { NANO: [small], SIMPLE: [small], LIGHT: [small], STANDARD: [small], COMPLEX: [large] }",
    `routing: { baseline: large, markup: 0${more} }`,
  ].join("\n");
}

/** Four characters are a token. Each model has its own cache. */
function caches(): Behaviour {
  const seen = new Map<string, string[]>();
  return (exchange) => {
    const { model, messages } = exchange.request.body as { model: string; messages: readonly object[] };
    const texts = messages.map((message) => JSON.stringify(message));
    const known = seen.get(model) ?? [];
    const same = texts.findIndex((text, at) => text !== known[at]);
    const tokensOf = (some: readonly string[]): number => Math.round(some.join("").length / 4);
    const cached = tokensOf(same < 0 ? texts : texts.slice(0, same));
    seen.set(model, texts);
    const prompt = tokensOf(texts);
    const details = { prompt_tokens_details: { cached_tokens: cached } };
    const usage = { prompt_tokens: prompt, completion_tokens: 5, total_tokens: prompt + 5, ...details };
    return sends(200, completion("Fine.", model, { usage }))(exchange);
  };
}

const RULES = { role: "system", content: "The harbour opens at dawn and closes at dusk. ".repeat(900) };
const ASKS = [
  "Write an email to my boss asking for a day off",
  "Write another email to my landlord about the broken heating in my flat",
  "Thanks!",
  "Write a third one to my sister about her birthday",
  "Make it shorter.",
];
const NAMED = { service_session: "the bill" };

type Asked = Pick<TestGateway, "post">;

/** Each turn goes to the gateway that `next` gives. */
async function billOf(key: string, next: (turn: number, messages: readonly object[]) => Promise<Asked>) {
  provider.reset();
  provider.on("*", caches());
  const authorization = { authorization: `Bearer ${key}` };
  const messages: object[] = [RULES];
  const turns: { model: string; costUsd: string; session: string }[] = [];
  for (const [turn, content] of ASKS.entries()) {
    messages.push({ role: "user", content });
    const gateway = await next(turn, messages);
    const floor = turn === 0 ? { service_tier_floor: "COMPLEX" } : {};
    const body = { model: "auto", messages, ...NAMED, ...floor };
    const answer = (await (await gateway.post("/v1/chat/completions", body, authorization)).json()) as {
      model: string;
      service: { costUsd: string; session: string };
    };
    turns.push({ model: answer.model, costUsd: answer.service.costUsd, session: answer.service.session });
    messages.push({ role: "assistant", content: "Fine." });
  }
  return turns;
}

async function atOne(more = "") {
  const gateway = await startGateway({ yaml: yaml(more) });
  const bill = await billOf(gateway.key, async () => gateway);
  await gateway.stop();
  return bill;
}

/** The decision that a gateway would take for the next turn. */
async function decisionAt(gateway: Asked, key: string, messages: readonly object[]): Promise<object> {
  const authorization = { authorization: `Bearer ${key}` };
  const answer = await gateway.post("/v1/routing/debug", { prompt: " ", messages, ...NAMED }, authorization);
  const { decision } = (await answer.json()) as { decision: { model: string; session: string; reasoning: string } };
  return { model: decision.model, session: decision.session, reasoning: decision.reasoning };
}

describe("a conversation", () => {
  test("costs more with sessions switched off, so the bills below tell that they work", async () => {
    const sum = (bill: Awaited<ReturnType<typeof atOne>>) => bill.reduce((all, turn) => all + Number(turn.costUsd), 0);
    const [on, off] = [await atOne(), await atOne(", sessionMinutes: 0")];
    expect(on.map(({ session }) => session)).toEqual(["started", "stayed", "stayed", "stayed", "stayed"]);
    expect(sum(off)).toBeGreaterThan(1.5 * sum(on));
  });

  test("costs the same where the gateway restarts before each turn", async () => {
    const options = () => ({ yaml: yaml(), database: `sqlite:${join(folder, "restarts.db")}` });
    let gateway = await startGateway(options());
    const { key } = gateway;
    const bill = await billOf(key, async (turn) => {
      if (turn === 0) return gateway;
      await gateway.stop();
      gateway = await startGateway(options());
      return gateway;
    });
    await gateway.stop();
    expect(bill).toEqual(await atOne());
  });

  test("costs the same at two workers of one gateway, in turn", { timeout: 600_000 }, async () => {
    await ensureBuild();
    const own = join(folder, "workers");
    mkdirSync(own);
    writeFileSync(join(own, "switchyard.yaml"), yaml());
    const workers = await startWorkers({ folder: own, env: CHEAP_PASSWORDS });
    const key = workers.firstKey ?? "";
    await workers.api("POST", "/api/credits/topups", { amountUsd: "100" });
    const gateway: Asked = {
      async post(path, body, headers = {}) {
        const { status, text } = await askFresh(workers, { key: "", path, body: body as object, headers });
        return new Response(text, { status });
      },
    };
    // Connections go to the workers in turn. Both have heard of the turn before when four decisions in a row are the same.
    const areAgreed = async (turn: number, messages: readonly object[]): Promise<boolean> => {
      const decisions: string[] = [];
      for (let asked = 0; asked < 4; asked++) decisions.push(JSON.stringify(await decisionAt(gateway, key, messages)));
      return new Set(decisions).size === 1 && (turn === 0 || !decisions[0]?.includes('"started"'));
    };
    const bill = await billOf(key, async (turn, messages) => {
      await expect.poll(() => areAgreed(turn, messages), PATIENTLY).toBe(true);
      return gateway;
    });
    expect(await workers.stop()).toBe(0);
    expect(bill).toEqual(await atOne());
  });

  test.skipIf(database === null)("costs the same at two gateways on one PostgreSQL, in turn", async () => {
    const options = { yaml: yaml(), database: (database as TestDatabase).url, env };
    const gateways = [await startGateway(options), await startGateway(options)] as const;
    const key = gateways[0].key + gateways[1].key;
    const bill = await billOf(key, async (turn, messages) => {
      const [here, there] = turn % 2 === 0 ? gateways : [gateways[1], gateways[0]];
      // The one that is asked next has heard of the turn before when it decides as the other one would.
      if (turn > 0) {
        const wanted = await decisionAt(there, key, messages);
        await expect.poll(() => decisionAt(here, key, messages), { interval: 20, timeout: 60_000 }).toEqual(wanted);
      }
      return here;
    });
    await Promise.all(gateways.map((gateway) => gateway.stop()));
    expect(bill).toEqual(await atOne());
  });
});
