// The world of a simulation: its gateways, provider, accounts and keys, and the top-ups that were made.

import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { type PostgresServer, startPostgres } from "../support/stores/postgres-server.ts";
import { createGateway, type SimulatedGateway } from "./gateway.ts";
import type { Caller, StoreKind } from "./plan.ts";
import { decimal, usd } from "./price.ts";
import { type SimulatedProvider, startSimulatedProvider } from "./provider.ts";

interface KeyInUse {
  readonly id: string;
  readonly text: string;
  readonly account: AccountName;
  readonly spendLimit: bigint | null;
}

export type AccountName = "rich" | "poor";

/** A key that was revoked, and since when every gateway must know. */
interface RevokedKey {
  readonly id: string;
  readonly text: string;
  readonly knownMs: number;
}

export interface World {
  readonly folder: string;
  readonly gateways: readonly SimulatedGateway[];
  readonly provider: SimulatedProvider;
  readonly accounts: Readonly<Record<AccountName, string>>;
  /** The key of each caller. */
  readonly keys: Record<Exclude<Caller, "revoked">, KeyInUse>;
  /** Every key there ever was, by id. */
  readonly everyKey: Map<string, KeyInUse>;
  revoked: RevokedKey | null;
  /** Top-ups by their amount: each has one of its own, so that the ledger's lines can be told apart. */
  readonly topUps: Map<bigint, AccountName>;
  /** Asks gateways that run, until one has answered with less than 500. */
  api(method: string, path: string, options?: Parameters<SimulatedGateway["api"]>[2]): Promise<Response>;
  close(): Promise<void>;
}

/** Revocations are known everywhere within five seconds; a busy machine gets two more. */
const REVOKED_KNOWN_MS = 7_000;
const API_MS_MAX = 60_000;
const SPEND_LIMIT = decimal("0.01", 9);

export async function openWorld(root: string, store: StoreKind): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), "switchyard-simulation-"));
  const provider = await startSimulatedProvider();
  const postgres: PostgresServer | null = store === "postgres" ? await startPostgres() : null;
  const databaseUrl = postgres?.url ?? null;
  const indexes = store === "postgres" ? [0, 1, 2] : [0];
  const gateways = await Promise.all(
    indexes.map((index) => createGateway({ root, folder, index, providerUrl: provider.url, databaseUrl })),
  );
  await gateways[0]?.start();
  const api = createApi(gateways);
  const poor = await json(api("POST", "/api/accounts", { body: { name: "poor" } }));
  const accounts = { rich: "default", poor: String(poor.id) };
  const everyKey = new Map<string, KeyInUse>();
  const world: World = {
    folder,
    gateways,
    provider,
    accounts,
    keys: {
      rich: await createKey({ api, accounts, everyKey }, "rich", null),
      limited: await createKey({ api, accounts, everyKey }, "rich", SPEND_LIMIT),
      poor: await createKey({ api, accounts, everyKey }, "poor", null),
    },
    everyKey,
    revoked: null,
    topUps: new Map(),
    api,
    async close() {
      await Promise.all(gateways.map((gateway) => gateway.close()));
      await provider.close();
      await postgres?.stop();
    },
  };
  await topUp(world, "rich", decimal("1000000", 9));
  await topUp(world, "poor", decimal("0.002", 9));
  return world;
}

export function createApi(gateways: readonly Pick<SimulatedGateway, "isRunning" | "api">[]): World["api"] {
  return async (method, path, options) => {
    const lateAtMs = performance.now() + API_MS_MAX;
    for (let turn = 0; ; turn += 1) {
      const running = gateways.filter(({ isRunning }) => isRunning);
      const response = await running[turn % running.length]?.api(method, path, options).catch(() => null);
      if (response && response.status < 500) return response;
      if (performance.now() > lateAtMs) {
        throw new Error(`${method} ${path} is not answered: ${response?.status} ${await response?.text()}`);
      }
      await wait(100);
    }
  };
}

export async function json(answer: Promise<Response>): Promise<Record<string, unknown>> {
  const response = await answer;
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.url} answered ${response.status}: ${text}`);
  return JSON.parse(text) as Record<string, unknown>;
}

type KeyMaking = Pick<World, "api" | "accounts" | "everyKey">;

async function createKey(world: KeyMaking, account: AccountName, spendLimit: bigint | null): Promise<KeyInUse> {
  const body = { name: "simulated", ...(spendLimit === null ? {} : { spendLimitUsd: usd(spendLimit) }) };
  const made = await json(world.api("POST", `/api/keys?account=${world.accounts[account]}`, { body }));
  return note(world, { id: String(made.id), text: String(made.key), account, spendLimit });
}

function note({ everyKey }: Pick<World, "everyKey">, key: KeyInUse): KeyInUse {
  everyKey.set(key.id, key);
  return key;
}

export async function newLimitedKey(world: World): Promise<void> {
  world.keys.limited = await createKey(world, "rich", SPEND_LIMIT);
}

/** The caller has a new key when the old one is revoked. */
export async function revokeKey(world: World, caller: keyof World["keys"]): Promise<void> {
  const { id, text, account, spendLimit } = world.keys[caller];
  world.keys[caller] = await createKey(world, account, spendLimit);
  await world.api("DELETE", `/api/keys/${id}?account=${world.accounts[account]}`);
  world.revoked = { id, text, knownMs: performance.now() + REVOKED_KNOWN_MS };
}

/** A reply that was lost leaves a key that nobody knows; then another one is made. */
export async function rotateKey(world: World, caller: keyof World["keys"]): Promise<void> {
  const { id, text, account, spendLimit } = world.keys[caller];
  const path = `/api/keys/${id}/rotate?account=${world.accounts[account]}`;
  const response = await world.api("POST", path, { body: { graceHours: 0 } });
  const made = (await response.json()) as { id: string; key: string };
  world.keys[caller] =
    response.status === 201
      ? note(world, { id: made.id, text: made.key, account, spendLimit })
      : await createKey(world, account, spendLimit);
  world.revoked = { id, text, knownMs: performance.now() + REVOKED_KNOWN_MS };
}

/** Repeated under one Idempotency-Key until it is acknowledged: it counts once. */
export async function topUp(world: World, account: AccountName, amount: bigint, times = 1): Promise<void> {
  world.topUps.set(amount, account);
  const request = {
    body: { amountUsd: usd(amount) },
    headers: { "idempotency-key": `topup-${amount}` },
  };
  const path = `/api/credits/topups?account=${world.accounts[account]}`;
  await Promise.all(Array.from({ length: times }, () => json(world.api("POST", path, request))));
}
