// GET /v1/key: a program learns what its own key has used.

import { expect, onTestFinished, test } from "vitest";
import { HELLO, labYaml, startGateway } from "../support/gateway/gateway.ts";
import { startFakeProvider } from "../support/providers/fake-provider.ts";

test("counts the requests of the key at once, and nothing for asking", async () => {
  const provider = await startFakeProvider();
  const gateway = await startGateway({ yaml: labYaml(provider.url) });
  onTestFinished(async () => {
    await gateway.stop();
    await provider.close();
  });
  interface Told {
    readonly id: string;
    readonly usage: Readonly<Record<string, unknown>>;
    readonly baseline: object;
  }
  const ask = async (): Promise<Told> => (await (await gateway.get("/v1/key")).json()) as Told;
  const before = await ask();
  expect(before).toMatchObject({ object: "key", name: "first key", expires_at: null });
  expect(before.usage).toMatchObject({ requests: 0, cost_usd: "0", baseline_cost_usd: "0" });

  const answer = (await (await gateway.post("/v1/chat/completions", HELLO)).json()) as { service: { costUsd: string } };
  const after = await ask();
  expect(after.usage).toMatchObject({ requests: 1, errors: 0, cost_usd: answer.service.costUsd });
  expect(after.baseline).toEqual({
    model: expect.any(String),
    price: { input: expect.any(Number), output: expect.any(Number), as_of: expect.any(String) },
  });

  const other = await fetch(`${gateway.url}/v1/key`, { headers: { authorization: "Bearer sk-service-none" } });
  expect(other.status).toBe(401);
});
