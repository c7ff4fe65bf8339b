// Stored responses and processes: killed in the middle of a conversation, and two on one database. Behaviour 10.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import OpenAI from "openai";
import { afterEach, expect, test, vi } from "vitest";
import { ensureBuild } from "../../../scripts/setup.mjs";
import { type GatewayProcess, startGatewayProcess } from "../../support/gateway/gateway-process.ts";
import { answers, type FakeProvider, hangs, startFakeProvider } from "../../support/providers/fake-provider.ts";
import { bankYaml } from "../../support/stores/money.ts";
import { createTestDatabase } from "../../support/stores/postgres.ts";

vi.setConfig({ testTimeout: 900_000, hookTimeout: 900_000 });

const WAIT = { timeout: 300_000, interval: 100 };
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

async function newFolder(provider: FakeProvider): Promise<string> {
  await ensureBuild();
  const folder = mkdtempSync(join(tmpdir(), "switchyard-stored-"));
  cleanups.push(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "switchyard.yaml"), bankYaml(provider.url));
  return folder;
}

async function newProvider(): Promise<FakeProvider> {
  const provider = await startFakeProvider();
  cleanups.push(() => provider.close());
  return provider;
}

async function startProcess(folder: string, env: Record<string, string> = {}): Promise<GatewayProcess> {
  const gateway = await startGatewayProcess({ folder, env });
  cleanups.push(() => gateway.kill());
  return gateway;
}

const clientOf = ({ url }: GatewayProcess, apiKey: string | null): OpenAI =>
  new OpenAI({ baseURL: `${url}/v1`, apiKey: apiKey ?? "", maxRetries: 0 });

const heldUsd = async (gateway: GatewayProcess): Promise<string> =>
  ((await (await gateway.api("GET", "/api/credits")).json()) as { heldUsd: string }).heldUsd;

test("a killed process loses no stored turn, and what ran in the background has failed", async () => {
  const provider = await newProvider();
  const folder = await newFolder(provider);
  const before = await startProcess(folder);
  await before.api("POST", "/api/credits/topups", { amountUsd: "10" });
  const key = before.firstKey;
  const client = clientOf(before, key);
  provider.on("*", answers("The first answer."));
  const conversation = await client.conversations.create();
  const first = await client.responses.create({ model: "auto", input: "One", conversation: conversation.id });
  provider.on("*", hangs);
  const asked = provider.nextRequest();
  const running = await client.responses.create({ model: "auto", input: "Two", background: true });
  await asked;
  const unanswered = client.responses.create({ model: "auto", input: "Three", previous_response_id: first.id });
  const broken = expect(unanswered).rejects.toThrow();
  await provider.nextRequest();
  await before.kill();
  await broken;

  const after = await startProcess(folder);
  const again = clientOf(after, key);
  provider.on("*", answers("The second answer."));
  expect(await again.responses.retrieve(first.id)).toMatchObject({ output_text: "The first answer." });
  const failed = await again.responses.retrieve(running.id);
  expect(failed).toMatchObject({ status: "failed", error: { code: "server_error" } });
  const next = await again.responses.create({ model: "auto", input: "Four", previous_response_id: first.id });
  expect(next.output_text).toBe("The second answer.");
  expect(JSON.stringify(provider.requests.at(-1)?.body.messages)).toContain("The first answer.");
  expect((await again.conversations.items.list(conversation.id)).data).toHaveLength(2);
  expect(await heldUsd(after)).toBe("0");
});

const database = await createTestDatabase();

test.skipIf(database === null)(
  "two processes share responses, cancel each other's, and one survives the other; one with another secret does not start",
  async () => {
    cleanups.push(() => database?.drop());
    const provider = await newProvider();
    const env = { DATABASE_URL: database?.url ?? "", SWITCHYARD_SECRET: "a-secret-for-both-processes" };
    const one = await startProcess(await newFolder(provider), env);
    await one.api("POST", "/api/credits/topups", { amountUsd: "10" });
    const two = await startProcess(await newFolder(provider), env);
    const here = clientOf(one, one.firstKey);
    const there = clientOf(two, one.firstKey);
    provider.on("*", answers("Shared."));
    const first = await here.responses.create({ model: "auto", input: "One" });
    expect(await there.responses.retrieve(first.id)).toMatchObject({ output_text: "Shared." });
    const second = await there.responses.create({ model: "auto", input: "Two", previous_response_id: first.id });
    expect(second.previous_response_id).toBe(first.id);

    provider.on("*", hangs);
    const asked = provider.nextRequest();
    const running = await here.responses.create({ model: "auto", input: "Long", background: true });
    const { closed } = await asked;
    expect(await there.responses.retrieve(running.id)).toMatchObject({ status: "in_progress" });
    expect(await there.responses.cancel(running.id)).toMatchObject({ status: "cancelled" });
    expect((await closed).wasCut).toBe(true);

    const again = provider.nextRequest();
    const left = await here.responses.create({ model: "auto", input: "Left behind", background: true });
    await again;
    await one.kill();
    await vi.waitFor(async () => expect((await there.responses.retrieve(left.id)).status).toBe("failed"), WAIT);
    await vi.waitFor(async () => expect(await heldUsd(two)).toBe("0"), WAIT);

    const other = { ...env, SWITCHYARD_SECRET: "a-secret-of-its-own-32" };
    await expect(startProcess(await newFolder(provider), other)).rejects.toThrow(
      /ended with 1: .*cannot start: This gateway has another secret than its database/,
    );
    const none = { ...env, SWITCHYARD_SECRET: "" };
    await expect(startProcess(await newFolder(provider), none)).rejects.toThrow(/ended with 1: .*has no secret/);
  },
  180_000,
);
