// /readyz?verbose with failing checks: each is named, and an optional one does not make it fail.

import { fastify } from "fastify";
import { expect, test } from "vitest";
import type { ReadyCheck } from "../../../src/http/context.ts";
import { type OpsContext, registerOps } from "../../../src/http/ops.ts";

const SHUTDOWN = { name: "shutdown", problem: null };
const DATABASE = { name: "database", problem: "the database does not answer" };
const REDIS = { name: "redis", problem: "it does not answer", isOptional: true };

type State = "closed" | "open" | "half-open" | "resting";

async function ask(checks: readonly ReadyCheck[], query = "?verbose", credential: State = "closed") {
  const server = fastify();
  const overview = () => [{ id: "lab", provider: { state: "closed" }, credential: { state: credential } }];
  const services = () => ({ health: { overview } });
  registerOps(server, { readiness: async () => checks, services } as unknown as OpsContext);
  const { statusCode, body } = await server.inject(`/readyz${query}`);
  await server.close();
  return { statusCode, body };
}

test.each([
  [
    [SHUTDOWN, DATABASE],
    503,
    "[+]shutdown ok\n[-]database failed: the database does not answer\n[+]providers ok\nreadyz check failed\n",
  ],
  [
    [SHUTDOWN, REDIS],
    200,
    "[+]shutdown ok\n[-]redis failed: it does not answer (ready without it)\n[+]providers ok\nreadyz check passed\n",
  ],
])("%j", async (checks, status, text) => {
  expect(await ask(checks)).toEqual({ statusCode: status, body: text });
});

test("providers that all cool down are named, and the process stays ready", async () => {
  const { statusCode, body } = await ask([SHUTDOWN], "?verbose", "open");
  expect(statusCode).toBe(200);
  expect(body).toContain("[-]providers failed: all are cooling down after failures (ready without it)\n");
  expect(await ask([SHUTDOWN], "")).toEqual({ statusCode: 200, body: '{"status":"ready"}' });
  const { body: warned } = await ask([SHUTDOWN, REDIS], "");
  expect(JSON.parse(warned)).toEqual({ status: "ready", warnings: ["redis: it does not answer"] });
});
