// The gateway inside a process of the benchmarks, for what its command does not offer: another ledger, or times measured
// in the server. With log and metrics, on a fresh SQLite file with one key, or one of several on a shared database.

import { start } from "../../src/app/app.ts";
import type { Ledger } from "../../src/billing/ledger.ts";
import { createLog } from "../../src/telemetry/log.ts";
import type { Recorder } from "../../src/telemetry/recorder.ts";
import { answerParent, SERVER_WORK, type ServerWork } from "../harness/child.ts";
import { ADMIN_TOKEN, benchSettings } from "../harness/settings.ts";
import { createResponseTimes, type ResponseTimesWork } from "./response-times.ts";

/** Address of the gateway, and a key for its use. */
export interface GatewayReady {
  readonly port: number;
  readonly key: string;
}

export type GatewayWork = ServerWork & {
  /** Another key of the same account. */
  createKey(name: string): Promise<string>;
} & ResponseTimesWork;

interface Argument {
  readonly folder: string;
  readonly providerPort: number;
  /** A SQLite file when left out. */
  readonly database?: string;
  /** The key that the first gateway on the database has made. */
  readonly key?: string | null;
  /** Every account has credit, nothing is charged and nothing recorded: only routing and forwarding are left. */
  readonly isWithoutLedger?: boolean;
}

const argument = JSON.parse(process.argv[2] as string) as Argument;
const settings = benchSettings(argument.folder, argument.providerPort, argument.database);
const books = { ledger: freeLedger(), recorder: silentRecorder() };
const app = await start(
  settings,
  createLog(settings.logging.logLevel),
  argument.isWithoutLedger === true ? { books } : {},
);
const key = argument.key ?? app.firstKey;
if (key === null) throw new Error("the fresh store has no first key");
if (app.firstKey !== null && argument.isWithoutLedger !== true) await topUp();
const ready: GatewayReady = { port: Number(new URL(app.url).port), key };
const work: GatewayWork = { ...SERVER_WORK, createKey, ...createResponseTimes() };
answerParent(ready, work);

/** Enough credits for any run. */
async function topUp(): Promise<void> {
  await postApi("/api/credits/topups", { amountUsd: "100000" });
}

async function createKey(name: string): Promise<string> {
  return ((await postApi("/api/keys", { name })) as { key: string }).key;
}

async function postApi(path: string, body: object): Promise<unknown> {
  const response = await fetch(`${app.url}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${path} failed: ${await response.text()}`);
  return response.json();
}

/** Grants every hold and keeps nothing. */
function freeLedger(): Ledger {
  const nobody = async (): Promise<never> => {
    throw new Error("this ledger has no accounts");
  };
  return {
    hold: async ({ amounts }) => ({ state: "held", amount: amounts[0] ?? 0n }),
    settle: async ({ charge }) => ({ state: "settled", paid: charge, absorbed: 0n }),
    release: async () => undefined,
    end: async () => undefined,
    move: nobody,
    balance: nobody,
    // Large bodies are only read for an account that has credits.
    leased: () => 1n,
    start: async () => undefined,
    stop: async () => undefined,
  };
}

/** Drops every record. */
function silentRecorder(): Recorder {
  const nothing = (): void => undefined;
  return { newId: String, add: nothing, flush: async () => undefined, start: nothing, stop: async () => undefined };
}
