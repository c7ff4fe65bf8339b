// A line was answered, but its charge could not be booked, and then the process died with the charge in its outbox. Another
// gateway runs the line again. When the dead one starts again, its charge must not come on top.

import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { ensureBuild } from "../../../scripts/setup.mjs";
import { type GatewayProcess, startGatewayProcess } from "../../support/gateway/gateway-process.ts";
import { startTcpProxy } from "../../support/network/tcp-proxy.ts";
import { answers, type FakeProvider, startFakeProvider } from "../../support/providers/fake-provider.ts";
import { bankYaml } from "../../support/stores/money.ts";
import { createTestDatabase } from "../../support/stores/postgres.ts";

vi.setConfig({ testTimeout: 900_000, hookTimeout: 900_000 });

const PATH = "/v1/chat/completions";
const database = await createTestDatabase();

describe.skipIf(database === null)("a charge in the outbox of a dead process", () => {
  const folders = [0, 1].map(() => mkdtempSync(join(tmpdir(), "switchyard-batch-outbox-"))) as [string, string];
  let provider: FakeProvider;
  beforeAll(async () => {
    await ensureBuild();
    provider = await startFakeProvider();
    for (const folder of folders)
      writeFileSync(join(folder, "switchyard.yaml"), bankYaml(provider.url, { chain: ["alpha"] }));
  });
  afterAll(async () => {
    await provider.close();
    await database?.drop();
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  });

  const outbox = (): string => {
    const data = join(folders[0], "data");
    const files = readdirSync(data).filter((name) => name.startsWith("outbox-"));
    return files.map((name) => readFileSync(join(data, name), "utf8")).join("");
  };
  const call = (gateway: GatewayProcess, key: string, path: string, body?: object | FormData) =>
    fetch(`${gateway.url}${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers: {
        authorization: `Bearer ${key}`,
        ...(body === undefined || body instanceof FormData ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: body instanceof FormData ? body : JSON.stringify(body) }),
    });
  const charges = async (gateway: GatewayProcess): Promise<number> => {
    const { data } = (await (await gateway.api("GET", "/api/ledger?kind=charge&limit=100")).json()) as {
      data: unknown[];
    };
    return data.length;
  };

  test("is not booked beside the charge of who ran the line again", async () => {
    const proxy = await startTcpProxy(database?.url ?? "");
    const first = await startGatewayProcess({ folder: folders[0], env: { DATABASE_URL: proxy.url } });
    const key = first.firstKey ?? "";
    await first.api("POST", "/api/credits/topups", { amountUsd: "100" });
    let answer = (): void => undefined;
    const mayAnswer = new Promise<void>((resolve) => {
      answer = resolve;
    });
    provider.once("alpha", async (exchange) => {
      await mayAnswer;
      await answers("late")(exchange);
    });
    const asked = provider.nextRequest();
    const form = new FormData();
    form.append("purpose", "batch");
    const body = { model: "auto", messages: [{ role: "user", content: "Hello" }] };
    const line = JSON.stringify({ custom_id: "a", method: "POST", url: PATH, body });
    form.append("file", new Blob([line]), "lines.jsonl");
    const { id: fileId } = (await (await call(first, key, "/v1/files", form)).json()) as { id: string };
    const wanted = { input_file_id: fileId, endpoint: PATH, completion_window: "24h" };
    const { id } = (await (await call(first, key, "/v1/batches", wanted)).json()) as { id: string };
    await asked;
    await proxy.goAway("refuse");
    answer();
    await expect.poll(outbox, { timeout: 60_000 }).toContain("settle");
    await first.kill();

    const second = await startGatewayProcess({ folder: folders[1], env: { DATABASE_URL: database?.url ?? "" } });
    const status = async () =>
      ((await (await call(second, key, `/v1/batches/${id}`)).json()) as { status: string }).status;
    await expect.poll(status, { timeout: 300_000, interval: 250 }).toBe("completed");
    expect(provider.callsTo("alpha")).toBe(2);
    await expect.poll(() => charges(second), { timeout: 60_000 }).toBe(1);
    // Its outbox is empty only after what was in it is decided.
    const again = await startGatewayProcess({ folder: folders[0], env: { DATABASE_URL: database?.url ?? "" } });
    await expect.poll(outbox, { timeout: 60_000 }).not.toContain("settle");
    expect(await charges(second)).toBe(1);
    const verdict = (await (await second.api("GET", "/api/ledger/verify")).json()) as { problems: unknown };
    expect(verdict.problems).toEqual([]);
    await again.stop();
    await second.stop();
    await proxy.close();
  });
});
