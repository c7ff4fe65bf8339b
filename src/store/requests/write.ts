// Writes request records: rows of the log with their details, and what they add to the totals, in one transaction.

import type { Db, Statement } from "../../core/db.ts";
import {
  failedProvidersOf,
  isAdjusted,
  isFailed,
  isFallenBack,
  type NewContent,
  NO_TAGS,
  type RecordStore,
  type RequestRecord,
  recordIdAt,
  tokensOf,
} from "../../core/requests/records.ts";
import { bulkInsert, flag, freeText, type InsertShape, integer, text, withoutNul } from "../dialect.ts";
import { toDetail } from "./detail.ts";
import { createTotalsWriter, SPAN_MS } from "./totals.ts";
import { createWordsWriter, wordsDeletion } from "./write-words.ts";

export function createRecordStore(db: Db): RecordStore {
  const requests = bulkInsert(db.kind, REQUESTS);
  const details = bulkInsert(db.kind, DETAILS);
  const contents = bulkInsert(db.kind, CONTENTS);
  const words = createWordsWriter(db.kind);
  const tags = bulkInsert(db.kind, TAGS);
  const totals = createTotalsWriter(db.kind);
  return {
    async write(records) {
      const kept = records.flatMap(contentOf);
      const tagged = records.flatMap(tagsOf);
      // Side by side, so that they need half as many turns of a busy event loop.
      const rows = [requests.statementInSlices(records), details.statementInSlices(records)];
      const statements: Statement[] = [
        ...(await Promise.all(rows)),
        ...(kept.length === 0 ? [] : [await contents.statementInSlices(kept), ...(await words(kept))]),
        ...(tagged.length === 0 ? [] : [await tags.statementInSlices(tagged)]),
        ...totals(records),
      ];
      await db.batch(statements, { isBackground: true });
    },
    async deleteBefore(atMs, most) {
      const oldest = await db.query("SELECT id FROM requests WHERE id < $1 ORDER BY id LIMIT $2", [
        recordIdAt(atMs),
        most,
      ]);
      const last = oldest.at(-1)?.id ?? "";
      const tables =
        oldest.length === 0
          ? []
          : ["requests", "request_details", "request_contents", "request_tags", "shadow_samples"];
      await db.batch([
        ...(oldest.length === 0 ? [] : wordsDeletion(db.kind, String(last))),
        ...tables.map((table) => ({ sql: `DELETE FROM ${table} WHERE id <= $1`, params: [last] })),
        // With the last of them: a day that was over before that time has no requests left.
        ...(oldest.length < most ? [{ sql: DELETE_COUNTS, params: [atMs - SPAN_MS.day] }] : []),
      ]);
      return oldest.length;
    },
  };
}

/** For counters whose whole day is over before that time. One index seek per account instead of a table scan. */
const DELETE_COUNTS = `DELETE FROM request_counts
  WHERE account_id IN (SELECT DISTINCT account_id FROM request_key_days) AND span IN ('hour', 'day') AND start_at < $1`;

/** The rows of the log. Text that is missing is stored as the empty text, so that filters need no IS NULL. */
const REQUESTS: InsertShape<RequestRecord> = {
  table: "requests",
  columns: {
    id: text((record) => record.id),
    request_id: text((record) => record.requestId),
    account_id: text((record) => record.accountId),
    key_id: text((record) => record.keyId),
    route: text((record) => record.route),
    error_code: text((record) => record.errorCode ?? ""),
    tier: text(({ decision }) => decision?.tier ?? ""),
    classified_tier: text(({ decision }) => decision?.classifiedTier ?? ""),
    category: text(({ decision }) => decision?.category ?? ""),
    profile: text(({ decision }) => decision?.profile ?? ""),
    tool_scenario: text(({ decision }) => decision?.toolScenario ?? ""),
    model: text(({ answeredBy }) => answeredBy?.model ?? ""),
    provider: text(({ answeredBy }) => answeredBy?.provider ?? ""),
    ending: text((record) => record.ending ?? ""),
    profile_id: text((record) => record.profileId ?? ""),
    failed_providers: text(writeProviders),
    created_at: integer((record) => record.atMs),
    status: integer((record) => record.status),
    is_error: flag(isFailed),
    is_stream: flag((record) => record.isStream),
    is_fallback: flag(isFallenBack),
    attempts: integer((record) => record.attempts.length),
    input_tokens: integer(({ cost }) => cost?.buckets.input ?? null),
    cache_read_tokens: integer(({ cost }) => cost?.buckets.cacheRead ?? null),
    cache_write_tokens: integer(({ cost }) => cost?.buckets.cacheWrite ?? null),
    output_tokens: integer(({ cost }) => cost?.buckets.output ?? null),
    is_estimated: flag(({ cost }) => cost?.isEstimated ?? false),
    charge: integer(({ cost }) => cost?.charge ?? null),
    baseline: integer(({ cost }) => cost?.baseline ?? null),
    latency_ms: integer((record) => record.latencyMs),
    first_content_ms: integer((record) => record.firstContentMs),
    is_adjusted: flag(isAdjusted),
    session: text((record) => record.session ?? ""),
    session_state: text((record) => record.sessionState ?? ""),
    end_user: freeText((record) => record.user ?? ""),
    preview: freeText(({ content }) => withoutNul(content?.preview ?? "")),
    tokens: integer(({ cost }) => tokensOf(cost?.buckets ?? null)),
    tags: text(({ tags }) => (tags === NO_TAGS ? "" : writeTags(tags))),
  },
};

/** JSON would write half of a surrogate pair as an escape, which SQLite turns into bytes that are no text. */
function writeTags(tags: RequestRecord["tags"]): string {
  const whole = Object.entries(tags).map(([name, value]) => [name.toWellFormed(), value.toWellFormed()]);
  return JSON.stringify(Object.fromEntries(whole));
}

function writeProviders(record: RequestRecord): string {
  const failed = failedProvidersOf(record);
  return failed.length === 0 ? "" : JSON.stringify(failed);
}

const DETAILS: InsertShape<RequestRecord> = {
  table: "request_details",
  columns: {
    id: text((record) => record.id),
    detail_json: text((record) => JSON.stringify(toDetail(record))),
  },
};

/** Prompt and response of a request, where the operator chose to keep them. */
interface KeptContent extends NewContent {
  readonly id: string;
  readonly atMs: number;
}

const CONTENTS: InsertShape<KeptContent> = {
  table: "request_contents",
  columns: {
    id: text((content) => content.id),
    request_text: freeText((content) => withoutNul(content.request)),
    answer_text: freeText((content) => withoutNul(content.answer)),
    is_request_cut: flag((content) => content.isRequestCut),
    is_answer_cut: flag((content) => content.isAnswerCut),
  },
};

function contentOf({ id, atMs, content }: RequestRecord): readonly KeptContent[] {
  return content === null ? [] : [{ id, atMs, ...content }];
}

/** One tag of a request. */
interface KeptTag {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  readonly value: string;
}

const TAGS: InsertShape<KeptTag> = {
  table: "request_tags",
  columns: {
    id: text((tag) => tag.id),
    account_id: text((tag) => tag.accountId),
    name: freeText((tag) => tag.name),
    value: freeText((tag) => tag.value),
  },
};

const NONE: readonly KeptTag[] = [];

function tagsOf({ id, accountId, tags }: RequestRecord): readonly KeptTag[] {
  if (tags === NO_TAGS) return NONE;
  return Object.entries(tags).map(([name, value]) => ({ id, accountId, name, value }));
}
