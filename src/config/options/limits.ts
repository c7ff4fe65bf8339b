// Options that say how much work the gateway accepts at once. Behaviour 4 names the errors beyond them.

import { headerName, listOf, number } from "../readers.ts";
import { option } from "./option.ts";

const count = number({ min: 1, max: 1_000_000, isWhole: true });

/** Section `limits` of the settings. */
export const LIMIT_OPTIONS = {
  requestsPerMinute: option<number>({
    path: "limits.requestsPerMinute",
    isLive: true,
    env: "SWITCHYARD_REQUESTS_PER_MINUTE",
    default: 600,
    read: count,
    help: "Requests per minute of a key without its own limit.",
  }),
  inFlight: option<number>({
    path: "limits.inFlight",
    isLive: true,
    env: "SWITCHYARD_IN_FLIGHT",
    default: 5_000,
    read: count,
    help: "How many /v1 requests one gateway serves at once; more get 503.",
  }),
  inFlightPerKey: option<number>({
    path: "limits.inFlightPerKey",
    isLive: true,
    env: "SWITCHYARD_IN_FLIGHT_PER_KEY",
    default: 2_500,
    read: count,
    help: "How many requests of one key are served at once by one gateway; more get 429.",
  }),
  queueMs: option<number>({
    path: "limits.queueMs",
    env: "SWITCHYARD_QUEUE_MS",
    default: 500,
    read: number({ min: 1, max: 60_000, isWhole: true }),
    help: "How long a long queue may last without getting shorter; then further requests get 503.",
  }),
  eventLoopDelayMs: option<number>({
    path: "limits.eventLoopDelayMs",
    env: "SWITCHYARD_EVENT_LOOP_DELAY_MS",
    default: 300,
    read: number({ min: 10, max: 60_000, isWhole: true }),
    help: "While the event loop is later than this, new /v1 requests get 503.",
  }),
  memoryPercent: option<number>({
    path: "limits.memoryPercent",
    env: "SWITCHYARD_MEMORY_PERCENT",
    default: 85,
    read: number({ min: 1, max: 100 }),
    help: "While the process uses more than this percentage of its memory, new /v1 requests get 503.",
  }),
  bodyBytes: option<number | null>({
    path: "limits.bodyBytes",
    env: "SWITCHYARD_BODY_BYTES",
    default: null,
    shownDefault: "an eighth of the memory, at most a quarter of the JavaScript heap",
    read: number({ min: 1024 ** 2, max: 1024 ** 4, isWhole: true }),
    help: "How many bytes of request bodies one gateway holds at once; one key may use half of it. More get 503 or 429.",
  }),
  storedBytesPerMinute: option<number>({
    path: "limits.storedBytesPerMinute",
    isLive: true,
    env: "SWITCHYARD_STORED_BYTES_PER_MINUTE",
    default: 128 * 1024 ** 2,
    read: number({ min: 1024, max: 1024 ** 4, isWhole: true }),
    help: "How many bytes of input one key may have stored in a minute, in responses and conversations; more get 429.",
  }),
  connections: option<number>({
    path: "limits.connections",
    env: "SWITCHYARD_CONNECTIONS",
    default: 20_000,
    read: count,
    help: "How many connections one gateway holds; more are closed at once.",
  }),
  endUserHeaders: option<readonly string[]>({
    path: "limits.endUserHeaders",
    isLive: true,
    env: "SWITCHYARD_END_USER_HEADERS",
    default: ["x-openwebui-user-id", "x-openwebui-user-email"],
    shownDefault: "x-openwebui-user-id, x-openwebui-user-email",
    read: listOf(headerName),
    help: "Headers that name the end user of a request, for budgets and the request log. The first that is sent wins over the body.",
  }),
  wrongKeysPerMinute: option<number>({
    path: "limits.wrongKeysPerMinute",
    isLive: true,
    env: "SWITCHYARD_WRONG_KEYS_PER_MINUTE",
    default: 1_000,
    read: count,
    help: "How many wrong API keys one client address may send; further ones get 429 without a lookup.",
  }),
};
