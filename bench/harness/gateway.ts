// A gateway as its command starts it, from a built checkout: this one or another version. All of them start, and in one
// process are asked, in the same way, so that their rows compare.

import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { Crew } from "../../src/workers/count.ts";
import { type Command, freePort, startCommand } from "./command.ts";
import type { Server } from "./server.ts";
import { ADMIN_TOKEN, databaseEnv, writeBenchConfig } from "./settings.ts";

export interface OtherServer extends Server {
  stop(): Promise<void>;
}

/** A gateway makes keys: the rate of one is limited. */
export interface GatewayServer extends OtherServer {
  newKey(): Promise<string>;
}

export interface GatewaySurroundings {
  readonly providerPort: number;
  readonly newFolder: () => string;
}

interface Gateway {
  readonly name: string;
  /** This one when left out. `npm run bench` starts in it and has built it. */
  readonly checkout?: string;
  /** One process, which is asked for its resources, when left out. */
  readonly workers?: string;
  /** A SQLite file when left out. */
  readonly database?: string;
}

/** On a SQLite file, unless there is the address of a PostgreSQL. */
export async function startWorkers(crew: Crew, around: GatewaySurroundings, database?: string): Promise<GatewayServer> {
  const workers = crew.least === crew.most ? String(crew.most) : `${crew.least}-${crew.most}`;
  const wanted = { name: `gateway, ${workers} workers`, workers, ...(database === undefined ? {} : { database }) };
  return { ...(await startGateway(wanted, around)), workers: crew.most };
}

/** Another checkout, with as many workers from its start: older versions have no range of them. */
export async function startWorkersBefore(
  { most }: Crew,
  around: GatewaySurroundings,
  checkout: string,
): Promise<GatewayServer> {
  const wanted = { name: `before, ${most} workers`, checkout, workers: String(most) };
  return { ...(await startGateway(wanted, around)), workers: most };
}

export async function startGateway(
  { name, checkout = resolve("."), workers, database }: Gateway,
  { providerPort, newFolder }: GatewaySurroundings,
): Promise<GatewayServer> {
  const port = await freePort();
  const folder = newFolder();
  writeBenchConfig(folder, providerPort, port);
  const command = fileURLToPath(new URL("../servers/command.js", import.meta.url));
  const args = ["--expose-gc", "--max-semi-space-size=32", command, programOf(checkout), "serve"];
  const env = {
    // Older versions know no such settings.
    SWITCHYARD_WORKERS: workers ?? "1",
    SWITCHYARD_PRICES_CHECK: "off",
    ...databaseEnv(database),
  };
  const isAsked = workers === undefined;
  const server = await started(
    name,
    { file: process.execPath, args, cwd: folder, port, env, isAsked },
    { port, key: null },
  );
  const post = async (path: string, body: object): Promise<Record<string, string>> => {
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, "content-type": "application/json" };
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
    });
    return (await response.json()) as Record<string, string>;
  };
  await post("/api/credits/topups", { amountUsd: "100000" });
  const newKey = async (): Promise<string> => (await post("/api/keys", { name: "bench" })).key as string;
  return { ...server, target: { port, key: await newKey() }, newKey };
}

/** Older versions were not bundled. */
function programOf(checkout: string): string {
  const programs = ["dist/program/main.js", "dist/main.js"].map((file) => join(checkout, file));
  const program = programs.find((file) => existsSync(file));
  if (program === undefined) throw new Error(`${checkout} is not built: run npm run build in it`);
  return program;
}

export async function started(name: string, command: Command, target: Server["target"]): Promise<OtherServer> {
  try {
    const { process, stop } = await startCommand(command);
    return { name, target, process, stop };
  } catch (error) {
    throw new Error(`${name}: ${(error as Error).message}`);
  }
}
