// The ledger and the request log of a simulation, read through the API as an operator reads them.

import { setTimeout as wait } from "node:timers/promises";
import type { SimulatedGateway } from "./gateway.ts";
import { decimal } from "./price.ts";
import { type AccountName, createApi, json, type World } from "./world.ts";

/** What the ledger says of one wallet. */
export interface Wallet {
  readonly posted: bigint;
  readonly held: bigint;
  readonly available: bigint;
}

export interface Charge {
  readonly requestId: string;
  readonly amount: bigint;
}

interface LedgerLine {
  readonly id: string;
  readonly kind: string;
  readonly amountUsd: string;
  readonly requestId: string | null;
}

/** A line of the request log. */
export interface RequestLine {
  readonly requestId: string;
  readonly chargeUsd: string | null;
}

type AskedWorld = Pick<World, "api" | "accounts"> & {
  readonly gateways: readonly Pick<SimulatedGateway, "isRunning" | "api">[];
};

/** Settlements, releases and the holds of processes that were killed: within about a minute everything is resolved. */
const QUIET_MS_MAX = 120_000;
const LOG_MS_MAX = 30_000;

export async function walletOf(
  { api, accounts }: Pick<World, "api" | "accounts">,
  account: AccountName,
): Promise<Wallet> {
  const wallet = await json(api("GET", `/api/credits?account=${accounts[account]}`));
  const [posted, held, available] = [wallet.postedUsd, wallet.heldUsd, wallet.availableUsd];
  return {
    posted: decimal(String(posted), 9),
    held: decimal(String(held), 9),
    available: decimal(String(available), 9),
  };
}

/** Problems, in words: what is still on hold after all this time, or a wallet that was ever below zero. */
export async function untilQuiet(world: AskedWorld): Promise<readonly string[]> {
  const lateAtMs = performance.now() + QUIET_MS_MAX;
  for (;;) {
    const verdict = await json(world.api("GET", "/api/ledger/verify"));
    const wallets = await everyWallet(world);
    const isQuiet = verdict.openHolds === 0 && wallets.every(({ held }) => held === 0n);
    if (wallets.some(({ available }) => available < 0n)) return ["available credit is below zero"];
    if (verdict.ok !== true) return [`the audit of the ledger fails: ${JSON.stringify(verdict)}`];
    if (isQuiet) return [];
    if (performance.now() > lateAtMs) return [`holds stay open: ${JSON.stringify(verdict)}`];
    await wait(100);
  }
}

/** From each gateway: what it reserved in memory, also for settlements that it has yet to book, no other one knows. */
async function everyWallet({ gateways, accounts }: AskedWorld): Promise<readonly Wallet[]> {
  const apis = gateways.filter(({ isRunning }) => isRunning).map((gateway) => createApi([gateway]));
  const asked = apis.flatMap((api) =>
    (["rich", "poor"] as const).map((account) => walletOf({ api, accounts }, account)),
  );
  return Promise.all(asked);
}

/** Lines of the ledger that were not read before, by their id. */
export async function readNewLines(
  { api, accounts }: World,
  account: AccountName,
  known: ReadonlySet<string>,
): Promise<readonly LedgerLine[]> {
  const fresh: LedgerLine[] = [];
  let after = "";
  for (;;) {
    const path = `/api/ledger?account=${accounts[account]}&limit=200${after === "" ? "" : `&after=${after}`}`;
    const page = (await json(api("GET", path))) as { data: readonly LedgerLine[]; next: string | null };
    fresh.push(...page.data.filter(({ id }) => !known.has(id)));
    if (page.next === null || page.data.some(({ id }) => known.has(id))) return fresh;
    after = page.next;
  }
}

/** What a key with a limit has spent, by its id. */
export async function readSpent({ api, accounts }: World): Promise<ReadonlyMap<string, bigint>> {
  const spent = new Map<string, bigint>();
  let after = "";
  for (;;) {
    const path = `/api/keys?account=${accounts.rich}&limit=200${after === "" ? "" : `&after=${after}`}`;
    const page = (await json(api("GET", path))) as {
      data: readonly { id: string; spentUsd: string | null }[];
      next: string | null;
    };
    for (const { id, spentUsd } of page.data) if (spentUsd !== null) spent.set(id, decimal(spentUsd, 9));
    if (page.next === null) return spent;
    after = page.next;
  }
}

/** The records of a step, once all that are wanted are there; those that never come are missing from the result. */
export async function readLog(
  world: World,
  step: number,
  wanted: readonly string[],
): Promise<ReadonlyMap<string, RequestLine>> {
  const lateAtMs = performance.now() + LOG_MS_MAX;
  for (;;) {
    const found = new Map<string, RequestLine>();
    for (const account of Object.values(world.accounts)) {
      // Clocks jump here: a record may be of any day.
      const range = "from=2000-01-01T00:00:00Z&to=2100-01-01T00:00:00Z";
      const path = `/api/requests?account=${account}&limit=200&q=sim-${step}-&${range}`;
      const { data } = (await json(world.api("GET", path))) as { data: readonly RequestLine[] };
      for (const line of data) found.set(line.requestId, line);
    }
    if (wanted.every((id) => found.has(id)) || performance.now() > lateAtMs) return found;
    await wait(200);
  }
}
