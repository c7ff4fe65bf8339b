// Case 94: what clients and providers write is never more than text in a line of the log: no line breaks, no codes that a
// terminal obeys.

import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { GatewayProcess } from "../../support/gateway/gateway-process.ts";
import { sendRaw } from "../../support/network/raw-http.ts";
import { type FakeProvider, fails } from "../../support/providers/fake-provider.ts";
import { type BankProcess, startBankProcess } from "../../support/stores/bank-process.ts";

vi.setConfig({ testTimeout: 900_000, hookTimeout: 900_000 });

const NASTY = 'a\u001b[31mred\u009b0m\u0007\b\r\n{"level":50,"msg":"forged"}\u2028\u0085end';

let bank: BankProcess;
let provider: FakeProvider;
let gateway: GatewayProcess;

beforeAll(async () => {
  bank = await startBankProcess({ LOG_LEVEL: "debug" });
  ({ provider, gateway } = bank);
});
afterAll(() => bank.close());

test("whatever is sent, every line is one JSON object without control characters", async () => {
  const ask = (body: object, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.firstKey}`, "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
  const messages = [{ role: "user", content: NASTY }];
  provider.once("alpha", fails(400, { message: NASTY, code: NASTY, param: NASTY }));
  provider.once("beta", fails(500, { message: NASTY }));
  const answers = await Promise.all([
    ask({ messages }),
    ask({ messages, model: NASTY, service_profile: "direct" }),
    ask({ messages, service_profile: NASTY }),
    ask({ messages: [{ role: NASTY, content: "x" }] }),
    ask({ messages, user: NASTY, stream: true }),
    gateway.api("POST", "/api/keys", { name: NASTY }),
    gateway.api("GET", `/api/keys/${encodeURIComponent(NASTY)}`),
    fetch(`${gateway.url}/${encodeURIComponent(NASTY)}`),
    fetch(`${gateway.url}/v1/models/${encodeURIComponent(NASTY)}`),
  ]);
  for (const { status } of answers) expect(status).toBeLessThan(500);
  // What a provider wrote.
  const { error } = (await (answers[0] as Response).json()) as { error: Record<string, string> };
  expect(error.message).toContain("red");
  expect(`${error.message}${error.code}${error.param}`).not.toMatch(/\p{Cc}/u);
  const latin = Buffer.from("GET /\x9b31m HTTP/1.1\r\nhost: x\r\nx-request-id: \x9b31m\r\n\r\n", "latin1");
  expect((await sendRaw(gateway.url, latin)).status).toBeLessThan(500);
  await expect.poll(() => gateway.output()).toContain('"event":"request.completed"');
  expect(await gateway.stop()).toBe(0);
  const lines = gateway
    .output()
    .split("\n")
    .filter((line) => line.startsWith("{"));
  expect(lines.length).toBeGreaterThan(answers.length / 2);
  for (const line of lines) {
    expect(line).not.toMatch(/\p{Cc}/u);
    expect(JSON.parse(line)).not.toMatchObject({ msg: "forged" });
  }
});
