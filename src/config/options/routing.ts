// Options of routing: the catalogue's defaults, how long an answer may take, and when a circuit breaker opens.

import { DEFAULT_HOST_ORDER, DEFAULT_MARKUP_PPM, DEFAULT_UNSURE_TIER } from "../../catalog/build.ts";
import { ASKED_SERVICE_TIERS, type AskedServiceTier } from "../../core/money.ts";
import { HOST_ORDERS, type HostOrder } from "../../core/requests/controls.ts";
import { TIERS, type Tier } from "../../core/tiers.ts";
import { markupPpm, number, oneOf, text, truth } from "../readers.ts";
import { option } from "./option.ts";

const DAY_MS = 86_400_000;

const msFrom = (min: number) => number({ min, max: DAY_MS, isWhole: true });
const count = number({ min: 1, max: 100_000, isWhole: true });

/** Options of the catalogue, beside the rows of `models:`, `tiers:` and `providers:`. */
export const CATALOG_OPTIONS = {
  baseline: option<string | null>({
    path: "routing.baseline",
    isLive: true,
    env: "SWITCHYARD_BASELINE",
    default: null,
    shownDefault: "gpt-6.1-sol",
    read: text(),
    help: "The model that savings are compared with.",
  }),
  markup: option<number>({
    path: "routing.markup",
    isLive: true,
    env: "SWITCHYARD_MARKUP",
    default: DEFAULT_MARKUP_PPM,
    shownDefault: String(DEFAULT_MARKUP_PPM / 1_000_000),
    read: markupPpm,
    help: "What is charged on top of the provider's price, as a fraction of it: 0.05 is 5%, and 0 adds nothing.",
  }),
  unsureTier: option<Tier>({
    path: "routing.unsureTier",
    isLive: true,
    env: "SWITCHYARD_UNSURE_TIER",
    default: DEFAULT_UNSURE_TIER,
    read: oneOf(TIERS),
    help: "A request with an unsure tier is not placed below this one.",
  }),
  hostOrder: option<HostOrder>({
    path: "routing.hostOrder",
    isLive: true,
    env: "SWITCHYARD_HOST_ORDER",
    default: DEFAULT_HOST_ORDER,
    read: oneOf(HOST_ORDERS),
    help: "In which order the hosts of a model are tried: cheapest, fastest or balanced.",
  }),
  serviceTier: option<AskedServiceTier | null>({
    path: "routing.serviceTier",
    isLive: true,
    env: "SWITCHYARD_SERVICE_TIER",
    default: null,
    shownDefault: "the provider decides",
    read: oneOf(ASKED_SERVICE_TIERS),
    help: "The service tier that hosts with a price for it are asked for, where neither request nor profile name one: default, flex or priority.",
  }),
  catalog: option<"builtin" | "none">({
    path: "catalog.use",
    shortPath: "catalog",
    default: "builtin",
    read: oneOf(["builtin", "none"]),
    help: "builtin uses the built-in models and chains, none only those of the file. `catalog: none` is short for it.",
  }),
};

/** Section `routing` of the settings. */
export const ROUTING_OPTIONS = {
  isRoutingDebugged: option<boolean>({
    path: "routing.debug",
    isLive: true,
    env: "DEBUG_ROUTING",
    flag: "debug-routing",
    default: false,
    read: truth,
    help: "Whether responses carry the X-Service-* headers.",
  }),
  answerWithinMs: option<number>({
    path: "routing.answerWithinMs",
    isLive: true,
    env: "SWITCHYARD_ANSWER_WITHIN_MS",
    default: 120_000,
    read: msFrom(1),
    help: "How long all attempts of a request together may take until an answer begins. A plain answer that is on its way may take longer, but nothing is tried after it.",
  }),
  sessionMinutes: option<number>({
    path: "routing.sessionMinutes",
    isLive: true,
    env: "SWITCHYARD_SESSION_MINUTES",
    default: 240,
    read: number({ min: 0, max: 10_080, isWhole: true }),
    help: "A session that was silent for so long is over. 0 switches sessions off: each request is decided for itself. Help for caches stays on.",
  }),
  marksCaches: option<boolean>({
    path: "routing.cacheBreakpoints",
    isLive: true,
    env: "SWITCHYARD_CACHE_BREAKPOINTS",
    default: true,
    read: truth,
    help: "Whether cache breakpoints are set for models that cache only what is marked, where the client set none and it pays.",
  }),
  sendsCacheKeys: option<boolean>({
    path: "routing.cacheKey",
    isLive: true,
    env: "SWITCHYARD_CACHE_KEY",
    default: true,
    read: truth,
    help: "Whether providers that take prompt_cache_key get a hash of the session, where the client sent none.",
  }),
};

/** Section `health` of the settings: the rules of the circuit breakers. */
export const HEALTH_OPTIONS = {
  failuresInRow: option<number>({
    path: "health.failuresInRow",
    env: "SWITCHYARD_HEALTH_FAILURES_IN_ROW",
    default: 5,
    read: count,
    help: "A breaker opens after this many failures in a row.",
  }),
  failureShare: option<number>({
    path: "health.failureShare",
    env: "SWITCHYARD_HEALTH_FAILURE_SHARE",
    default: 0.5,
    read: number({ min: 0.01, max: 1 }),
    help: "It also opens when this share of the calls within the window fails.",
  }),
  failureCallsMin: option<number>({
    path: "health.callsMin",
    env: "SWITCHYARD_HEALTH_CALLS_MIN",
    default: 10,
    read: count,
    help: "The share counts only from this many calls within the window.",
  }),
  healthWindowMs: option<number>({
    path: "health.windowMs",
    env: "SWITCHYARD_HEALTH_WINDOW_MS",
    default: 30_000,
    read: msFrom(100),
    help: "The window for that share.",
  }),
  healthOpenMs: option<number>({
    path: "health.openMs",
    env: "SWITCHYARD_HEALTH_OPEN_MS",
    default: 5_000,
    read: msFrom(1),
    help: "How long a breaker first stays open, varied by a fifth. Doubled each time the probe fails.",
  }),
  healthOpenMsMax: option<number>({
    path: "health.openMsMax",
    env: "SWITCHYARD_HEALTH_OPEN_MS_MAX",
    default: 60_000,
    read: msFrom(1),
    help: "The longest time a breaker stays open.",
  }),
};
