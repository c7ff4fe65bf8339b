// One entry of the audit log: its fields, its columns, and the hash that chains it to the entry before.

import { createHash } from "node:crypto";
import type { SqlRow, SqlValue } from "../../core/db.ts";
import type { Json } from "../../core/overlay.ts";
import { withoutNul } from "../dialect.ts";

export const ACTOR_KINDS = ["user", "token", "admin_token", "command_line", "feed", "system", "anonymous"] as const;

export interface AuditActor {
  readonly kind: (typeof ACTOR_KINDS)[number];
  /** An e-mail, the name of a token, or the source of a price. */
  readonly name: string;
  /** The account of an owner; null for those who may see all accounts. */
  readonly accountId: string | null;
}

export const AUDIT_OUTCOMES = ["done", "refused"] as const;

/** One act of somebody. It never holds a secret. */
export interface AuditEntry {
  readonly atMs: number;
  readonly actor: AuditActor;
  /** The id of an operation of `/api`, the words of a command, or a name of the gateway's own. */
  readonly action: string;
  /** Such as `keys/key_3f0c`. */
  readonly object: string;
  /** The account whose owner may see the entry. */
  readonly accountId: string | null;
  readonly outcome: (typeof AUDIT_OUTCOMES)[number];
  readonly address: string | null;
  readonly requestId: string | null;
  readonly before: Json;
  readonly after: Json;
}

/** An entry in its place in the chain. */
export interface ChainedEntry extends AuditEntry {
  readonly sequence: number;
  readonly hash: string;
}

/** Columns that the hash covers, in its order. */
const HASHED = [
  ...["sequence", "created_at", "actor_kind", "actor", "actor_account", "action", "object", "account_id", "outcome"],
  ...["address", "request_id", "before_json", "after_json"],
] as const;
export const AUDIT_COLUMNS = [...HASHED, "hash"] as const;

/** A longer value is told by its size: the chain is no store of documents. */
const JSON_MAX = 64 * 1024;
const TEXT_MAX = 500;

/** The values of an entry's columns, behind the entry with the hash `previous`. */
export function auditRow(entry: AuditEntry, sequence: number, previous: string): readonly SqlValue[] {
  const { atMs, actor, action, object, accountId, outcome, address, requestId, before, after } = entry;
  const values = [
    ...[sequence, atMs, actor.kind, plain(actor.name), actor.accountId, action, plain(object), accountId, outcome],
    ...[address, requestId, written(before), written(after)],
  ];
  return [...values, hashOf(values, previous)];
}

/** Computed again from a row as it is stored. */
export function rowHash(row: SqlRow, previous: string): string {
  return hashOf(
    HASHED.map((name) => (TIMES.has(name) ? Number(row[name]) : (row[name] ?? null))),
    previous,
  );
}

const TIMES: ReadonlySet<string> = new Set(["sequence", "created_at"]);

function hashOf(values: readonly SqlValue[], previous: string): string {
  return createHash("sha256")
    .update(JSON.stringify([previous, ...values]))
    .digest("hex");
}

/** Text as both databases can store it. */
function plain(text: string): string {
  return withoutNul(text.slice(0, TEXT_MAX)).toWellFormed();
}

function written(value: Json): string | null {
  if (value === null) return null;
  const text = JSON.stringify(value);
  return text.length > JSON_MAX ? JSON.stringify({ omittedBytes: Buffer.byteLength(text) }) : text;
}

export function toEntry(row: SqlRow): ChainedEntry {
  const textOf = (name: string): string | null => (row[name] === null ? null : String(row[name]));
  const jsonOf = (name: string): Json => (row[name] === null ? null : (JSON.parse(String(row[name])) as Json));
  return {
    sequence: Number(row.sequence),
    atMs: Number(row.created_at),
    actor: {
      kind: row.actor_kind as AuditActor["kind"],
      name: String(row.actor),
      accountId: textOf("actor_account"),
    },
    action: String(row.action),
    object: String(row.object),
    accountId: textOf("account_id"),
    outcome: row.outcome as AuditEntry["outcome"],
    address: textOf("address"),
    requestId: textOf("request_id"),
    before: jsonOf("before_json"),
    after: jsonOf("after_json"),
    hash: String(row.hash),
  };
}

/** Fields that hold a secret or a proof, that name an operator to owners, or that change by themselves. */
const LEFT_OUT =
  /^(key|apiKeys?|headers|password|current|next|token|idToken|secret|clientDataJSON|attestationObject|authenticatorData|signature|userHandle|links?|urls?|actor|invitedBy|last30Days|lastUsedAt|updatedAt)$/i;
const KEY_TEXT = /sk-[\w-]{20,}/g;

/** A value as it may be kept for years. */
export function withoutSecrets(value: unknown): Json {
  if (typeof value === "string") return value.replace(KEY_TEXT, "…");
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (typeof value === "object" && value !== null) {
    const kept = Object.entries(value).filter(([name, each]) => each !== undefined && !LEFT_OUT.test(name));
    return Object.fromEntries(kept.map(([name, each]) => [name, withoutSecrets(each)]));
  }
  return typeof value === "number" || typeof value === "boolean" ? value : null;
}
