// Expensive bodies: deep, long, endless, compressed. Each gets the right status, memory stays bounded, other requests are
// served meanwhile, and nothing reaches a provider or the ledger.

import { setTimeout as pause } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { GatewayProcess } from "../../support/gateway/gateway-process.ts";
import { openSocket } from "../../support/network/raw-http.ts";
import type { FakeProvider } from "../../support/providers/fake-provider.ts";
import { promisedMs } from "../../support/random.ts";
import { type BankProcess, startBankProcess } from "../../support/stores/bank-process.ts";

vi.setConfig({ testTimeout: 900_000, hookTimeout: 900_000 });

const MB = 1024 * 1024;
/** Several times the largest body that is taken; unpacking or parsing what is refused would need many times more. */
const GROWTH_MAX = 320 * MB;
/** Parsing what is refused would hold everybody up for longer even on a quiet machine. */
const PROBE_MS_MAX = promisedMs(10_000);

/** A packed file may have several parts. */
const BOMB = Buffer.concat(Array<Buffer>(32).fill(gzipSync(Buffer.alloc(32 * MB, 32))));

let bank: BankProcess;
let provider: FakeProvider;
let gateway: GatewayProcess;

beforeAll(async () => {
  bank = await startBankProcess({});
  ({ provider, gateway } = bank);
});
afterAll(() => bank.close());

const post = async (body: string | Buffer, headers: Record<string, string> = {}): Promise<number> => {
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.firstKey}`, "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : new Uint8Array(body),
  });
  await answer.arrayBuffer();
  return answer.status;
};

const around = (tools: string): string => `{"messages":[{"role":"user","content":"hi"}],"tools":[${tools}]}`;

/** Chunks without end, for as long as they are taken; resolves with the status that came before the end. */
function endless(): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = openSocket(gateway.url);
    let text = "";
    const chunk = Buffer.concat([Buffer.from("10000\r\n"), Buffer.alloc(0x10000, 97), Buffer.from("\r\n")]);
    const push = (): void => {
      while (!socket.destroyed && socket.write(chunk));
    };
    socket.on("drain", push).on("error", () => undefined);
    socket.setEncoding("latin1").on("data", (piece) => {
      text += piece;
    });
    socket.once("close", () => {
      const status = Number(/^HTTP\/1.1 (\d+)/.exec(text)?.[1]);
      if (Number.isNaN(status)) reject(new Error(`closed without a status: ${text}`));
      else resolve(status);
    });
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${gateway.firstKey}\r\n` +
        "content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n",
    );
    push();
  });
}

const BODIES: readonly { number: number; name: string; send: () => Promise<number>; statuses: readonly number[] }[] = [
  { number: 7, name: "a million levels", send: () => post(around("[".repeat(1_000_000))), statuses: [400] },
  { number: 8, name: "50 MB, declared", send: () => post(Buffer.alloc(50 * MB, 97)).catch(() => 413), statuses: [413] },
  { number: 8, name: "chunks without end", send: endless, statuses: [413] },
  {
    number: 9,
    name: "20 MB of tiny objects",
    send: () => post(around('{"a":1},'.repeat(2_500_000).slice(0, -1))),
    statuses: [413],
  },
  {
    number: 14,
    name: "a multipart boundary of 20 KB and a body of 10 MB",
    send: () =>
      post(Buffer.alloc(10 * MB, 45), { "content-type": `multipart/form-data; boundary=${"-".repeat(20_000)}` }),
    statuses: [415],
  },
  {
    number: 15,
    name: "1 MB that is 1 GB when unpacked",
    send: () => post(BOMB, { "content-encoding": "gzip" }),
    statuses: [415],
  },
];

async function residentBytes(): Promise<number> {
  const text = await (await fetch(`${gateway.url}/metrics`)).text();
  return Number(/^switchyard_process_resident_memory_bytes (\S+)$/m.exec(text)?.[1]);
}

/** The slowest of the answers that somebody else got while this was done. */
async function whileProbing<T>(work: () => Promise<T>): Promise<{ result: T; slowestMs: number }> {
  let isOver = false;
  let slowestMs = 0;
  const probing = (async () => {
    while (!isOver) {
      const startedAtMs = performance.now();
      expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200);
      slowestMs = Math.max(slowestMs, performance.now() - startedAtMs);
      await pause(10);
    }
  })();
  try {
    return { result: await work(), slowestMs };
  } finally {
    isOver = true;
    await probing;
  }
}

test.each(BODIES)("case $number: $name", async ({ send, statuses }) => {
  const before = await residentBytes();
  const { result, slowestMs } = await whileProbing(send);
  expect(statuses).toContain(result);
  expect(slowestMs).toBeLessThan(PROBE_MS_MAX);
  expect((await residentBytes()) - before).toBeLessThan(GROWTH_MAX);
  expect(provider.requests).toEqual([]);
  expect(await (await gateway.api("GET", "/api/ledger/verify")).json()).toMatchObject({ ok: true, openHolds: 0 });
});

test("serves requests afterwards", async () => {
  expect(await post(JSON.stringify({ messages: [{ role: "user", content: "hi" }] }))).toBe(200);
});
