// The gateway as it runs in production, log line and metrics included, with a fresh SQLite file and one key; or beside
// others on a database that they share.

import { mkdirSync, writeFileSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { dirname } from "node:path";
import { start } from "../../src/app/app.ts";
import type { Ledger } from "../../src/billing/ledger.ts";
import { createLog } from "../../src/telemetry/log.ts";
import type { Recorder } from "../../src/telemetry/recorder.ts";
import { answerParent, SERVER_WORK, type ServerWork } from "../child.ts";
import { ADMIN_TOKEN, benchSettings } from "../settings.ts";
import { type AnswerTimesWork, createAnswerTimes } from "./answer-times.ts";

export interface GatewayReady {
  readonly port: number;
  readonly key: string;
}

export type GatewayWork = ServerWork & {
  startProfile(input: null): Promise<void>;
  /** Writes what was seen since `startProfile` to this file. */
  saveProfile(file: string): Promise<void>;
} & AnswerTimesWork;

interface Argument {
  readonly folder: string;
  readonly providerPort: number;
  /** Left out, a SQLite file. */
  readonly database?: string;
  /** Of the gateway that was first on the database. */
  readonly key?: string | null;
  /** Everybody has credit, nothing is booked and nothing recorded: what is left is routing and forwarding. */
  readonly isWithoutBooks?: boolean;
}

const argument = JSON.parse(process.argv[2] as string) as Argument;
const settings = benchSettings(argument.folder, argument.providerPort, argument.database);
const books = { ledger: freeLedger(), recorder: forgetfulRecorder() };
const app = await start(
  settings,
  createLog(settings.logging.logLevel),
  argument.isWithoutBooks === true ? { books } : {},
);
const key = argument.key ?? app.firstKey;
if (key === null) throw new Error("the fresh store has no first key");
if (app.firstKey !== null && argument.isWithoutBooks !== true) await topUp(app.url);
const ready: GatewayReady = { port: Number(new URL(app.url).port), key };
const work: GatewayWork = { ...SERVER_WORK, ...createProfiler(), ...createAnswerTimes() };
answerParent(ready, work);

async function topUp(url: string): Promise<void> {
  const response = await fetch(`${url}/api/credits/topups`, {
    method: "POST",
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, "content-type": "application/json" },
    body: JSON.stringify({ amountUsd: "100000" }),
  });
  if (!response.ok) throw new Error(`the top-up failed: ${await response.text()}`);
}

function freeLedger(): Ledger {
  const nobody = async (): Promise<never> => {
    throw new Error("this ledger has no accounts");
  };
  return {
    hold: async ({ amounts }) => ({ state: "held", amount: amounts[0] ?? 0n }),
    settle: async ({ charge }) => ({ state: "settled", paid: charge, absorbed: 0n }),
    release: async () => undefined,
    move: nobody,
    balance: nobody,
    start: async () => undefined,
    stop: async () => undefined,
  };
}

function forgetfulRecorder(): Recorder {
  const nothing = (): void => undefined;
  return { newId: String, add: nothing, flush: async () => undefined, start: nothing, stop: async () => undefined };
}

function createProfiler(): Pick<GatewayWork, "startProfile" | "saveProfile"> {
  const session = new Session();
  return {
    async startProfile() {
      session.connect();
      await session.post("Profiler.enable");
      await session.post("Profiler.start");
    },
    async saveProfile(file) {
      const { profile } = await session.post("Profiler.stop");
      session.disconnect();
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, JSON.stringify(profile));
    },
  };
}
