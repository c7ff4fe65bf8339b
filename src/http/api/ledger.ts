// /api/ledger: the entries of an account, as a list or a file, its months, and the audit.

import type { FastifyRequest } from "fastify";
import { Type } from "typebox";
import { type LedgerLine, type LedgerPeriod, TRANSACTION_KINDS, type TransactionKind } from "../../core/ledger.ts";
import { formatUsd } from "../../core/money.ts";
import { invalid } from "../../formats/json/fields.ts";
import { ownAccountOf } from "../exchange/identity.ts";
import { query, textContent } from "../openapi/operation.ts";
import { AnyText, Flag, Integer, named, nullable, page, type Shape, Texts, Time } from "../openapi/schema.ts";
import * as TEXT from "../text.ts";
import { transactionFields, writeTransaction } from "./credits.ts";
import { accountOf, cursor, cursorOf, isoTime, limit, listPage, oneOf, pageOf, paging, queryOf } from "./exchange.ts";
import { csvRow, fileName, sendFile, textPages } from "./export.ts";
import { type ApiRoute, get, sentAs } from "./route.ts";

/** One entry with both sides of the booking, and the request it charged. */
export const LedgerLineSchema = named("LedgerLine", {
  ...transactionFields,
  // The sides of the entry; their sum is zero.
  entries: Type.Array(Type.Object({ book: AnyText, amountUsd: AnyText })),
  requestId: nullable(AnyText),
  model: nullable(AnyText),
  createdAt: Time,
});

/** Opening plus the four signed sums is closing. */
const sumFields = {
  entries: Integer,
  openingUsd: AnyText,
  topUpsUsd: AnyText,
  chargesUsd: AnyText,
  adjustmentsUsd: AnyText,
  // Zero unless the account was metered: then a grant covers each charge.
  grantsUsd: AnyText,
  closingUsd: AnyText,
};
/** A month in UTC. */
export const LedgerMonthSchema = named("LedgerMonth", {
  month: Type.String({ pattern: "^\\d{4}-\\d{2}$" }),
  ...sumFields,
});
/** A day in UTC. */
export const LedgerDaySchema = named("LedgerDay", {
  day: Type.String({ pattern: "^\\d{4}-\\d{2}-\\d{2}$" }),
  ...sumFields,
});

/** The result of recomputing every balance from the first entry on. */
const LedgerVerdictSchema = named("LedgerVerdict", {
  ok: Flag,
  accounts: Integer,
  transactions: Integer,
  openHolds: Integer,
  auditEntries: Integer,
  problems: Texts,
});

const MONTH = "^\\d{4}-(0[1-9]|1[0-2])$";
const MONTH_PATTERN = new RegExp(MONTH);

/** The parameters that `narrowingOf` reads. */
const narrowing = [
  query("kind", Type.Enum([...TRANSACTION_KINDS])),
  query("month", Type.String({ pattern: MONTH }), "One month (UTC), such as `2026-01`."),
];

