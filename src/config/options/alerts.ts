// Options of events: from when on something is worth telling somebody.

import { number } from "../readers.ts";
import { option } from "./option.ts";

/** Section `alerts` of the settings. */
export const ALERT_OPTIONS = {
  lowBalance: option<number>({
    path: "alerts.lowBalance",
    env: "SWITCHYARD_ALERTS_LOW_BALANCE",
    default: 1,
    read: number({ min: 0, max: 1_000_000 }),
    help: "A prepaid balance below this many USD is low. 0 is never.",
  }),
  balanceDays: option<number>({
    path: "alerts.balanceDays",
    env: "SWITCHYARD_ALERTS_BALANCE_DAYS",
    default: 3,
    read: number({ min: 0, max: 365 }),
    help: "A prepaid balance that lasts for fewer days, at the pace of the last 24 hours, is about to end. 0 is never.",
  }),
  spikeFactor: option<number>({
    path: "alerts.spikeFactor",
    env: "SWITCHYARD_ALERTS_SPIKE_FACTOR",
    default: 5,
    read: number({ min: 0, max: 1_000 }),
    help: "An hour that costs this many times the hourly average of the last 7 days is a spend spike. 0 is never.",
  }),
  errorPercent: option<number>({
    path: "alerts.errorPercent",
    env: "SWITCHYARD_ALERTS_ERROR_PERCENT",
    default: 10,
    read: number({ min: 0, max: 100 }),
    help: "The percentage of failed requests that is worth an event. 0 is never.",
  }),
  fallbackPercent: option<number>({
    path: "alerts.fallbackPercent",
    env: "SWITCHYARD_ALERTS_FALLBACK_PERCENT",
    default: 25,
    read: number({ min: 0, max: 100 }),
    help: "The percentage of requests answered by a fallback that is worth an event. 0 is never.",
  }),
};
