// The servers that are measured beside ours when they are wanted: gateways with several workers, another version, and
// peers that are installed. A peer that is not there is left out with a line that says so.

import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { Crew } from "../../src/workers/count.ts";
import { freePort } from "./command.ts";
import {
  type GatewaySurroundings,
  type OtherServer,
  started,
  startGateway,
  startWorkers,
  startWorkersBefore,
} from "./gateway.ts";

export interface OthersWanted {
  /** Workers of each gateway. */
  readonly workers: readonly Crew[];
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

export async function startOthers({ workers, before, peersIn }: OthersWanted, around: Surroundings): Promise<void> {
  const { others } = around;
  for (const crew of workers) others.push(await startWorkers(crew, around));
  if (before !== null) {
    others.push(await startGateway({ name: "before", checkout: before }, around));
    for (const crew of workers) others.push(await startWorkersBefore(crew, around, before));
  }
  for (const start of peersToStart(peersIn, around)) {
    const server = await start();
    if (server !== null) others.push(server);
  }
}

/** One function for each peer that is installed; null from it where the peer does not start. */
export function peersToStart(
  peersIn: OthersWanted["peersIn"],
  { providerPort, newFolder }: GatewaySurroundings,
): readonly (() => Promise<OtherServer | null>)[] {
  if (peersIn === null) return [];
  return PEERS.flatMap(([name, peer]) => {
    const file = peer.find(peersIn);
    if (file === null) {
      console.log(`${name}: skipped, ${peer.missing}\n`);
      return [];
    }
    return [async () => startPeer(name, peer, { file, folder: newFolder(), port: await freePort(), providerPort })];
  });
}

/** A peer of another version may not start. The rest is measured all the same. */
async function startPeer(name: string, peer: Peer, place: FoundPlace): Promise<OtherServer | null> {
  const { file, folder, port } = place;
  const env = peer.env?.(place) ?? {};
  const command = { file: peer.run ?? file, args: peer.args(place), cwd: folder, port, env };
  const target = { port, key: "bench", headers: peer.headers?.(place) ?? {}, ...(peer.path && { path: peer.path }) };
  try {
    return await started(name, command, target);
  } catch (error) {
    console.log(`${(error as Error).message}, so it is skipped\n`);
    return null;
  }
}

interface Place {
  readonly port: number;
  readonly providerPort: number;
}

type FoundPlace = Place & { readonly file: string; readonly folder: string };

interface Peer {
  /** Finds the program's file; null when there is none. */
  find(folders: readonly string[]): string | null;
  readonly missing: string;
  /** Program that runs the file, where the file does not run by itself. */
  readonly run?: string;
  args(place: FoundPlace): readonly string[];
  env?(place: Place): Readonly<Record<string, string>>;
  /** Where it takes chat-completions, if not at the usual path. */
  readonly path?: string;
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
    "Bifrost",
    {
      find: (folders) => findProgram("bifrost-http", folders),
      missing: "no bifrost-http on PATH or in the folder",
      // Models without a prefix go to the provider of this path.
      path: "/openai/v1/chat/completions",
      args({ folder, port, providerPort }) {
        writeFileSync(join(folder, "config.json"), JSON.stringify(bifrostConfig(providerPort)));
        // Read from the network otherwise. A model that the list does not have finds no provider.
        writeFileSync(join(folder, "prices.json"), JSON.stringify({ auto: BIFROST_MODEL }));
        writeFileSync(join(folder, "parameters.json"), "{}");
        return ["-app-dir", folder, "-host", "127.0.0.1", "-port", String(port)];
      },
    },
  ],
  [
    "GoModel",
    {
      find: (folders) => findProgram("gomodel", folders),
      missing: "no gomodel on PATH or in the folder",
      args({ folder }) {
        // With this folder, its database and logs lie in it.
        mkdirSync(join(folder, "data"));
        return [];
      },
      env: ({ port, providerPort }) => ({
        PORT: String(port),
        GOMODEL_MASTER_KEY: "bench",
        GOMODEL_OFFLINE: "true",
        OPENAI_API_KEY: "bench",
        OPENAI_BASE_URL: `http://127.0.0.1:${providerPort}/v1`,
        OPENAI_MODELS: "auto",
        CONFIGURED_PROVIDER_MODELS_MODE: "allowlist",
        BODY_SIZE_LIMIT: "32M",
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
      // Newer versions refuse to start without a key that they find strong.
      env: () => ({ LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY: "true" }),
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

const BIFROST_MODEL = {
  ...{ provider: "openai", mode: "chat", base_model: "auto" },
  ...{ input_cost_per_token: 1e-6, output_cost_per_token: 1e-6 },
};

/** With its request log on, as ours is. */
function bifrostConfig(providerPort: number): object {
  const keys = [{ name: "bench", value: "bench", models: ["*"], weight: 1 }];
  return {
    client: { enable_logging: true, drop_excess_requests: false },
    providers: { openai: { keys, network_config: { base_url: `http://127.0.0.1:${providerPort}` } } },
    config_store: { enabled: false },
    framework: { pricing: { pricing_url: "file://./prices.json", model_parameters_url: "file://./parameters.json" } },
    logs_store: { enabled: true, type: "sqlite", config: { path: "logs.db" } },
  };
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
