// /api/ledger: what was booked, page by page or as a file, all of it or one kind or month; by months; and the audit.

import { Readable } from "node:stream";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Credits } from "../../billing/credits.ts";
import { type LedgerLine, type LedgerMonth, TRANSACTION_KINDS, type TransactionKind } from "../../core/ledger.ts";
import { formatUsd } from "../../core/money.ts";
import { invalid } from "../../formats/wire/fields.ts";
import type { Edge } from "../context.ts";
import { operatorOnly, ownAccountOf } from "../exchange/session-guard.ts";
import { writeLine } from "./credits.ts";
import { csvCell } from "./csv.ts";
import { oneOf } from "./requests/filter.ts";
import { accountOf, listPage, pageOf, queryOf } from "./requests/one.ts";

export function registerLedger(api: FastifyInstance, edge: Edge): void {
  const { credits } = edge;
  api.get("/api/ledger", async (request) => {
    const account = await accountOf(request, edge);
    const wanted = { from: queryOf(request, "from"), ...narrowingOf(request) };
    const read = async (page: Parameters<typeof credits.list>[1]) =>
      (await credits.list(account, { ...page, ...wanted })).map((line) => ({ id: line.transaction.id, line }));
    const show = lineWriter(request);
    return listPage(pageOf(request), read, ({ line }) => show(line));
  });
  api.get("/api/ledger/export", async (request, reply) => {
    const account = { accountId: await accountOf(request, edge), show: lineWriter(request) };
    const wanted = { ...account, ...narrowingOf(request) };
    oneOf("format", queryOf(request, "format") ?? "csv", ["csv"]);
    // One page at a time: the next is read when the client has taken this one.
    const pages = Readable.from(exportPages(credits, wanted), { highWaterMark: 1 });
    return reply
      .type("text/csv; charset=utf-8; header=present")
      .header("content-disposition", 'attachment; filename="ledger.csv"')
      .send(pages);
  });
  api.get("/api/ledger/months", async (request) => {
    const account = await accountOf(request, edge);
    const page = pageOf(request);
    if (page.after !== null) checkMonth("after", page.after);
    return listPage(page, (wanted) => credits.months(account, wanted), writeMonth);
  });
  api.get("/api/ledger/verify", { onRequest: operatorOnly }, () => edge.verifyLedger());
}

/** Who of those that run the gateway did it is not for those who use it, as `/api/users` is not. */
function lineWriter(request: FastifyRequest): typeof writeLine {
  if (ownAccountOf(request) === null) return writeLine;
  return (line) =>
    writeLine({ ...line, transaction: { ...line.transaction, actor: line.transaction.actor && "operator" } });
}

interface Narrowing {
  readonly kind: TransactionKind | null;
  readonly month: string | null;
}

function narrowingOf(request: FastifyRequest): Narrowing {
  const [kind, month] = [queryOf(request, "kind"), queryOf(request, "month")];
  if (month !== null) checkMonth("month", month);
  return { kind: kind === null ? null : oneOf("kind", kind, TRANSACTION_KINDS), month };
}

const MONTH = /^\d{4}-(?:0[1-9]|1[0-2])$/;

function checkMonth(name: string, text: string): void {
  if (!MONTH.test(text)) throw invalid(name, `'${name}' must be a month such as 2026-01.`);
}

function writeMonth({ id, entries, opening, topUps, charges, adjustments, closing }: LedgerMonth): object {
  return {
    month: id,
    entries,
    openingUsd: formatUsd(opening),
    topUpsUsd: formatUsd(topUps),
    chargesUsd: formatUsd(charges),
    adjustmentsUsd: formatUsd(adjustments),
    closingUsd: formatUsd(closing),
  };
}

const PAGE_ROWS = 500;
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
] as const;

interface Wanted extends Narrowing {
  readonly accountId: string;
  readonly show: typeof writeLine;
}

async function* exportPages(credits: Credits, wanted: Wanted): AsyncGenerator<string, void, void> {
  const { accountId, kind, month, show } = wanted;
  yield `${COLUMNS.join(",")}\r\n`;
  let after: string | null = null;
  do {
    const lines: readonly LedgerLine[] = await credits.list(accountId, { limit: PAGE_ROWS, after, kind, month });
    if (lines.length > 0) yield lines.map((line) => writeRow(show(line))).join("");
    after = lines.length < PAGE_ROWS ? null : (lines.at(-1)?.transaction.id ?? null);
  } while (after !== null);
}

function writeRow(line: object): string {
  const written = line as Readonly<Record<string, unknown>>;
  return `${COLUMNS.map((name) => csvCell(written[name])).join(",")}\r\n`;
}
