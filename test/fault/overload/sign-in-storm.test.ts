// Case 97: many wrong passwords at once, each as hard to compute as a real one. Requests are served meanwhile and do not
// queue behind the passwords.

import { afterAll, beforeAll, expect, test } from "vitest";
import { HELLO } from "../../support/gateway/gateway.ts";
import type { GatewayProcess } from "../../support/gateway/gateway-process.ts";
import { isLong } from "../../support/random.ts";
import { type BankProcess, startBankProcess } from "../../support/stores/bank-process.ts";

const SIGN_INS = 12;

let bank: BankProcess;
let gateway: GatewayProcess;

beforeAll(async () => {
  bank = await startBankProcess({});
  ({ gateway } = bank);
});
afterAll(() => bank.close());

const send = (path: string, body: object, headers: Record<string, string> = {}): Promise<number> =>
  fetch(`${gateway.url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  }).then(async (answer) => {
    await answer.arrayBuffer();
    return answer.status;
  });

test("requests go on while a dozen people type wrong passwords", { timeout: 300_000 }, async () => {
  const startedAtMs = performance.now();
  let isOver = false;
  const storm = Promise.all(
    Array.from({ length: SIGN_INS }, (_, index) =>
      send("/api/session", { email: `somebody${index}@x.example`, password: "not this one, sorry" }),
    ),
  ).finally(() => {
    isOver = true;
  });
  const tookMs: number[] = [];
  while (!isOver) {
    const askedAtMs = performance.now();
    const status = await send("/v1/chat/completions", HELLO, { authorization: `Bearer ${gateway.firstKey}` });
    expect(status).toBe(200);
    tookMs.push(performance.now() - askedAtMs);
  }
  const statuses = await storm;
  const stormMs = performance.now() - startedAtMs;
  expect(statuses.filter((status) => ![401, 429, 503].includes(status))).toEqual([]);
  expect(statuses).toContain(401);
  expect(tookMs.length, `answers in ${Math.round(stormMs)} ms`).toBeGreaterThan(5);
  if (isLong) expect(Math.max(...tookMs)).toBeLessThan(stormMs / 2);
});
