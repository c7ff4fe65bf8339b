// API keys as /api shows them: their schemas, and records with spend and usage written to JSON.

import { Type } from "typebox";
import { keyStatus } from "../../accounts/keys.ts";
import type { Spent } from "../../accounts/spending.ts";
import { baselineNamed } from "../../catalog/catalog.ts";
import { KEY_STATUSES, type KeyRecord, SPEND_RESETS } from "../../core/keys.ts";
import { formatUsd } from "../../core/money.ts";
import { shownName } from "../../core/names.ts";
import type { KeyDay } from "../../core/requests/log.ts";
import type { OperatorContext } from "../context.ts";
import { RequiresSchema } from "../openapi/controls.ts";
import { AnyText, baselineFields, Integer, listed, named, nullable, type Shape, Time } from "../openapi/schema.ts";
import { isoTime } from "./exchange.ts";

/** One text for the request and the response. */
export const RESETS = "When the limit resets: never, or at 00:00 UTC daily, on Mondays, or on the first of the month.";

/** A key as it is shown. Its text is not among the fields: only its hash is stored. */
export const keyFields = {
  id: AnyText,
  name: AnyText,
  // The first characters, for people to recognise the key by.
  prefix: AnyText,
  status: listed(KEY_STATUSES),
  // The id of the saved profile that is applied to its requests.
  profile: nullable(AnyText),
  team: nullable(Type.String({ description: "The id of its team." })),
  member: nullable(
    Type.String({ description: "The id of the user that it belongs to; null for the key of a service." }),
  ),
  requires: nullable(RequiresSchema),
  // The key's own limit; null where the limit of the server applies.
  requestsPerMinute: nullable(Integer),
  spendLimitUsd: nullable(AnyText),
  spendReset: listed(SPEND_RESETS, { description: RESETS }),
  spentUsd: nullable(Type.String({ description: "Of the limit, since it was last reset; null without one." })),
  // The time from which spend counts; null counts everything since the key has a limit.
  spentSince: nullable(Time),
  spendResetsAt: nullable(Time),
  expiresAt: nullable(Time),
  revokedAt: nullable(Time),
  // Kept in memory first; another process sees it up to a minute later.
  lastUsedAt: nullable(Time),
  createdAt: Time,
};
export const KeySchema = named("Key", keyFields);

/** The time that the usage of a key is shown over. */
const USAGE_MS = 30 * 24 * 60 * 60 * 1000;
const DAY_MS = 24 * 60 * 60 * 1000;

/** A key in a list or on its own page, with what it did lately. */
export const ListedKeySchema = named("ListedKey", {
  ...keyFields,
  profileName: nullable(Type.String({ description: "Null without a profile, and where it was deleted." })),
  teamName: nullable(AnyText),
  last30Days: Type.Object({
    from: Time,
    requests: Integer,
    errors: Integer,
    chargeUsd: AnyText,
    savedUsd: AnyText,
    ...baselineFields,
    // One value for each day from `from` to today, in UTC.
    requestsPerDay: Type.Array(Integer),
    chargeUsdPerDay: Type.Array(AnyText),
  }),
});
/** The beginning of the first of 30 days. */
export function usageFrom(nowMs: number): number {
  return Math.floor((nowMs - USAGE_MS) / DAY_MS) * DAY_MS;
}

/** Keys with their profile's name and their usage. */
export async function showListed(
  accountId: string,
  keys: readonly KeyRecord[],
  edge: OperatorContext,
): Promise<readonly Shape<typeof ListedKeySchema>[]> {
  const fromMs = usageFrom(edge.now());
  const ids = keys.map(({ id }) => id);
  const [shown, days] = await Promise.all([showKeys(keys, edge), edge.records.usage.ofKeys(accountId, ids, fromMs)]);
  return shown.map((key) => ({
    ...key,
    profileName: key.profile === null ? null : edge.profiles.nameOf(accountId, key.profile),
    teamName: key.team === null ? null : edge.teams.nameOf(accountId, key.team),
    last30Days: writeDays(days.get(key.id) ?? [], fromMs, edge),
  }));
}

/** A day without requests is a day of zero. */
function writeDays(
  days: readonly KeyDay[],
  fromMs: number,
  { now, services }: Pick<OperatorContext, "now" | "services">,
): Shape<typeof ListedKeySchema>["last30Days"] {
  const byStart = new Map(days.map((day) => [day.startMs, day]));
  const starts = Array.from({ length: Math.floor((now() - fromMs) / DAY_MS) + 1 }, (_, day) => fromMs + day * DAY_MS);
  const charge = days.reduce((sum, day) => sum + day.charge, 0n);
  const baseline = days.reduce((sum, day) => sum + day.baseline, 0n);
  return {
    from: isoTime(fromMs),
    requests: days.reduce((sum, day) => sum + day.requests, 0),
    errors: days.reduce((sum, day) => sum + day.errors, 0),
    chargeUsd: formatUsd(charge),
    savedUsd: formatUsd(baseline - charge),
    ...baselineNamed(services().catalog),
    requestsPerDay: starts.map((start) => byStart.get(start)?.requests ?? 0),
    chargeUsdPerDay: starts.map((start) => formatUsd(byStart.get(start)?.charge ?? 0n)),
  };
}

/** Keys as they are shown, each with what it has spent. */
export async function showKeys(
  keys: readonly KeyRecord[],
  { spending, now }: Pick<OperatorContext, "spending" | "now">,
): Promise<readonly Shape<typeof KeySchema>[]> {
  const spents = await spending.of(keys);
  return keys.map((key) => writeKey(key, spents.get(key.id) ?? null, now()));
}

/** One key with what it has spent. */
export async function showKey(key: KeyRecord, { spending, now }: OperatorContext): Promise<Shape<typeof KeySchema>> {
  return writeKey(key, (await spending.of([key])).get(key.id) ?? null, now());
}

/** Also written by the command line, which prints the same JSON. */
export function writeKey(key: KeyRecord, spent: Spent | null, nowMs: number): Shape<typeof KeySchema> {
  return {
    id: key.id,
    name: shownName(key.name),
    prefix: key.prefix,
    status: keyStatus(key, nowMs),
    profile: key.profileId,
    team: key.teamId,
    member: key.memberId,
    requires: key.requires,
    requestsPerMinute: key.requestsPerMinute,
    spendLimitUsd: key.spendLimitNano === null ? null : formatUsd(key.spendLimitNano),
    spendReset: key.spendReset,
    spentUsd: spent === null ? null : formatUsd(spent.spent),
    spentSince: isoTime(spent?.sinceMs ?? null),
    spendResetsAt: isoTime(spent?.resetsAtMs ?? null),
    expiresAt: isoTime(key.expiresAtMs),
    revokedAt: isoTime(key.revokedAtMs),
    lastUsedAt: isoTime(key.lastUsedAtMs),
    createdAt: isoTime(key.createdAtMs),
  };
}
