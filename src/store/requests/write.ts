// Writes request records in one transaction: rows of the log with their details, and the totals.

import type { Db, SqlValue, Statement } from "../../core/db.ts";
import { summaryOf } from "../../core/requests/fields.ts";
import { type NewContent, NO_TAGS, recordIdAt } from "../../core/requests/records.ts";
import type { RecordBatch, RecordStore, WaitingRecord, WrittenRecord } from "../../core/requests/waiting.ts";
import {
  type BulkInsert,
  bulkInsert,
  encodedText,
  flag,
  freeText,
  type InsertShape,
  text,
  withoutNul,
} from "../dialect.ts";
import { freePacked } from "../sqlite/packed-rows.ts";
import { REQUESTS, readDetail, toDetail, toSummary } from "./stored-record.ts";
import { addToTotals, createTotalsWriter, newTotals, SPAN_MS, type Totals } from "./totals.ts";
import { createWordsWriter, wordsDeletion } from "./words.ts";

export function createRecordStore(db: Db): RecordStore<PackedBatch> {
  const inserts = {
    requests: bulkInsert(db.kind, REQUESTS),
    details: bulkInsert(db.kind, DETAILS),
    tags: bulkInsert(db.kind, TAGS),
  };
  const contents = bulkInsert(db.kind, CONTENTS);
  const words = createWordsWriter(db.kind);
  const totals = createTotalsWriter(db.kind);
  return {
    flatten: (record) => ({
      accountId: record.accountId,
      summary: summaryOf(record),
      detail: Buffer.from(JSON.stringify(toDetail(record))),
      toolCalls: record.toolCalls,
      content: record.content,
    }),
    newBatch: () => newBatch(inserts),
    async write(batch) {
      const kept = batch.contents;
      const statements: Statement[] = [
        ...batch.statements,
        ...(kept.length === 0 ? [] : [await contents.statementInSlices(kept), ...(await words(kept))]),
        ...totals(batch.totals),
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
        // With the last requests before that time, also deletes the counters of days that ended before it.
        ...(oldest.length < most ? [{ sql: DELETE_COUNTS, params: [atMs - SPAN_MS.day] }] : []),
      ]);
      return oldest.length;
    },
  };
}

interface PackedBatch extends RecordBatch {
  readonly contents: readonly KeptContent[];
  readonly statements: readonly Statement[];
  readonly totals: Totals;
}

interface RecordInserts {
  readonly requests: BulkInsert<WaitingRecord>;
  readonly details: BulkInsert<WaitingRecord>;
  readonly tags: BulkInsert<KeptTag>;
}

type BatchPart = Pick<RecordBatch, "records" | "written">;

function newBatch({ requests, details, tags }: RecordInserts): PackedBatch {
  const contents: KeptContent[] = [];
  const statements: Statement[] = [];
  const totals = newTotals();
  const parts: BatchPart[] = [];
  let count = 0;
  return {
    contents,
    statements,
    totals,
    get count() {
      return count;
    },
    add(records) {
      const tagged = records.flatMap(tagsOf);
      const kept = records.flatMap(contentOf);
      const [rows, detailRows] = [requests.pack(records), details.pack(records)];
      const tagRows = tagged.length === 0 ? [] : [tags.statement(tagged)];
      statements.push(rows.statement, detailRows.statement, ...tagRows);
      contents.push(...kept);
      for (const record of records) addToTotals(totals, record);
      parts.push({
        written: () => rows.rows().map(readWritten),
        records: () => readRecords(rows.rows().map(readWritten), detailRows.rows(), kept),
      });
      count += records.length;
    },
    records: () => parts.flatMap((part) => part.records()),
    written: () => parts.flatMap((part) => part.written()),
    free: () => freePacked(statements),
  };
}

/** Deletes counters of days before a time. Seeks the index once per account instead of scanning the table. */
const DELETE_COUNTS = `DELETE FROM request_counts
  WHERE account_id IN (SELECT DISTINCT account_id FROM request_key_days) AND span IN ('hour', 'day') AND start_at < $1`;

const DETAILS: InsertShape<WaitingRecord> = {
  table: "request_details",
  columns: {
    id: text(({ summary }) => summary.id),
    detail_json: encodedText(({ detail }) => detail),
  },
};

const REQUEST_COLUMNS = Object.keys(REQUESTS.columns);

type ReadRows = readonly (readonly SqlValue[])[];

function readWritten(values: readonly SqlValue[]): WrittenRecord {
  const row = Object.fromEntries(REQUEST_COLUMNS.map((column, at) => [column, values[at] ?? null]));
  return { accountId: String(row.account_id), summary: toSummary(row) };
}

/** Reads records back from the rows of the log and their content. */
function readRecords(
  written: readonly WrittenRecord[],
  detailRows: ReadRows,
  kept: readonly KeptContent[],
): readonly WaitingRecord[] {
  const contents = new Map(kept.map(({ id, atMs, ...content }) => [id, content]));
  return written.map(({ accountId, summary }, index) => {
    const detail = String(detailRows[index]?.[1]);
    const { toolCalls } = readDetail(detail, summary);
    return {
      accountId,
      summary,
      detail: Buffer.from(detail),
      toolCalls,
      content: contents.get(summary.id) ?? null,
    };
  });
}

/** Prompt and response of a request, if the operator keeps them. */
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

const NO_CONTENT: readonly KeptContent[] = [];

function contentOf({ summary, content }: WaitingRecord): readonly KeptContent[] {
  return content === null ? NO_CONTENT : [{ id: summary.id, atMs: summary.atMs, ...content }];
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

const NO_TAG: readonly KeptTag[] = [];

function tagsOf({ accountId, summary }: WaitingRecord): readonly KeptTag[] {
  const { id, tags } = summary;
  if (tags === NO_TAGS) return NO_TAG;
  return Object.entries(tags).map(([name, value]) => ({ id, accountId, name, value }));
}
