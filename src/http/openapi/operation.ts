// One operation of the contract: the record that /openapi.json and /docs are written from, and the parameters that many
// operations share.

import { type TSchema, Type } from "typebox";
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
  readonly security: "apiKey" | "adminToken" | null;
  readonly parameters: readonly Parameter[];
  readonly body: Content | null;
  readonly status: number;
  readonly response: Content | null;
  readonly errors: readonly number[];
  readonly errorSchema: TSchema;
}

/** Statuses of every operation that takes a body. */
export const BODY_ERRORS = [400, 408, 413, 415] as const;

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
    errors: [],
    errorSchema: ErrorSchema,
    ...more,
  };
}

export function json(schema: TSchema, example?: object): Content {
  return { "application/json": { schema, ...(example === undefined ? {} : { example }) } };
}

/** A response of some other kind than JSON, as text. */
export function textContent(...types: readonly string[]): Content {
  return Object.fromEntries(types.map((type) => [type, { schema: Type.String() }]));
}

/** Each status once, in order. */
export function statuses(...lists: readonly (readonly number[])[]): readonly number[] {
  return [...new Set(lists.flat())].sort((a, b) => a - b);
}

export function query(name: string, schema: TSchema, description?: string): Parameter {
  return { name, in: "query", schema, ...(description === undefined ? {} : { description }) };
}

export function inPath(name: string): Parameter {
  return { name, in: "path", required: true, schema: Type.String() };
}
