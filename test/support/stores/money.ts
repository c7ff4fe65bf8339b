// Money seen from outside: a gateway in front of a scriptable provider, its books through the API, and what answers must
// cost, computed here from decimal text and by nothing of the gateway's own.

import { request as httpRequest, type IncomingMessage } from "node:http";
import { expect, vi } from "vitest";
import { TIERS } from "../../../src/core/tiers.ts";
import { type GatewayOptions, HELLO, startGateway, type TestGateway } from "../gateway/gateway.ts";
import { type FakeProvider, startFakeProvider } from "../providers/fake-provider.ts";

export interface Tokens {
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
}

/** USD per million tokens, as written in the configuration. */
export interface PriceText {
  readonly input: string;
  readonly output: string;
  readonly cacheRead?: string;
  readonly cacheWrite?: string;
}

/** In nano-USD: everything added up exactly, the markup on the sum, rounded up once. */
export function owed(tokens: Tokens, price: PriceText, markup = "0.05"): bigint {
  const part = (count: number, usdPerMillion: bigint): bigint => BigInt(count) * usdPerMillion;
  const input = decimal(price.input, 6);
  // Prices have six decimals, also the one that stands in for a missing one: the next that is not below 1.25 × input.
  const write = price.cacheWrite === undefined ? (input * 5n + 3n) / 4n : decimal(price.cacheWrite, 6);
  const sum =
    part(tokens.input, input) +
    part(tokens.cacheRead ?? 0, price.cacheRead === undefined ? input : decimal(price.cacheRead, 6)) +
    part(tokens.cacheWrite ?? 0, write) +
    part(tokens.output, decimal(price.output, 6));
  const exact = sum * (1_000_000n + decimal(markup, 6));
  // Six decimals of the price, six of the million, six of the markup; nine of them stay as nano.
  const unit = 10n ** 9n;
  return (exact + unit - 1n) / unit;
}

/** "1.5" with six decimals is 1500000n. */
export function decimal(text: string, places: number): bigint {
  const sign = text.startsWith("-") ? -1n : 1n;
  const [whole = "0", fraction = ""] = text.replace("-", "").split(".");
  return sign * BigInt(whole + fraction.padEnd(places, "0").slice(0, places));
}

export const PRICES = {
  alpha: { input: "1.1", output: "4.4", cacheRead: "0.275", cacheWrite: "1.375" },
  beta: { input: "0.15", output: "0.6" },
  free: { input: "0", output: "0" },
  wide: { input: "0.033333", output: "0.777777" },
  /** On a provider that speaks the Messages format. */
  gamma: { input: "3", output: "15", cacheRead: "0.3", cacheWrite: "3.75" },
} as const satisfies Readonly<Record<string, PriceText>>;

export type ModelId = keyof typeof PRICES;

export interface BankOptions extends GatewayOptions {
  readonly markup?: string;
  readonly chain?: readonly ModelId[];
}

export interface Bank {
  readonly provider: FakeProvider;
  readonly gateway: TestGateway;
  ask(body?: object, headers?: Record<string, string>): Promise<Response>;
  /** An exchange that the test may leave at any moment. */
  open(body: object, headers?: Record<string, string>): Leavable;
  /** Nano-USD. */
  balance(): Promise<Balance>;
  topUp(amountUsd: string): Promise<void>;
  /** Takes away what is there. */
  empty(): Promise<void>;
  /** What it took from the wallet, once nothing is on hold and the audit fits. */
  spentBy(work: () => Promise<unknown>): Promise<bigint>;
  /** Nothing on hold, and the audit has nothing to say. */
  atRest(): Promise<void>;
  entries(limit?: number): Promise<readonly LedgerLine[]>;
  close(): Promise<void>;
}

interface Balance {
  readonly posted: bigint;
  readonly held: bigint;
  readonly available: bigint;
}

export interface LedgerLine {
  readonly id: string;
  readonly kind: string;
  readonly amountUsd: string;
  readonly requestId: string | null;
  readonly model: string | null;
  readonly entries: readonly { readonly book: string; readonly amountUsd: string }[];
}

export interface Leavable {
  readonly response: Promise<IncomingMessage>;
  leave(): void;
}

export async function openBank(options: BankOptions = {}): Promise<Bank> {
  const provider = await startFakeProvider();
  const gateway = await startGateway({ yaml: bankYaml(provider.url, options), ...options });
  return bankOf(provider, gateway);
}

