// The part of the table of settings that says how much the gateway takes on at once, and how long it waits for a client.

import { isIP } from "node:net";
import { listOf, number, text } from "../readers.ts";
import { option } from "./option.ts";

const BODY_LIMIT_BYTES = 32 * 1024 * 1024;
const DAY_MS = 86_400_000;

const count = number({ min: 1, max: 1_000_000, isWhole: true });
const milliseconds = number({ min: 1, max: DAY_MS, isWhole: true });

export const LIMIT_OPTIONS = {
  bodyLimitBytes: option<number>({
    path: "server.bodyLimitBytes",
    env: "SWITCHYARD_BODY_LIMIT_BYTES",
    default: BODY_LIMIT_BYTES,
    shownDefault: `${BODY_LIMIT_BYTES} (32 MB)`,
    read: number({ min: 1024, max: 1024 ** 3, isWhole: true }),
    help: "The largest request body that is accepted.",
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
    help: "How long a body may come in more slowly than 1 KB a second.",
  }),
  requestTimeoutMs: option<number>({
    path: "server.requestTimeoutMs",
    env: "SWITCHYARD_REQUEST_TIMEOUT_MS",
    default: 300_000,
    read: milliseconds,
    help: "How long a whole request may take to come in, at whatever speed. It does not limit the answer.",
  }),
  keepAliveMs: option<number>({
    path: "server.keepAliveMs",
    env: "SWITCHYARD_KEEP_ALIVE_MS",
    default: 75_000,
    read: milliseconds,
    help: "How long a connection is kept open between two requests; longer than a load balancer in front keeps it.",
  }),
  trustedProxies: option<readonly string[]>({
    path: "server.trustedProxies",
    env: "SWITCHYARD_TRUSTED_PROXIES",
    default: [],
    shownDefault: "none: the address of the connection is the client's",
    read: listOf(text({ test: isNetwork, expected: "an address or a network such as 10.0.0.0/8" })),
    help: "Proxies whose X-Forwarded-For is believed: addresses and networks; with commas between them in the variable.",
  }),
  requestsPerMinute: option<number>({
    path: "limits.requestsPerMinute",
    env: "SWITCHYARD_REQUESTS_PER_MINUTE",
    default: 600,
    read: number({ min: 1, max: 1_000_000, isWhole: true }),
    help: "The limit of a key that has none of its own.",
  }),
  inFlight: option<number>({
    path: "limits.inFlight",
    env: "SWITCHYARD_IN_FLIGHT",
    default: 5_000,
    read: count,
    help: "How many /v1 requests one process serves at once; more get 503.",
  }),
  inFlightPerKey: option<number>({
    path: "limits.inFlightPerKey",
    env: "SWITCHYARD_IN_FLIGHT_PER_KEY",
    default: 2_500,
    read: count,
    help: "How many requests of one key are served at once by one process; more get 429.",
  }),
  queueMs: option<number>({
    path: "limits.queueMs",
    env: "SWITCHYARD_QUEUE_MS",
    default: 500,
    read: number({ min: 1, max: 60_000, isWhole: true }),
    help: "How long a long line of requests that wait for the gateway itself may stay as long as it is; then further ones get 503.",
  }),
  eventLoopDelayMs: option<number>({
    path: "limits.eventLoopDelayMs",
    env: "SWITCHYARD_EVENT_LOOP_DELAY_MS",
    default: 300,
    read: number({ min: 10, max: 60_000, isWhole: true }),
    help: "When the process keeps running later than this, new /v1 requests get 503 until it has caught up.",
  }),
  memoryPercent: option<number>({
    path: "limits.memoryPercent",
    env: "SWITCHYARD_MEMORY_PERCENT",
    default: 85,
    read: number({ min: 1, max: 100 }),
    help: "When the process uses more than this share of the memory it may have, new /v1 requests get 503.",
  }),
  connections: option<number>({
    path: "limits.connections",
    env: "SWITCHYARD_CONNECTIONS",
    default: 20_000,
    read: count,
    help: "How many connections one process holds; more are closed at once.",
  }),
  wrongKeysPerMinute: option<number>({
    path: "limits.wrongKeysPerMinute",
    env: "SWITCHYARD_WRONG_KEYS_PER_MINUTE",
    default: 1_000,
    read: count,
    help: "How many wrong API keys one client address may send; further ones get 429 without being looked up.",
  }),
};

function isNetwork(value: string): boolean {
  const [address = "", bits, ...rest] = value.split("/");
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
}
