// One operation of the contract: the record that /openapi.json and /docs are written from, and the parameters that many
// operations share.

import { type TSchema, Type } from "typebox";
import { IDEMPOTENCY_KEY } from "../../core/requests/idempotency.ts";
import { AnyObject, ErrorSchema } from "./schema.ts";

/** Bodies by media type. */
export type Content = Readonly<Record<string, MediaBody>>;

interface MediaBody {
  readonly schema: TSchema;
  readonly example?: unknown;
}

export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required?: true;
  readonly schema: TSchema;
  readonly description?: string;
  readonly allowEmptyValue?: true;
}

export type Method = "get" | "post" | "put" | "patch" | "delete";

export interface Operation {
  readonly id: string;
  readonly method: Method;
  /** With `{id}` for a parameter, as OpenAPI writes it. */
  readonly path: string;
  readonly summary: string;
  readonly security: "apiKey" | "adminToken" | "scimToken" | null;
  readonly parameters: readonly Parameter[];
  readonly body: Content | null;
  readonly isBodyOptional?: boolean;
  readonly status: number;
  readonly response: Content | null;
  readonly errors: readonly number[];
  readonly errorSchema: TSchema;
  /** Left out: JSON. */
  readonly errorType?: string;
  /** Set where errors may come as plain text, for people and probes. */
  readonly hasPlainErrors?: boolean;
}

/** Statuses of every operation: a malformed request, a fault of ours, and a server that is overloaded or closing. */
export const ANY_ERRORS = [400, 500, 503] as const;
/** Statuses of every operation that takes a body. */
export const BODY_ERRORS = [408, 413, 415] as const;

/** An operation that needs no key. */
export function openOperation(id: string, path: string, summary: string, more: Partial<Operation> = {}): Operation {
  return {
    id,
    method: "get",
    path,
    summary,
    security: null,
    parameters: [],
    body: null,
    status: 200,
    response: json(AnyObject),
    errorSchema: ErrorSchema,
    ...more,
    errors: statuses(ANY_ERRORS, more.errors ?? []),
  };
}

export function json(schema: TSchema, example?: object): Content {
  return { "application/json": { schema, ...(example === undefined ? {} : { example }) } };
}

/** A response of some other kind than JSON, as text. */
export function textContent(...types: readonly string[]): Content {
  return Object.fromEntries(types.map((type) => [type, { schema: Type.String() }]));
}

/**
 * A stream of server-sent events. OpenAPI 3.1 has no word for the items of a stream, so the schema is that of one event,
 * as readers of such documents take it. `data` is JSON; `end` is the text that ends the stream where there is one.
 */
export function eventStream(data: TSchema, { end }: { readonly end?: string } = {}): Content {
  const written = Type.String({ contentMediaType: "application/json", contentSchema: data });
  const schema = Type.Object({
    event: Type.Optional(Type.String()),
    data: end === undefined ? written : Type.Union([written, Type.Literal(end)]),
  });
  return { "text/event-stream": { schema } };
}

/** Each status once, in order. */
export function statuses(...lists: readonly (readonly number[])[]): readonly number[] {
  return [...new Set(lists.flat())].sort((a, b) => a - b);
}

export function query(name: string, schema: TSchema, description?: string): Parameter {
  return { name, in: "query", schema, ...(description === undefined ? {} : { description }) };
}

export const idempotencyKey: Parameter = {
  name: "Idempotency-Key",
  in: "header",
  schema: Type.String({ pattern: IDEMPOTENCY_KEY.source }),
};

export function inPath(name: string): Parameter {
  return { name, in: "path", required: true, schema: Type.String() };
}
