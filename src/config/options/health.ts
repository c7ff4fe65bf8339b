// The settings of routing around failure: when a breaker opens and for how long, and how long a client waits.

import { number } from "../readers.ts";
import { option } from "./option.ts";

const MS_MAX = 86_400_000;

const ms = (min: number) => number({ min, max: MS_MAX, isWhole: true });
const count = number({ min: 1, max: 100_000, isWhole: true });

export const HEALTH_OPTIONS = {
  answerWithinMs: option<number>({
    path: "routing.answerWithinMs",
    env: "SWITCHYARD_ANSWER_WITHIN_MS",
    default: 120_000,
    read: ms(1),
    help: "How long all attempts of a request together may take until an answer begins. A plain answer that is on its way may take longer, but nothing is tried after it.",
  }),
  writeStallMs: option<number>({
    path: "server.writeStallMs",
    env: "SWITCHYARD_WRITE_STALL_MS",
    default: 60_000,
    read: ms(1),
    help: "A client that takes nothing of its answer for this long is cut off, as if it had left.",
  }),
  failuresInRow: option<number>({
    path: "health.failuresInRow",
    env: "SWITCHYARD_HEALTH_FAILURES_IN_ROW",
    default: 5,
    read: count,
    help: "A model rests after this many failures in a row.",
  }),
  failureShare: option<number>({
    path: "health.failureShare",
    env: "SWITCHYARD_HEALTH_FAILURE_SHARE",
    default: 0.5,
    read: number({ min: 0.01, max: 1 }),
    help: "A model also rests when this share of its calls within the window fails.",
  }),
  failureCallsMin: option<number>({
    path: "health.callsMin",
    env: "SWITCHYARD_HEALTH_CALLS_MIN",
    default: 10,
    read: count,
    help: "The share counts from this many calls within the window on.",
  }),
  healthWindowMs: option<number>({
    path: "health.windowMs",
    env: "SWITCHYARD_HEALTH_WINDOW_MS",
    default: 30_000,
    read: ms(100),
    help: "The window for that share.",
  }),
  healthOpenMs: option<number>({
    path: "health.openMs",
    env: "SWITCHYARD_HEALTH_OPEN_MS",
    default: 5_000,
    read: ms(1),
    help: "How long a model first rests, give or take a fifth; doubled each time the probe after it fails.",
  }),
  healthOpenMsMax: option<number>({
    path: "health.openMsMax",
    env: "SWITCHYARD_HEALTH_OPEN_MS_MAX",
    default: 60_000,
    read: ms(1),
    help: "The longest such rest.",
  }),
};