export const LEDGER_ROUTES: readonly ApiRoute[] = [
  // `from` and `after` differ: the first includes the entry it names.
  get("listLedger", "/api/ledger", {
    summary: "Ledger entries, newest first",
    access: "readMoney",
    parameters: [...paging, cursor("from", "The id of the entry to begin with."), ...narrowing],
    response: page(LedgerLineSchema),
    async handle({ request }, edge) {
      const accountId = await accountOf(request, edge);
      const wanted = { from: cursorOf(request, "from"), ...narrowingOf(request) };
      const read = async (each: ReturnType<typeof pageOf>) =>
        (await edge.credits.list(accountId, { ...each, ...wanted })).map((line) => ({ id: line.transaction.id, line }));
      const write = lineWriter(request);
      return listPage(pageOf(request), read, ({ line }) => write(line));
    },
  }),
  // Streamed, so that a ledger of any length can be exported.
  get("exportLedger", "/api/ledger/export", {
    summary: "All of it, or all of one kind or month, as CSV; cells that a spreadsheet would run are defused",
    access: "readMoney",
    parameters: [...narrowing, query("format", Type.Enum(["csv"]))],
    response: sentAs(textContent("text/csv")),
    async handle({ request, reply }, edge) {
      const accountId = await accountOf(request, edge);
      const wanted = narrowingOf(request);
      oneOf("format", queryOf(request, "format") ?? "csv", ["csv"]);
      const write = lineWriter(request);
      const pages = textPages((each) => edge.credits.list(accountId, { ...each, ...wanted }), {
        idOf: ({ transaction }) => transaction.id,
        write: (line) => writeRow(write(line)),
        opening: csvRow(COLUMNS),
      });
      const name = `${fileName(`ledger${queryOf(request, "month") === null ? "" : `-${queryOf(request, "month")}`}`, { accountId, nowMs: edge.now() })}.csv`;
      return sendFile(reply, { name, type: "text/csv; charset=utf-8; header=present" }, pages);
    },
  }),
  // Months are their own cursor: `after` is the last month of the page before.
  get("listLedgerMonths", "/api/ledger/months", {
    summary: "Monthly summary, newest first; opening plus the four signed sums is closing",
    access: "readMoney",
    parameters: [limit, query("after", Type.String({ pattern: MONTH }), "`next` of the page before.")],
    response: page(LedgerMonthSchema),
    async handle({ request }, edge) {
      const accountId = await accountOf(request, edge);
      const wanted = pageOf(request);
      if (wanted.after !== null) checkMonth("after", wanted.after);
      return listPage(wanted, (each) => edge.credits.months(accountId, each), writeMonth);
    },
  }),
  get("listLedgerDays", "/api/ledger/days", {
    summary: "Daily summary, newest first; days without entries included",
    access: "readMoney",
    parameters: [limit],
    response: page(LedgerDaySchema),
    async handle({ request }, edge) {
      const accountId = await accountOf(request, edge);
      const days = await edge.credits.days(accountId, pageOf(request).limit);
      return { data: days.map((day) => ({ day: day.id, ...writeSums(day) })), next: null };
    },
  }),
  // Reads the whole ledger of all accounts, so it is for operators.
  get("verifyLedger", "/api/ledger/verify", {
    summary: "Recompute every wallet, every charge and the chain of the audit log, and list inconsistencies",
    access: "operator",
    response: LedgerVerdictSchema,
    handle: (_call, edge) => edge.verifyLedger(),
  }),
];

type WrittenEntry = Shape<typeof LedgerLineSchema>;

/** Owners do not see which operator did something, just as they do not see `/api/users`. */
function lineWriter(request: FastifyRequest): (line: LedgerLine) => WrittenEntry {
  if (ownAccountOf(request) === null) return writeLine;
  return (line) =>
    writeLine({ ...line, transaction: { ...line.transaction, actor: line.transaction.actor && "operator" } });
}

/** Reads kind and month from the query; null selects all. */
function narrowingOf(request: FastifyRequest): { kind: TransactionKind | null; month: string | null } {
  const [kind, month] = [queryOf(request, "kind"), queryOf(request, "month")];
  if (month !== null) checkMonth("month", month);
  return { kind: kind === null ? null : oneOf("kind", kind, TRANSACTION_KINDS), month };
}

function checkMonth(name: string, text: string): void {
  if (!MONTH_PATTERN.test(text)) throw invalid(name, TEXT.invalidMonth(name));
}

/** Also written by the command line, which prints the same JSON. */
export function writeLine({ transaction, createdAtMs, requestId, model }: LedgerLine): WrittenEntry {
  const entries = transaction.entries.map(({ book, amount }) => ({ book, amountUsd: formatUsd(amount) }));
  return { ...writeTransaction(transaction), entries, requestId, model, createdAt: isoTime(createdAtMs) };
}

function writeMonth(month: LedgerPeriod): Shape<typeof LedgerMonthSchema> {
  return { month: month.id, ...writeSums(month) };
}

function writeSums({ entries, opening, topUps, charges, adjustments, grants, closing }: LedgerPeriod) {
  return {
    entries,
    openingUsd: formatUsd(opening),
    topUpsUsd: formatUsd(topUps),
    chargesUsd: formatUsd(charges),
    adjustmentsUsd: formatUsd(adjustments),
    grantsUsd: formatUsd(grants),
    closingUsd: formatUsd(closing),
  };
}

/** The order of the file; new columns go to the end, because spreadsheets count them. */
const COLUMNS = [
  "createdAt",
  "kind",
  "amountUsd",
  "balanceAfterUsd",
  "requestId",
  "model",
  "note",
  "id",
  "actor",
] as const satisfies readonly (keyof WrittenEntry)[];

function writeRow(line: WrittenEntry): string {
  return csvRow(COLUMNS.map((name) => line[name]));
}
