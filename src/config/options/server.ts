// Options of the HTTP server: where it listens, how it stops, and how long clients may take.

import { isIP } from "node:net";
import {
  adminToken,
  corsOrigin,
  hostName,
  listOf,
  number,
  publicUrl,
  text,
  truth,
  type WorkerCount,
  workerCount,
} from "../readers.ts";
import { option } from "./option.ts";

/** The lame-duck time where several processes share a database, and one can take over from another. */
export const LAME_DUCK_SECONDS = 5;

/** Large enough for a few images in base64; every byte of it is held in memory while it is read. */
const BODY_LIMIT_BYTES = 32 * 1024 * 1024;
const UPLOAD_LIMIT_BYTES = 256 * 1024 * 1024;
const DAY_MS = 86_400_000;

/** No wait of a server is longer than a day. */
const milliseconds = number({ min: 1, max: DAY_MS, isWhole: true });

/** Section `server` of the settings. */
export const SERVER_OPTIONS = {
  host: option<string>({
    path: "server.host",
    env: "HOST",
    flag: "host",
    default: "127.0.0.1",
    read: text({ test: (value) => !/[\s/]/.test(value), expected: "a host name or address" }),
    help: "The address to listen on; 0.0.0.0 opens the gateway to the network.",
  }),
  port: option<number>({
    path: "server.port",
    env: "PORT",
    flag: "port",
    default: 8787,
    read: number({ min: 0, max: 65_535, isWhole: true }),
    help: "The port to listen on; 0 takes any free one.",
  }),
  workers: option<WorkerCount | null>({
    path: "server.workers",
    env: "SWITCHYARD_WORKERS",
    flag: "workers",
    default: null,
    shownDefault: "auto; 1 on PostgreSQL, where several gateways may share a machine",
    read: workerCount,
    help: "How many processes serve requests on the port; 2-8 starts two, and up to eight under load. With 4 cores or more, auto starts one, and up to one per core under load, as far as half of the memory allows.",
  }),
  isReadOnly: option<boolean>({
    path: "server.readOnly",
    env: "SWITCHYARD_READ_ONLY",
    flag: "read-only",
    default: false,
    read: truth,
    help: "Whether the dashboard and /api refuse every change.",
  }),
  publicUrl: option<string | null>({
    path: "server.publicUrl",
    env: "SWITCHYARD_PUBLIC_URL",
    default: null,
    shownDefault: "none: links begin with the address of the request",
    read: publicUrl,
    help: "The address at which people open the dashboard, such as https://llm.example.com. Links begin with it, and its host is allowed.",
  }),
  allowedHosts: option<readonly string[]>({
    path: "server.allowedHosts",
    env: "SWITCHYARD_ALLOWED_HOSTS",
    default: [],
    shownDefault: "none besides localhost, IP addresses, server.host and the host of server.publicUrl",
    read: listOf(hostName),
    help: "Further host names under which the dashboard, /api and /docs are served; * allows every name. Comma-separated in the variable.",
  }),
  isLocalDiscovered: option<boolean>({
    path: "server.discoverLocal",
    env: "SWITCHYARD_DISCOVER_LOCAL",
    default: true,
    read: truth,
    help: "Whether a start looks for Ollama, LM Studio, llama.cpp and vLLM at their usual ports on this machine.",
  }),
  isWarmedUp: option<boolean>({
    path: "server.warmUp",
    env: "SWITCHYARD_WARM_UP",
    default: true,
    read: truth,
    help: "Whether each process asks itself canned requests before it serves, which takes up to 0.3 s. Without them it starts sooner, and its first requests take longer.",
  }),
  adminToken: option<string | null>({
    path: "server.adminToken",
    env: "SWITCHYARD_ADMIN_TOKEN",
    default: null,
    shownDefault: "none: the admin API takes dashboard sessions only",
    isSecret: true,
    read: adminToken,
    help: "The bearer token for /api and /metrics.",
  }),
  corsOrigins: option<readonly string[]>({
    path: "server.corsOrigins",
    env: "SWITCHYARD_CORS_ORIGINS",
    default: [],
    shownDefault: "none: browsers of other origins are refused",
    read: listOf(corsOrigin),
    help: "Origins whose pages may call the gateway from a browser, comma-separated in the variable.",
  }),
  lameDuckSeconds: option<number | null>({
    path: "server.lameDuckSeconds",
    env: "SWITCHYARD_LAME_DUCK_SECONDS",
    default: null,
    shownDefault: `${LAME_DUCK_SECONDS}; 0 on SQLite, where no other process could take over`,
    read: number({ min: 0, max: 600, isWhole: true }),
    help: "How long requests are still accepted after SIGTERM, while /readyz is already 503, so that a load balancer notices.",
  }),
  drainSeconds: option<number>({
    path: "server.drainSeconds",
    env: "SWITCHYARD_DRAIN_SECONDS",
    default: 600,
    read: number({ min: 0, max: 3600, isWhole: true }),
    help: "How long open streams may run after that. Those that still run end with an error and cost nothing.",
  }),
  bodyLimitBytes: option<number>({
    path: "server.bodyLimitBytes",
    env: "SWITCHYARD_BODY_LIMIT_BYTES",
    default: BODY_LIMIT_BYTES,
    shownDefault: `${BODY_LIMIT_BYTES} (32 MB)`,
    read: number({ min: 1024, max: 1024 ** 3, isWhole: true }),
    help: "The largest request body that is accepted.",
  }),
  uploadLimitBytes: option<number>({
    path: "server.uploadLimitBytes",
    env: "SWITCHYARD_UPLOAD_LIMIT_BYTES",
    default: UPLOAD_LIMIT_BYTES,
    shownDefault: `${UPLOAD_LIMIT_BYTES} (256 MB)`,
    read: number({ min: 1024, max: 64 * 1024 ** 3, isWhole: true }),
    help: "The largest form with files that is accepted. Files lie in the folder for temporary files, at most four times this at once.",
  }),
  headersTimeoutMs: option<number>({
    path: "server.headersTimeoutMs",
    env: "SWITCHYARD_HEADERS_TIMEOUT_MS",
    default: 15_000,
    read: milliseconds,
    help: "How long a client may take to send its headers, or to send anything at all on a new connection.",
  }),
  bodyGraceMs: option<number>({
    path: "server.bodyGraceMs",
    env: "SWITCHYARD_BODY_GRACE_MS",
    default: 10_000,
    read: milliseconds,
    help: "How long a body may arrive more slowly than 1 KB per second.",
  }),
  requestTimeoutMs: option<number>({
    path: "server.requestTimeoutMs",
    env: "SWITCHYARD_REQUEST_TIMEOUT_MS",
    default: 300_000,
    read: milliseconds,
    help: "How long a whole request may take to arrive. It does not limit the response.",
  }),
  keepAliveMs: option<number>({
    path: "server.keepAliveMs",
    env: "SWITCHYARD_KEEP_ALIVE_MS",
    default: 75_000,
    read: milliseconds,
    help: "How long an idle connection is kept open; must be longer than in the load balancer.",
  }),
  trustedProxies: option<readonly string[]>({
    path: "server.trustedProxies",
    env: "SWITCHYARD_TRUSTED_PROXIES",
    default: [],
    shownDefault: "none: the address of the connection is the client's",
    read: listOf(text({ test: isNetwork, expected: "an address or a network such as 10.0.0.0/8" })),
    help: "Proxies whose X-Forwarded-For is trusted: addresses and networks, comma-separated in the variable.",
  }),
  writeStallMs: option<number>({
    path: "server.writeStallMs",
    env: "SWITCHYARD_WRITE_STALL_MS",
    default: 60_000,
    read: milliseconds,
    help: "A client that reads nothing for this long is disconnected.",
  }),
  socketAgeMs: option<number>({
    path: "server.socketAgeMs",
    env: "SWITCHYARD_SOCKET_AGE_MS",
    default: 3_600_000,
    read: milliseconds,
    help: "How long a WebSocket connection may be open. Its client is told to open a new one.",
  }),
  socketIdleMs: option<number>({
    path: "server.socketIdleMs",
    env: "SWITCHYARD_SOCKET_IDLE_MS",
    default: 900_000,
    read: milliseconds,
    help: "How long a WebSocket connection may be idle.",
  }),
};

/** An address, or one with the length of its network prefix. */
function isNetwork(value: string): boolean {
  const [address = "", bits, ...rest] = value.split("/");
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
}
