// Records on their way into the store. Each waits as few flat values, because a garbage collector copies whatever waits.

import type { RequestSummary } from "./log.ts";
import {
  failedProvidersOf,
  isAdjusted,
  isFailed,
  isFallenBack,
  type NewContent,
  type RequestRecord,
  type ToolCallCheck,
} from "./records.ts";

/** What is written of a record. It shares no object with the request that it was made of, but for its content. */
export interface WaitingRecord {
  readonly accountId: string;
  readonly summary: RequestSummary;
  /** As JSON in UTF-8: bytes lie outside the heap. */
  readonly detail: Uint8Array;
  readonly overheadMs: number | null;
  readonly toolCalls: ToolCallCheck | null;
  readonly content: NewContent | null;
}

export interface RecordStore {
  /** To be called soon after the request is over. */
  flatten(record: RequestRecord): WaitingRecord;
  /** All or nothing. A batch that was written before, though its answer was lost, is `UniqueViolation`. */
  write(records: readonly WaitingRecord[]): Promise<void>;
  /** Deletes the oldest records from before that time, at most so many; returns how many. */
  deleteBefore(atMs: number, most: number): Promise<number>;
}

/** The row of the log that the record becomes. */
export function summaryOf(record: RequestRecord): RequestSummary {
  const { decision, answeredBy, cost } = record;
  return {
    id: record.id,
    requestId: record.requestId,
    keyId: record.keyId,
    atMs: record.atMs,
    route: record.route,
    status: record.status,
    errorCode: record.errorCode,
    isError: isFailed(record),
    isStream: record.isStream,
    tier: decision?.tier ?? null,
    classifiedTier: decision?.classifiedTier ?? null,
    category: decision?.category ?? null,
    profile: decision?.profile ?? null,
    profileId: record.profileId,
    toolScenario: decision?.toolScenario ?? null,
    model: answeredBy?.model ?? null,
    provider: answeredBy?.provider ?? null,
    isFallback: isFallenBack(record),
    isAdjusted: isAdjusted(record),
    attempts: record.attempts.length,
    failedProviders: failedProvidersOf(record),
    buckets: cost?.buckets ?? null,
    isEstimated: cost?.isEstimated ?? false,
    charge: cost?.charge ?? null,
    baseline: cost?.baseline ?? null,
    latencyMs: record.latencyMs,
    firstContentMs: record.firstContentMs,
    ending: record.ending,
    session: record.session,
    sessionState: record.sessionState,
    user: record.user,
    tags: record.tags,
    preview: record.content?.preview ?? null,
  };
}
