// The servers that are measured beside ours when they are wanted: gateways with several workers, another version, and
// peers that are installed. A peer that is not there is left out with a line that says so.

import { existsSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Command, freePort, startCommand } from "./command.ts";
import type { Server } from "./server.ts";
import { ADMIN_TOKEN, writeBenchConfig } from "./settings.ts";

export interface OtherServer extends Server {
  stop(): Promise<void>;
}

/** A gateway makes keys: the rate of one is limited. */
export interface WorkersServer extends OtherServer {
  newKey(): Promise<string>;
}

export interface OthersWanted {
  /** How many workers each gateway has. */
  readonly workers: readonly number[];
  /** A built checkout of another version; null for none. */
  readonly before: string | null;
  /** Folders to look for peers in, beside PATH; null for none. */
  readonly peersIn: readonly string[] | null;
}

export const NO_OTHERS: OthersWanted = { workers: [], before: null, peersIn: null };

interface Surroundings extends GatewaySurroundings {
  /** Each is added as it starts. */
  readonly others: OtherServer[];
}

interface GatewaySurroundings {
  readonly providerPort: number;
  readonly newFolder: () => string;
}

export async function startOthers({ workers, before, peersIn }: OthersWanted, around: Surroundings): Promise<void> {
  const { providerPort, newFolder, others } = around;
  for (const count of workers) others.push(await startWorkers(count, around));
  if (before !== null) others.push(await startBefore(before, around));
  for (const [name, peer] of peersIn === null ? [] : PEERS) {
    const file = peer.find(peersIn ?? []);
    if (file === null) {
      console.log(`${name}: skipped, ${peer.missing}\n`);
      continue;
    }
    const port = await freePort();
    const folder = newFolder();
    const address = { port, providerPort };
    const command = { file: peer.run ?? file, args: peer.args({ file, folder, ...address }), cwd: folder, port };
    others.push(await started(name, command, { port, key: "bench", headers: peer.headers?.(address) ?? {} }));
  }
}

/** On a SQLite file, unless there is the address of a PostgreSQL. */
export async function startWorkers(
  count: number,
  around: GatewaySurroundings,
  database?: string,
): Promise<WorkersServer> {
  const program = fileURLToPath(new URL("../servers/command.js", import.meta.url));
  const env: Readonly<Record<string, string>> = database === undefined ? {} : { DATABASE_URL: database };
  const gateway = { name: `gateway, ${count} workers`, program, options: { workers: count }, env };
  return { ...(await startGateway(gateway, around)), workers: count };
}

/** In one process, as ours is. By its environment: older versions have no `server.workers`. */
function startBefore(checkout: string, around: GatewaySurroundings): Promise<WorkersServer> {
  const program = join(checkout, "bin/switchyard.mjs");
  return startGateway({ name: "before", program, options: {}, env: { SWITCHYARD_WORKERS: "1" } }, around);
}

interface Gateway {
  readonly name: string;
  readonly program: string;
  /** Of its `server` section. */
  readonly options: { readonly workers?: number };
  readonly env: Readonly<Record<string, string>>;
}

async function startGateway(
  { name, program, options, env }: Gateway,
  { providerPort, newFolder }: GatewaySurroundings,
): Promise<WorkersServer> {
  const port = await freePort();
  const folder = newFolder();
  writeBenchConfig(folder, providerPort, { port, ...options });
  const args = ["--max-semi-space-size=32", program, "serve"];
  const server = await started(name, { file: process.execPath, args, cwd: folder, port, env }, { port, key: null });
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

async function started(name: string, command: Command, target: Server["target"]): Promise<OtherServer> {
  try {
    const { process, stop } = await startCommand(command);
    return { name, target, process, stop };
  } catch (error) {
    throw new Error(`${name}: ${(error as Error).message}`);
  }
}

interface Place {
  readonly port: number;
  readonly providerPort: number;
}

interface Peer {
  /** Where it is; null when it is nowhere. */
  find(folders: readonly string[]): string | null;
  readonly missing: string;
  /** What runs the file that was found, where it does not run by itself. */
  readonly run?: string;
  args(place: Place & { readonly file: string; readonly folder: string }): readonly string[];
  headers?(place: Place): Readonly<Record<string, string>>;
}

const PEERS: readonly (readonly [name: string, peer: Peer])[] = [
  [
    "nginx",
    {
      find: (folders) => findProgram("nginx", folders),
      missing: "no nginx on PATH or in the folder",
      args({ folder, port, providerPort }) {
        writeFileSync(join(folder, "nginx.conf"), nginxConfig(port, providerPort));
        return ["-p", folder, "-c", "nginx.conf", "-e", "error.log"];
      },
    },
  ],
  [
    "Portkey",
    {
      find: (folders) => findFile("node_modules/@portkey-ai/gateway/build/start-server.js", folders),
      missing: "no @portkey-ai/gateway in the folder",
      run: process.execPath,
      args: ({ file, port }) => [file, `--port=${port}`, "--headless"],
      headers: ({ providerPort }) => ({
        "x-portkey-provider": "openai",
        "x-portkey-custom-host": `http://127.0.0.1:${providerPort}/v1`,
      }),
    },
  ],
  [
    "LiteLLM",
    {
      find: (folders) => findProgram("litellm", folders),
      missing: "no litellm on PATH or in the folder",
      args({ folder, port, providerPort }) {
        const params = { model: "openai/bench", api_base: `http://127.0.0.1:${providerPort}/v1`, api_key: "bench" };
        // Its configuration is YAML, which JSON is too.
        writeFileSync(
          join(folder, "config.yaml"),
          JSON.stringify({ model_list: [{ model_name: "auto", litellm_params: params }] }),
        );
        return ["--config", "config.yaml", "--host", "127.0.0.1", "--port", String(port)];
      },
    },
  ],
];

function findProgram(name: string, folders: readonly string[]): string | null {
  const inFolders = folders.flatMap((folder) => [join(folder, "bin"), join(folder, "sbin"), folder]);
  const places = [...inFolders, ...(process.env.PATH ?? "").split(delimiter)];
  return findFile(name, places);
}

function findFile(path: string, folders: readonly string[]): string | null {
  return folders.map((folder) => join(folder, path)).find((file) => existsSync(file)) ?? null;
}

function nginxConfig(port: number, providerPort: number): string {
  return `daemon off;
worker_processes 1;
pid nginx.pid;
events { worker_connections 8192; }
http {
  access_log off;
  client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path f; uwsgi_temp_path u; scgi_temp_path s;
  client_max_body_size 32m;
  upstream provider { server 127.0.0.1:${providerPort}; keepalive 256; }
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location / {
      proxy_pass http://provider; proxy_http_version 1.1; proxy_set_header connection ""; proxy_buffering off;
    }
  }
}
`;
}
