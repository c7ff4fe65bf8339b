// A rolling restart under load: processes on one PostgreSQL behind a balancer, each stopped and replaced in turn, in the long
// run some of them twice. Meanwhile a newer version adds to the tables what these processes do not know. No client sees an error,
// the ledger agrees with the provider, and conversations stay with their host and key, whichever process has their turn. With OLD_BUILD (the `dist` of an older version) old and new run side by side.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request as httpRequest } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { ensureBuild } from "../../../scripts/setup.mjs";
import { type GatewayProcess, startGatewayProcess } from "../../support/gateway/gateway-process.ts";
import {
  type Behaviour,
  type FakeProvider,
  startFakeProvider,
  streams,
  textChunks,
} from "../../support/providers/fake-provider.ts";
import { isLong } from "../../support/random.ts";
import { bankYaml, chargesOf, decimal, owed, PRICES } from "../../support/stores/money.ts";
import { createTestDatabase } from "../../support/stores/postgres.ts";

const PROCESSES = isLong ? 3 : 2;
const RESTARTS = isLong ? 4 : 2;
const CLIENTS = isLong ? 12 : 6;
/** The provider's between words, in milliseconds. In the usual run it leaves the machine time to start processes. */
const PAUSE_MS = isLong ? 10 : 60;
const START_USD = "1000";
const { OLD_BUILD } = process.env;

vi.setConfig({ testTimeout: 900_000, hookTimeout: 900_000 });

const database = await createTestDatabase();

/** What the provider has sent to its end, by the name in the prompt. */
const transcript = new Map<string, bigint>();

/** The keys that the turns of each conversation came with, in their order. Both hosts are this provider. */
const keysOfTurns = new Map<string, string[]>();
const KEYS = { lab: ["lab-1", "lab-2", "lab-3"], twin: ["twin-1", "twin-2", "twin-3"] };

const answersByName: Behaviour = async (exchange) => {
  const [message] = exchange.request.body.messages as readonly { content: string }[];
  const session = message!.content.split("-")[0] as string;
  const key = String(exchange.request.headers.authorization).replace("Bearer ", "");
  keysOfTurns.set(session, [...(keysOfTurns.get(session) ?? []), key]);
  const number = Number(message!.content.split("-").at(-1));
  const tokens = { input: 7 + (number % 101), output: 3 + (number % 89) };
  const usage = { prompt_tokens: tokens.input, completion_tokens: tokens.output, total_tokens: 0 };
  await streams(textChunks("some words for you", "alpha"), { usage, before: () => wait(PAUSE_MS + (number % 40)) })(
    exchange,
  );
  transcript.set(message!.content, owed(tokens, PRICES.alpha));
};

/** One process behind the balancer. Like every balancer it asks whether the process is ready, now and then. */
interface Backend {
  readonly gateway: GatewayProcess;
  isReady: boolean;
  stopWatching(): void;
}

