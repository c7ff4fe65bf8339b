// The exchange with an identity provider: its token, errors and content type of SCIM, and pages by place.

import type { FastifyInstance, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { GatewayError } from "../../../core/errors.ts";
import type { JsonMap } from "../../../core/overlay.ts";
import type { ScimFound, ScimRange, ScimSearch, ScimToken } from "../../../core/people.ts";
import { USUAL } from "../../../formats/registry.ts";
import { tooManyWrongKeys } from "../../../gateway/admit.ts";
import type { OperatorContext } from "../../context.ts";
import { publicOrigin } from "../../exchange/hosts.ts";
import { bearerOf } from "../../exchange/identity.ts";
import { AnyText, named } from "../../openapi/schema.ts";
import * as TEXT from "../../text.ts";
import { PLAIN_ID, queryOf } from "../exchange.ts";
import { PAGE_MAX } from "./discovery.ts";
import { readFilter, wrong } from "./filter.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** The token of an identity provider; null outside of SCIM. */
    scimToken: ScimToken | null;
  }
}

export const SCIM_PATH = "/scim/v2";
export const SCIM_TYPE = "application/scim+json";
const MESSAGES = "urn:ietf:params:scim:api:messages:2.0";

export const ScimErrorSchema = named("ScimError", {
  schemas: Type.Array(AnyText),
  status: AnyText,
  scimType: Type.Optional(AnyText),
  detail: AnyText,
});

/** Error types of SCIM. Other codes of ours say nothing to its clients. */
const ERROR_TYPES: ReadonlySet<string> = new Set([
  ...[
    "invalidFilter",
    "tooMany",
    "uniqueness",
    "mutability",
    "invalidSyntax",
    "invalidPath",
    "noTarget",
    "invalidValue",
  ],
]);

function writeScimError({ status, message, details }: GatewayError): JsonMap {
  const { code = "" } = details;
  const type: JsonMap = ERROR_TYPES.has(code) ? { scimType: code } : {};
  return { schemas: [`${MESSAGES}:Error`], status: String(status), ...type, detail: message };
}

/** Answers and errors of every route of this scope are SCIM. */
export function speakScim(scope: FastifyInstance): void {
  scope.decorateRequest("scimToken", null);
  scope.addHook("onRequest", async (request) => {
    request.clientFormat = { ...USUAL, writeError: writeScimError };
  });
  scope.addHook("onSend", async (_request, reply, payload) => {
    const isJson = String(reply.getHeader("content-type")).startsWith("application/json");
    if (isJson) reply.header("content-type", `${SCIM_TYPE}; charset=utf-8`);
    return payload;
  });
}

/** Throws unless the request brings a token. A right one always passes, whatever else its address has sent. */
export async function identifyScim(request: FastifyRequest, edge: OperatorContext): Promise<void> {
  const given = bearerOf(request);
  const token = given === undefined ? null : await edge.scimTokens.verify(given);
  if (token === null) {
    const waitSeconds = edge.wrongTokens.waitSeconds(request.ip);
    if (waitSeconds > 0) throw tooManyWrongKeys(waitSeconds);
    if (given !== undefined) edge.wrongTokens.note(request.ip);
    throw new GatewayError("unauthenticated", TEXT.scimToken);
  }
  request.scimToken = token;
  // What it does is told to the admins of its organisation.
  request.identity = { kind: "token", name: TEXT.scimActor(token.name), role: "admin", accountId: token.accountId };
}

export function tokenOf({ scimToken }: FastifyRequest): ScimToken {
  if (scimToken === null) throw new Error("a SCIM route runs without its token");
  return scimToken;
}

export function baseOf(request: FastifyRequest, { settings }: Pick<OperatorContext, "settings">): string {
  return `${publicOrigin(request, settings.server)}${SCIM_PATH}`;
}

/** Throws the error of an unknown one for a text that is no id. */
export function resourceIdOf(request: FastifyRequest): string {
  const { id = "" } = request.params as { id?: string };
  if (PLAIN_ID.test(id)) return id;
  throw new GatewayError("notFound", TEXT.missing("resource", id));
}

const ATTRIBUTES: Readonly<Record<string, keyof ScimSearch>> = {
  id: "id",
  username: "userName",
  externalid: "externalId",
  displayname: "displayName",
  "emails.value": "email",
  emails: "email",
  "members.value": "member",
  members: "member",
};

export function searchOf(request: FastifyRequest): ScimSearch {
  const text = queryOf(request, "filter");
  if (text === null) return {};
  const search: Record<string, string> = {};
  for (const { attribute, value } of readFilter(text)) {
    const name = ATTRIBUTES[attribute.replace(/\[.*\]/, "").toLowerCase()];
    if (name === undefined) throw wrong("invalidFilter", TEXT.scimAttribute(attribute));
    if ((search[name] ?? value) !== value) throw wrong("invalidFilter", TEXT.givenTwice(attribute));
    // PostgreSQL cannot compare with NUL.
    search[name] = value.replaceAll("\u0000", "\ufffd").toWellFormed();
  }
  return search;
}

/** Places are counted from 1. */
export function rangeOf(request: FastifyRequest): ScimRange {
  const numberOf = (name: string, otherwise: number): number => {
    const text = queryOf(request, name) ?? String(otherwise);
    if (!/^-?\d{1,9}$/.test(text)) throw wrong("invalidValue", TEXT.scimNumber(name));
    return Number(text);
  };
  const offset = Math.max(1, numberOf("startIndex", 1)) - 1;
  return { offset, limit: Math.min(PAGE_MAX, Math.max(0, numberOf("count", PAGE_MAX))) };
}

export function listOf<Row>({ total, rows }: ScimFound<Row>, { offset }: ScimRange, write: (row: Row) => JsonMap) {
  return {
    schemas: [`${MESSAGES}:ListResponse`],
    totalResults: total,
    startIndex: offset + 1,
    itemsPerPage: rows.length,
    Resources: rows.map(write),
  };
}

const ALWAYS = new Set(["schemas", "id"]);

/** Leaves out what the caller did not ask for: lists of members are long. */
export function chosenOf(request: FastifyRequest): (resource: JsonMap) => JsonMap {
  const namesOf = (name: string) =>
    queryOf(request, name)
      ?.toLowerCase()
      .split(",")
      .map((each) => each.trim().split(".")[0]);
  const [wanted, unwanted] = [namesOf("attributes"), namesOf("excludedAttributes")];
  if (wanted === undefined && unwanted === undefined) return (resource) => resource;
  return (resource) =>
    Object.fromEntries(
      Object.entries(resource).filter(
        ([name]) =>
          ALWAYS.has(name) ||
          ((wanted?.includes(name.toLowerCase()) ?? true) && unwanted?.includes(name.toLowerCase()) !== true),
      ),
    );
}
