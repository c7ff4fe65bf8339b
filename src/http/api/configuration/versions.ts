// /api/configuration and /api/versions: the run-time configuration as a whole, its history, and the way back. For
// operators.

import type { FastifyRequest } from "fastify";
import { Type } from "typebox";
import { GatewayError } from "../../../core/errors.ts";
import type { ConfigVersion } from "../../../core/overlay.ts";
import { shownDocument } from "../../../versions/secrets.ts";
import { AnyObject, AnyText, Integer, named, nullable, page, strict } from "../../openapi/schema.ts";
import * as TEXT from "../../text.ts";
import { hasNoBody, pageOf, paging } from "../exchange.ts";
import { type ApiRoute, get, post, put } from "../route.ts";
import {
  documentOf,
  ifMatch,
  LockSchema,
  PublishedSchema,
  publicationFields,
  publisherOf,
  VersionSchema,
  writePublished,
  writeVersion,
} from "./exchange.ts";

const Problems = Type.Array(Type.Object({ place: AnyText, message: AnyText, suggestion: nullable(AnyText) }));

/** Settings that were made at run time, and settings that cannot be. */
export const ConfigurationSchema = named("Configuration", {
  version: Integer,
  // The version in use is older where the newest one does not pass the checks; `problems` says why.
  serving: Integer,
  problems: Problems,
  document: AnyObject,
  locked: Type.Array(LockSchema),
});

const VersionDetailSchema = named("ConfigurationVersionDetail", {
  ...VersionSchema.properties,
  document: AnyObject,
});

export const RollBackSchema = strict("RollBack", publicationFields);

const NUMBER = /^\d{1,15}$/;

export const VERSION_ROUTES: readonly ApiRoute[] = [
  get("getConfiguration", "/api/configuration", {
    summary: "The run-time configuration with its version, and what file and environment set instead",
    access: "operator",
    response: ConfigurationSchema,
    handle(_call, { versions }) {
      const { number, document } = versions.newest();
      const { number: serving, problems } = versions.serving();
      return { version: number, serving, problems, document: shownDocument(document), locked: versions.locks };
    },
  }),
  put("setConfiguration", "/api/configuration", {
    summary: "Replace the whole run-time configuration in one version; keys that a GET showed are kept",
    access: "operator",
    parameters: [ifMatch],
    errors: [409, 422],
    body: strict("NewConfiguration", { document: AnyObject, ...publicationFields }),
    example: { document: { tiers: { SIMPLE: ["gpt-4o-mini"] } }, base: 3, note: "One model is enough" },
    response: PublishedSchema,
    async handle({ request, body }, { versions }) {
      const given = body();
      const publisher = publisherOf(request, given);
      if (publisher.base === null) {
        const message = TEXT.baseRequired;
        throw new GatewayError("badRequest", message, { code: "base_missing", param: "base" });
      }
      const document = documentOf(given.document);
      return writePublished(await versions.publish({ ...publisher, change: () => document }));
    },
  }),
  get("listVersions", "/api/versions", {
    summary: "Versions of the run-time configuration, newest first, with author and what each changed",
    access: "operator",
    parameters: paging,
    response: page(VersionSchema),
    async handle({ request }, { versions }) {
      const { limit: count, after } = pageOf(request);
      const before = beforeOf(after);
      // One row more: each is compared with the one before it.
      const rows = await versions.list({ limit: count + 1, before });
      const data = rows.slice(0, count).map((row, index) => writeVersion(row, rows[index + 1] ?? NOTHING));
      return { data, next: rows.length > count ? String(rows[count - 1]?.number) : null };
    },
  }),
  get("getVersion", "/api/versions/:number", {
    summary: "One version: what it changed, and the whole document without secrets",
    access: "operator",
    response: VersionDetailSchema,
    async handle({ request }, { versions }) {
      const number = numberOf(request);
      const version = number === 0 ? null : await versions.find(number);
      if (version === null) throw noVersion(String(number));
      const before = (await versions.find(number - 1)) ?? NOTHING;
      return { ...writeVersion(version, before), document: shownDocument(version.document) };
    },
  }),
  post("rollBackVersion", "/api/versions/:number/rollback", {
    summary: "Publish an older version again, as a new one; 0 is the state before any change",
    access: "operator",
    parameters: [ifMatch],
    errors: [409, 422],
    body: RollBackSchema,
    isBodyOptional: true,
    example: { note: "The new chain was too slow" },
    response: PublishedSchema,
    async handle({ request, body }, { versions }) {
      const number = numberOf(request);
      const given = hasNoBody(request) ? {} : body();
      return writePublished(await versions.rollBack(number, publisherOf(request, given)));
    },
  }),
];

const NOTHING: ConfigVersion = { number: 0, author: "", atMs: 0, note: "", document: {} };

export function numberOf(request: FastifyRequest): number {
  const { number = "" } = request.params as { number?: string };
  if (NUMBER.test(number)) return Number(number);
  throw noVersion(number);
}

function noVersion(number: string): GatewayError {
  return new GatewayError("notFound", TEXT.noVersion(number), { param: "number" });
}

export function beforeOf(after: string | null): number {
  if (after === null) return Number.MAX_SAFE_INTEGER;
  if (NUMBER.test(after)) return Number(after);
  throw new GatewayError("badRequest", TEXT.invalidAfter, { param: "after" });
}
