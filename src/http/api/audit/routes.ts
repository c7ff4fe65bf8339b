// /api/audit: who did what to what, newest first, and the same as a file. Owners see their own account, operators
// everything.

import type { FastifyRequest } from "fastify";
import { Type } from "typebox";
import type { Page } from "../../../core/accounts.ts";
import { invalid } from "../../../formats/json/fields.ts";
import { ACTOR_KINDS, AUDIT_OUTCOMES, type ChainedEntry } from "../../../store/audit/entry.ts";
import type { AuditSearch } from "../../../store/audit/log.ts";
import type { OperatorContext } from "../../context.ts";
import { ownAccountOf } from "../../exchange/identity.ts";
import { query, textContent } from "../../openapi/operation.ts";
import { AnyText, GivenTime, listed, named, nullable, page, type Shape, Time } from "../../openapi/schema.ts";
import * as TEXT from "../../text.ts";
import { accountOf, isoTime, listPage, pageOf, paging, queryOf } from "../exchange.ts";
import { fileName, sendFile, textPages } from "../export.ts";
import { timeOf } from "../requests/filter.ts";
import { type ApiRoute, get, sentAs } from "../route.ts";
import { objectName } from "./names.ts";

const AnyValue = Type.Unsafe<unknown>({});

const entryFields = {
  // The place in the chain, counted from 1.
  id: AnyText,
  at: Time,
  actor: Type.Object({ kind: listed([...ACTOR_KINDS]), name: AnyText }),
  // The id of an operation of this API, the words of a command, or an action of the gateway itself.
  action: AnyText,
  object: AnyText,
  account: nullable(AnyText),
  outcome: listed([...AUDIT_OUTCOMES]),
  before: AnyValue,
  after: AnyValue,
  address: nullable(AnyText),
  requestId: nullable(AnyText),
  // Over the entry and the hash of the one before; `switchyard ledger verify` computes it again.
  hash: AnyText,
};
const AuditEntrySchema = named("AuditEntry", entryFields);
// Names as they are now; null where there is none.
export const ListedAuditEntrySchema = named("ListedAuditEntry", {
  ...entryFields,
  objectName: nullable(AnyText),
  accountName: nullable(AnyText),
});

/** Longer than any e-mail or id. */
const PART_MAX = 200;
const PART = /^\P{Cc}*$/u;
const Part = Type.String({ maxLength: PART_MAX, pattern: PART.source });
const search = [
  query("account", AnyText, "One account. Left out, operators see all of them, and owners their own."),
  query("actor", Part, "A part of the e-mail or name of the one who did it."),
  query("action", Part, "A part of the action, such as `Key` or `signIn`."),
  query("object", Part, "A part of the object, such as `keys/` or an id."),
  query("from", GivenTime, "Entries of this time or later, in ISO 8601."),
  query("to", GivenTime, "Entries before this time."),
];

export const AUDIT_ROUTES: readonly ApiRoute[] = [
  get("listAudit", "/api/audit", {
    summary: "Who did what to what, newest first; operators see every account unless they name one",
    access: "manage",
    spansAccounts: true,
    parameters: [...search, ...paging],
    response: page(ListedAuditEntrySchema),
    async handle({ request }, edge) {
      const wanted = await searchOf(request, edge);
      const write = writer(request);
      const { data, next } = await listPage(pageOf(request), pagesOf(edge, wanted), ({ entry }) => entry);
      const listed = data.map(async (entry) => ({
        ...write(entry),
        objectName: await objectName(entry, edge),
        accountName: entry.accountId === null ? null : ((await edge.accounts.get(entry.accountId))?.name ?? null),
      }));
      return { data: await Promise.all(listed), next };
    },
  }),
  get("exportAudit", "/api/audit/export", {
    summary: "All matching entries of the audit log as NDJSON, streamed",
    access: "manage",
    spansAccounts: true,
    parameters: search,
    response: sentAs(textContent("application/x-ndjson")),
    async handle({ request, reply }, edge) {
      const wanted = await searchOf(request, edge);
      const write = writer(request);
      const pages = textPages(pagesOf(edge, wanted), {
        idOf: ({ id }) => id,
        write: ({ entry }) => `${JSON.stringify(write(entry))}\n`,
      });
      const accountId = wanted.accountId ?? "all";
      const name = `${fileName("audit", { accountId, nowMs: edge.now() })}.ndjson`;
      return sendFile(reply, { name, type: "application/x-ndjson; charset=utf-8" }, pages);
    },
  }),
];

type SearchTerms = Omit<AuditSearch, "before" | "limit">;

async function searchOf(request: FastifyRequest, edge: OperatorContext): Promise<SearchTerms> {
  const isOfOne = ownAccountOf(request) !== null || queryOf(request, "account") !== null;
  return {
    accountId: isOfOne ? await accountOf(request, edge) : null,
    actor: partOf(request, "actor"),
    action: partOf(request, "action"),
    object: partOf(request, "object"),
    fromMs: timeOf(request, "from"),
    toMs: timeOf(request, "to"),
  };
}

function partOf(request: FastifyRequest, name: string): string | null {
  const text = queryOf(request, name)?.trim() ?? "";
  if (text.length > PART_MAX || !PART.test(text)) throw invalid(name, TEXT.invalidPart(name, PART_MAX));
  return text === "" ? null : text;
}

/** Pages by the place in the chain. */
function pagesOf({ audit }: OperatorContext, wanted: SearchTerms) {
  return async ({ limit, after }: Page) => {
    if (after !== null && !/^\d{1,15}$/.test(after)) throw invalid("after", TEXT.invalidCursor("after"));
    const found = await audit.list({ ...wanted, limit, before: after === null ? null : Number(after) });
    return found.map((entry) => ({ id: String(entry.sequence), entry }));
  };
}

/** Owners do not see which operator did something, nor from where. */
function writer(request: FastifyRequest): (entry: ChainedEntry) => Shape<typeof AuditEntrySchema> {
  if (ownAccountOf(request) === null) return writeEntry;
  return (entry) => {
    const written = writeEntry(entry);
    if (entry.actor.accountId !== null) return written;
    return { ...written, actor: { kind: "user", name: "operator" }, address: null };
  };
}

/** Also written by the command line, which prints the same JSON. */
export function writeEntry(entry: ChainedEntry): Shape<typeof AuditEntrySchema> {
  const { sequence, atMs, actor, action, object, accountId, outcome, before, after, address, requestId, hash } = entry;
  return {
    ...{ id: String(sequence), at: isoTime(atMs), actor: { kind: actor.kind, name: actor.name } },
    ...{ action, object, account: accountId, outcome, before, after, address, requestId, hash },
  };
}
