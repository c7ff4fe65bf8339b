// The servers that are measured beside ours when they are wanted: gateways with several workers, another version, and
// peers that are installed. A peer that is not there is left out with a line that says so.

import { existsSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { freePort } from "./command.ts";
import { type GatewaySurroundings, type OtherServer, started, startGateway, startWorkers } from "./gateway.ts";

export interface OthersWanted {
  /** Workers of each gateway. */
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

export async function startOthers({ workers, before, peersIn }: OthersWanted, around: Surroundings): Promise<void> {
  const { providerPort, newFolder, others } = around;
  for (const count of workers) others.push(await startWorkers(count, around));
  if (before !== null) others.push(await startGateway({ name: "before", checkout: before }, around));
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

interface Place {
  readonly port: number;
  readonly providerPort: number;
}

interface Peer {
  /** Finds the program's file; null when there is none. */
  find(folders: readonly string[]): string | null;
  readonly missing: string;
  /** Program that runs the file, where the file does not run by itself. */
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