function watch(gateway: GatewayProcess): Backend {
  const backend: Backend = { gateway, isReady: true, stopWatching: () => clearInterval(timer) };
  const timer = setInterval(async () => {
    const isUp = await fetch(`${gateway.url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
    backend.isReady = isUp;
  }, 100);
  return backend;
}

/** What the migration of a newer version may do: a column in every table, and a table. */
async function addWhatIsNew(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()");
  for (const { tablename } of rows)
    await client.query(`ALTER TABLE "${tablename}" ADD COLUMN from_later TEXT DEFAULT 'x'`);
  await client.query("CREATE TABLE later (id TEXT)");
  await client.query("INSERT INTO schema_migrations (name, applied_at) VALUES ('9999_later', 0)");
  await client.end();
}

/** The model at two hosts of one price, each with three keys. */
function twoHostsYaml(url: string): string {
  return bankYaml(url, { chain: ["alpha"] })
    .replace("apiKey: lab-secret", `apiKeys: [${KEYS.lab.join(", ")}]`)
    .replace(
      "  anthropic-lab:",
      `  twin: { kind: openai, baseUrl: "${url}", apiKeys: [${KEYS.twin.join(", ")}] }\n  anthropic-lab:`,
    )
    .replace("{ id: alpha, provider: lab,", "{ id: alpha, hosts: [{ provider: lab }, { provider: twin }],")
    .replace("routing: {", "routing: { hostOrder: balanced,");
}

type Outcome = "answered" | "not-taken" | `failed: ${string}`;

/** `not-taken`: the connection was refused or the server said that it stops, so that another may be asked. */
function send(url: string, { key, name, agent }: { key: string; name: string; agent: Agent }): Promise<Outcome> {
  return new Promise((resolve) => {
    const request = httpRequest(`${url}/v1/chat/completions`, {
      method: "POST",
      agent,
      headers: {
        authorization: `Bearer ${key}`,
        "content-type": "application/json",
        "x-request-id": name,
        "x-session-id": name.split("-")[0],
      },
    });
    // A kept connection that is closed at the moment it is used again has taken nothing: a balancer may send it elsewhere.
    request.once("error", (error: NodeJS.ErrnoException) =>
      resolve(error.code === "ECONNREFUSED" || request.reusedSocket ? "not-taken" : `failed: ${error.message}`),
    );
    request.once("response", (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (piece) => {
        text += piece;
      });
      response.once("error", (error) => resolve(`failed: ${error.message}`));
      response.once("close", () => {
        if (response.statusCode === 503 && text.includes("shutting_down") && !text.includes("data:"))
          resolve("not-taken");
        else resolve(text.includes("[DONE]") ? "answered" : `failed: ${response.statusCode} ${text.slice(-300)}`);
      });
    });
    request.end(JSON.stringify({ model: "auto", stream: true, messages: [{ role: "user", content: name }] }));
  });
}

describe.skipIf(database === null)("a rolling restart", () => {
  const folders = Array.from({ length: PROCESSES }, () => mkdtempSync(join(tmpdir(), "switchyard-rolling-")));
  let provider: FakeProvider;
  let backends: Backend[] = [];

  beforeAll(async () => {
    await ensureBuild();
    provider = await startFakeProvider();
    provider.on("*", answersByName);
    for (const folder of folders) writeFileSync(join(folder, "switchyard.yaml"), twoHostsYaml(provider.url));
    backends = (await Promise.all(folders.map((_, slot) => startProcess(slot, true)))).map(watch);
  });
  afterAll(async () => {
    for (const { gateway, stopWatching } of backends) {
      stopWatching();
      await gateway.kill();
    }
    await provider.close();
    await database!.drop();
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  });

  const startProcess = (slot: number, isOld = false): Promise<GatewayProcess> =>
    startGatewayProcess({
      folder: folders[slot]!,
      env: {
        ...(isOld && OLD_BUILD !== undefined ? { TEST_BUILD: OLD_BUILD } : {}),
        DATABASE_URL: database!.url,
        // Many times what the balancer waits between two looks, as a busy machine is late with them.
        SWITCHYARD_LAME_DUCK_SECONDS: "5",
        SWITCHYARD_DRAIN_SECONDS: "600",
      },
    });

  /** Every other one goes back to the old version, where there is one. */
  async function restart(slot: number, isBack: boolean): Promise<void> {
    const old = backends[slot]!;
    expect(await old.gateway.stop()).toBe(0);
    old.stopWatching();
    backends[slot] = watch(await startProcess(slot, isBack));
  }

  async function topUpEverywhere(): Promise<void> {
    for (const { gateway } of backends) {
      const answer = await gateway.api("POST", "/api/credits/topups", { amountUsd: "1" });
      expect(answer.status, await answer.text()).toBe(201);
    }
  }

  test("loses nothing and charges everything once", async () => {
    const key = backends.map(({ gateway }) => gateway.firstKey).find((text) => text !== null) ?? "";
    await backends[0]!.gateway.api("POST", "/api/credits/topups", { amountUsd: START_USD });
    const delivered = new Set<string>();
    const failures: string[] = [];
    let isOver = false;
    let turn = 0;
    const client = async (index: number): Promise<void> => {
      const agent = new Agent({ keepAlive: true });
      for (let count = 0; !isOver; count += 1) {
        const name = `client${index}-${index * 10_000 + count}`;
        let outcome: Outcome = "not-taken";
        for (let tries = 0; outcome === "not-taken" && tries < 400; tries += 1) {
          turn += 1;
          const ready = backends.filter(({ isReady }) => isReady);
          const backend = ready[turn % Math.max(1, ready.length)];
          if (backend === undefined) await wait(50);
          else outcome = await send(backend.gateway.url, { key, name, agent });
        }
        if (outcome === "answered") delivered.add(name);
        else failures.push(`${name} ${outcome}`);
      }
      agent.destroy();
    };
    const clients = Array.from({ length: CLIENTS }, (_, index) => client(index));
    await topUpEverywhere();
    // Beside an older version this one is itself what is new.
    if (OLD_BUILD === undefined) await addWhatIsNew(database!.url);
    await topUpEverywhere();
    for (let count = 0; count < RESTARTS; count += 1) await restart(count % PROCESSES, count % 2 === 1);
    await topUpEverywhere();
    isOver = true;
    await Promise.all(clients);
    expect(failures).toEqual([]);
    expect(delivered.size).toBeGreaterThan(CLIENTS * RESTARTS);
    await compare(backends[0]!.gateway, delivered);
    compareTurns();
  });

  /** At each host, a conversation has one key in every process. A host changes only when it is found much slower. */
  function compareTurns(): void {
    const conversations = [...keysOfTurns.values()];
    const atHost = (keys: readonly string[], host: readonly string[]) =>
      new Set(keys.filter((key) => host.includes(key)));
    for (const keys of conversations)
      for (const host of Object.values(KEYS)) expect(atHost(keys, host).size).toBeLessThanOrEqual(1);
    expect(new Set(conversations.flat()).size).toBeGreaterThan(2);
    const turns = conversations.flatMap((keys) => keys.slice(1).map((key, index) => key === keys[index]));
    const share = turns.filter(Boolean).length / turns.length;
    // By chance it would be a half: the key at each host is certain, and there are two hosts. A busy machine makes each of
    // them look slower by turns.
    if (isLong) expect(share).toBeGreaterThan(0.8);
    console.info(`${(share * 100).toFixed(1)}% of ${turns.length} turns stayed with host and key`);
  }

  async function compare(gateway: GatewayProcess, delivered: ReadonlySet<string>): Promise<void> {
    expect(await (await gateway.api("GET", "/api/ledger/verify")).json()).toMatchObject({
      ok: true,
      openHolds: 0,
      problems: [],
    });
    const charges = await chargesOf(gateway);
    const charged = new Map(charges.map(({ requestId, amountUsd }) => [requestId ?? "", -decimal(amountUsd, 9)]));
    expect(charged.size, "no request is charged twice").toBe(charges.length);
    expect([...charged.keys()].sort()).toEqual([...delivered].sort());
    expect([...charged].filter(([name, amount]) => transcript.get(name) !== amount)).toEqual([]);
    console.info(`${RESTARTS} restarts, ${delivered.size} answers, none lost`);
  }
});