export function bankOf(provider: FakeProvider, gateway: TestGateway): Bank {
  const balance = () => readBalance(gateway);
  const atRest = () => expectRest(gateway);
  const topUp = async (amountUsd: string): Promise<void> => {
    expect((await gateway.api("POST", "/api/credits/topups", { amountUsd })).status).toBe(201);
  };
  return {
    provider,
    gateway,
    balance,
    atRest,
    topUp,
    ask: (body = {}, headers = {}) => gateway.post("/v1/chat/completions", { ...HELLO, ...body }, headers),
    open: (body, headers = {}) => openExchange(gateway, { ...HELLO, ...body }, headers),
    async empty() {
      await atRest();
      const { available } = await balance();
      if (available === 0n) return;
      const answer = await gateway.api("POST", "/api/credits/adjustments", { amountUsd: `-${usd(available)}` });
      expect(answer.status).toBe(201);
    },
    async spentBy(work) {
      await atRest();
      const before = await balance();
      await work();
      await atRest();
      return before.posted - (await balance()).posted;
    },
    async entries(limit = 100) {
      const answer = await gateway.api("GET", `/api/ledger?limit=${limit}`);
      return ((await answer.json()) as { data: readonly LedgerLine[] }).data;
    },
    async close() {
      await gateway.stop();
      await provider.close();
    },
  };
}

const TIMEOUTS = "{ connectMs: 30000, firstByteMs: 60000, idleMs: 60000, totalMs: 120000 }";

export function bankYaml(baseUrl: string, { markup, chain = ["alpha", "beta"] }: BankOptions = {}): string {
  const rows = Object.entries(PRICES).map(([id, price]) => {
    const fields = Object.entries(price).map(([name, text]) => `${name}: ${text}`);
    const maxOutput = id === "wide" ? 131_072 : 4096;
    return `  - { id: ${id}, provider: ${id === "gamma" ? "anthropic-lab" : "lab"}, price: { ${fields.join(", ")} }, context: 1000000, maxOutput: ${maxOutput}, capabilities: [tools, vision, json] }`;
  });
  return [
    "catalog: none",
    // However busy the machine, nobody is to be sent away for that.
    "limits: { requestsPerMinute: 1000000, eventLoopDelayMs: 60000 }",
    // These tests fail on purpose, over and over, and look at what is charged, not at who is tried.
    "health: { failuresInRow: 100000, callsMin: 100000 }",
    "providers:",
    `  lab: { kind: openai, baseUrl: "${baseUrl}", apiKey: lab-secret, timeouts: ${TIMEOUTS} }`,
    `  anthropic-lab: { kind: anthropic, baseUrl: "${baseUrl.replace(/\/v1$/, "")}", apiKey: lab-secret, timeouts: ${TIMEOUTS} }`,
    "models:",
    ...rows,
    "tiers:",
    ...TIERS.map((tier) => `  ${tier}: [${chain.join(", ")}]`),
    `routing: { baseline: alpha${markup === undefined ? "" : `, markup: ${markup}`} }`,
  ].join("\n");
}

/** What the account owns, in nano-USD, what is on hold included. */
export async function postedOf(gateway: Pick<TestGateway, "api">): Promise<bigint> {
  const { postedUsd } = (await (await gateway.api("GET", "/api/credits")).json()) as { postedUsd: string };
  return decimal(postedUsd, 9);
}

/** All charges in the ledger, page by page. */
export async function chargesOf(gateway: Pick<TestGateway, "api">): Promise<readonly LedgerLine[]> {
  const lines: LedgerLine[] = [];
  let next: string | null = "";
  while (next !== null) {
    const answer = await gateway.api("GET", `/api/ledger?limit=500${next === "" ? "" : `&after=${next}`}`);
    const page = (await answer.json()) as { data: readonly LedgerLine[]; next: string | null };
    lines.push(...page.data.filter(({ kind }) => kind === "charge"));
    next = page.next;
  }
  return lines;
}

export function usd(nano: bigint): string {
  const digits = nano.toString().padStart(10, "0");
  return `${digits.slice(0, -9)}.${digits.slice(-9)}`;
}

async function readBalance(gateway: TestGateway): Promise<Balance> {
  const answer = await gateway.api("GET", "/api/credits");
  const { postedUsd, heldUsd, availableUsd } = (await answer.json()) as Record<string, string>;
  return {
    posted: decimal(postedUsd as string, 9),
    held: decimal(heldUsd as string, 9),
    available: decimal(availableUsd as string, 9),
  };
}

export async function expectRest(gateway: TestGateway): Promise<void> {
  const heldUsd = async (): Promise<unknown> =>
    ((await (await gateway.api("GET", "/api/credits")).json()) as { heldUsd: string }).heldUsd;
  // A client that left hears nothing of its settlement, so there is nothing to await but the ledger itself.
  await vi.waitFor(async () => expect(await heldUsd()).toBe("0"), { timeout: 300_000, interval: 10 });
  const verdict = await (await gateway.api("GET", "/api/ledger/verify")).json();
  expect(verdict).toMatchObject({ ok: true, openHolds: 0, problems: [] });
}

function openExchange({ url, key }: TestGateway, body: object, headers: Record<string, string>): Leavable {
  const request = httpRequest(`${url}/v1/chat/completions`, {
    method: "POST",
    agent: false,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
  });
  const response = new Promise<IncomingMessage>((resolve, reject) => {
    request.once("response", resolve);
    request.once("error", reject);
  });
  // A test that leaves does not look at the error it caused.
  response.catch(() => undefined);
  request.on("error", () => undefined);
  request.end(JSON.stringify(body));
  return { response, leave: () => void request.destroy() };
}
