// Filters of the log, each with what it means for a record: for the stores and for single lines alike.

import type { RequestFilter } from "../../../src/core/requests/log.ts";
import { type AnsweredAt, isAdjusted, isFailed, type RequestRecord } from "../../../src/core/requests/records.ts";

export type FilterCase = readonly [string, Omit<RequestFilter, "accountId">, (record: RequestRecord) => boolean];

const charge = ({ cost }: RequestRecord): bigint => cost?.charge ?? -1n;

/** By the try that answered, told in other words than the code has. */
const answered =
  (...wanted: readonly AnsweredAt[]) =>
  ({ attempts, answeredBy, status }: RequestRecord): boolean => {
    const failures = attempts.filter(({ outcome }) => outcome === "failed").length;
    if (answeredBy === null) return status === 503 && failures > 0 && wanted.includes("none");
    return wanted.includes((["first", "second"] as const)[failures] ?? "later");
  };
const failedBy =
  (provider: string) =>
  (record: RequestRecord): boolean =>
    record.attempts.some((each) => each.outcome === "failed" && each.provider === provider);

const tokens = ({ cost }: RequestRecord): number =>
  Object.values(cost?.buckets ?? {}).reduce((sum: number, count: number) => sum + count, 0);
const latency = ({ latencyMs }: RequestRecord): number => latencyMs;

export const FILTER_CASES: readonly FilterCase[] = [
  ["a long latency", { latency: { from: 1_500 } }, (record) => latency(record) >= 1_500],
  ["a latency between", { latency: { from: 70, to: 700 } }, (record) => latency(record) >= 70 && latency(record) < 700],
  ["many tokens", { tokens: { from: 35 } }, (record) => tokens(record) >= 35],
  ["no tokens", { tokens: { to: 1 } }, (record) => tokens(record) === 0],
  ["a user", { user: "user-1" }, ({ user }) => user === "user-1"],
  ["no user", { user: null }, ({ user }) => user === null],
  ["a session", { session: "session-3" }, ({ session }) => session === "session-3"],
  ["no session", { session: null }, ({ session }) => session === null],
  ["a tag", { tag: { name: "team", value: "team 2" } }, ({ tags }) => tags.team === "team 2"],
  ["a tag with any value", { tag: { name: "team", value: null } }, ({ tags }) => tags.team !== undefined],
  ["the first try", { answeredAt: ["first"] }, answered("first")],
  ["the second attempt", { answeredAt: ["second"] }, answered("second")],
  ["a later try", { answeredAt: ["later"] }, answered("later")],
  ["no try", { answeredAt: ["none"] }, answered("none")],
  ["any but the first try", { answeredAt: ["second", "later", "none"] }, answered("second", "later", "none")],
  ["the first try or none", { answeredAt: ["first", "none"] }, answered("first", "none")],
  ["the first try or a later one", { answeredAt: ["first", "later"] }, answered("first", "later")],
  ["a provider that failed", { failedProvider: "lab" }, failedBy("lab")],
  ["a provider that failed, by its exact name", { failedProvider: "Lab" }, failedBy("Lab")],
  ["a provider", { provider: "mill" }, ({ answeredBy }) => answeredBy?.provider === "mill"],
  ["no provider", { provider: null }, ({ answeredBy }) => answeredBy === null],
  ["a saved profile", { profileId: "profile_2" }, ({ profileId }) => profileId === "profile_2"],
  ["a team", { teamId: "team_2" }, ({ teamId }) => teamId === "team_2"],
  ["no team", { teamId: null }, ({ teamId }) => teamId === null],
  ["a member", { memberId: "user_1" }, ({ memberId }) => memberId === "user_1"],
  ["no saved profile", { profileId: null }, ({ profileId }) => profileId === null],
  ["a routing profile", { profile: "tier" }, ({ decision }) => decision?.profile === "tier"],
  ["no routing profile", { profile: null }, ({ decision }) => decision === null],
  ["adjusted", { isAdjusted: true }, isAdjusted],
  ["not adjusted", { isAdjusted: false }, (record) => !isAdjusted(record)],
  ["a cost on steps", { cost: { from: 1_000n, to: 100_000n } }, (r) => charge(r) >= 1_000n && charge(r) < 100_000n],
  ["a cost off steps", { cost: { from: 50n, to: 30_000n } }, (r) => charge(r) >= 50n && charge(r) < 30_000n],
  ["a cost within one step", { cost: { from: 2_000n, to: 3_000n } }, (r) => charge(r) >= 2_000n && charge(r) < 3_000n],
  ["any cost", { cost: {} }, (r) => charge(r) >= 0n],
  ["a tier", { tier: "NANO" }, ({ decision }) => decision?.tier === "NANO"],
  ["a category", { category: "math" }, ({ decision }) => decision?.category === "math"],
  ["errors", { status: { kind: "error" } }, isFailed],
  ["several statuses", { status: { kind: "exact", statuses: [402, 503] } }, ({ status }) => status !== 200],
  ["broken streams", { status: { kind: "broken" } }, (record) => isFailed(record) && record.status === 200],
  ["a class", { status: { kind: "class", hundreds: 5 } }, ({ status }) => status >= 500],
  ["fallbacks", { isFallback: true }, ({ isFallback }) => isFallback],
  ["the beginning of ids", { requestIdStart: "req_" }, () => true],
];
