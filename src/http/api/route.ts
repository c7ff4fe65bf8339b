// One route of /api: its contract and its handler in one record. Registration with Fastify, the check of bodies and the
// OpenAPI operation all come from that record.

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Static, TSchema } from "typebox";
import { Compile } from "typebox/compile";
import { GatewayError } from "../../core/errors.ts";
import { invalid } from "../../formats/json/fields.ts";
import { parseBody } from "../../formats/json/parse.ts";
import type { OperatorContext } from "../context.ts";
import { bodyOf } from "../exchange/body.ts";
import { identify, permitted, refuseCrossSite } from "../exchange/identity.ts";
import type { Permission } from "../exchange/permissions.ts";
import {
  ANY_ERRORS,
  BODY_ERRORS,
  type Content,
  inPath,
  json,
  type Method,
  type Operation,
  type Parameter,
  statuses,
} from "../openapi/operation.ts";
import { ErrorSchema, type Shape } from "../openapi/schema.ts";
import * as TEXT from "../text.ts";
import { isRecorded, recorded } from "./audit/record.ts";
import { account } from "./exchange.ts";
import { identifyScim, SCIM_TYPE, ScimErrorSchema } from "./scim/exchange.ts";

/**
 * Callers that a route allows: those with a permission, or people who are about to sign in or change how they do
 * (`anyone`, `ownLogin`), or identity providers (`scim`). Pages of other sites may not call the latter, because signing somebody in as somebody else is an
 * attack too.
 */
type Access = "anyone" | "ownLogin" | "scim" | Permission;

/** A response that the handler sends itself, such as a stream. */
interface SentByHandler {
  readonly sentAs: Content;
}

export interface ApiCall<Body extends TSchema = TSchema> {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  /** Checks and returns the body. The handler calls it, and so decides which of several errors is reported first. */
  body(): Static<Body>;
}

/** Without a response, a handler has nothing to return. */
type Result<Response> = Response extends SentByHandler
  ? FastifyReply | Promise<FastifyReply>
  : Response extends TSchema
    ? Shape<Response> | Promise<Shape<Response>>
    : Promise<void>;

type Handler<Body extends TSchema, Response> = (call: ApiCall<Body>, edge: OperatorContext) => Result<Response>;

interface RouteContract<Body extends TSchema, Response> {
  readonly summary: string;
  /** Left out: `manage`. */
  readonly access?: Access;
  /** Says that operators call it for all accounts, so that it does not take `account`. */
  readonly spansAccounts?: boolean;
  /** Besides those of the path, and `account` where the call is about an account. */
  readonly parameters?: readonly Parameter[];
  readonly body?: Body;
  /** Says that the handler takes a request without a body. */
  readonly isBodyOptional?: boolean;
  readonly example?: object;
  /** Says that the body may be as large as a request to /v1. */
  readonly isLarge?: boolean;
  /** Left out: 200 with a response, and 204 without one. */
  readonly status?: number;
  readonly response?: Response;
  /** Beside those that every route of its kind has. */
  readonly errors?: readonly number[];
  /** For calls that write nothing but a login, so that a read-only gateway takes them. */
  readonly changesNothing?: boolean;
  /** Left out: calls are in the audit log, but for those of a GET and those that change nothing. */
  readonly isAudited?: boolean;
  /** False for a stream without end, which has no HEAD. */
  readonly hasHead?: boolean;
}

/** `serve` is called once for each server, for a handler that keeps state. */
type RouteOf<Body extends TSchema, Response> = RouteContract<Body, Response> &
  (
    | { readonly handle: Handler<Body, Response> }
    | { readonly serve: (edge: OperatorContext, server: FastifyInstance) => Handler<Body, Response> }
  );

/** A route of any body and response. */
export type ApiRoute = RouteOf<TSchema, unknown> & {
  readonly id: string;
  readonly method: Method;
  readonly path: string;
};

type RouteMaker = <Body extends TSchema, Response = undefined>(
  id: string,
  path: string,
  rest: RouteOf<Body, Response>,
) => ApiRoute;

/** One for each method, so that a table of routes reads like one of Fastify. */
function routeMaker(method: Method): RouteMaker {
  // The types of body and response matter to the handler only.
  return (id, path, rest) => ({ id, method, path, ...(rest as unknown as RouteOf<TSchema, unknown>) });
}

/** A route: the id of its operation, its path with `:id` for a parameter, and the rest of its contract. */
export const get = routeMaker("get");
export const post = routeMaker("post");
export const put = routeMaker("put");
export const patch = routeMaker("patch");
export const del = routeMaker("delete");

/** A response that the handler sends itself. */
export function sentAs(...contents: readonly Content[]): SentByHandler {
  return { sentAs: Object.assign({}, ...contents) };
}

/** Nobody has proved yet who they are, so they may not send much. */
const OPEN_BODY_BYTES = 64 * 1024;
/** Bodies of /api are short; a playground request is as large as any other. */
const BODY_BYTES = 1024 * 1024;

/** Adds a route to the server, with its guards, its body limit and the check of its body. */
export function registerRoute(
  server: FastifyInstance,
  edge: OperatorContext,
  { route, routes }: { readonly route: ApiRoute; readonly routes: readonly ApiRoute[] },
): void {
  const { method, path, body, access = "manage", isLarge = false, hasHead = true } = route;
  const handle = handlerOf(route, routes, { server, edge });
  const read = body === undefined ? noBody : bodyReader(body);
  const status = statusOf(route);
  const callOf = (request: FastifyRequest, reply: FastifyReply): ApiCall => ({
    request,
    reply,
    body: () => read(request),
  });
  const isOpen = access === "anyone" || access === "ownLogin";
  const isRefused = edge.settings.server.isReadOnly && method !== "get" && !route.changesNothing;
  server.route({
    method,
    url: path,
    exposeHeadRoute: method === "get" && hasHead,
    bodyLimit: isLarge ? edge.settings.server.bodyLimitBytes : isOpen ? OPEN_BODY_BYTES : BODY_BYTES,
    onRequest: isRefused ? [...guardsOf(access, edge), readOnly] : guardsOf(access, edge),
    handler: isSentByHandler(route.response)
      ? (request, reply) => handle(callOf(request, reply), edge)
      : async (request, reply) => {
          const result = await handle(callOf(request, reply), edge);
          return reply.code(status).send(result);
        },
  });
}

/** The handler, with an entry in the audit log for each of its calls where they are recorded. */
function handlerOf(
  route: ApiRoute,
  routes: readonly ApiRoute[],
  { server, edge }: { readonly server: FastifyInstance; readonly edge: OperatorContext },
): Handler<TSchema, unknown> {
  const handle = "serve" in route ? route.serve(edge, server) : route.handle;
  return isRecorded(route) ? (recorded(route, routes, handle) as typeof handle) : handle;
}

/** Runs before the body is read; throws to refuse. */
type Guard = (request: FastifyRequest) => Promise<void>;

function guardsOf(access: Access, edge: OperatorContext): Guard[] {
  const sameSite: Guard = async (request) => refuseCrossSite(request);
  const identified: Guard = (request) => identify(request, edge);
  if (access === "anyone") return [sameSite];
  if (access === "scim") return [(request) => identifyScim(request, edge)];
  return access === "ownLogin" ? [sameSite, identified] : [identified, permitted(access)];
}

const readOnly: Guard = async () => {
  const message = TEXT.readOnly;
  throw new GatewayError("forbidden", message, { code: "read_only" });
};

function isSentByHandler(response: unknown): response is SentByHandler {
  return typeof response === "object" && response !== null && "sentAs" in response;
}

function statusOf({ status, response }: ApiRoute): number {
  return status ?? (response === undefined ? 204 : 200);
}

/** Only a mistake in a handler gets here. */
function noBody(): never {
  throw new Error("a handler reads a body that its route does not have");
}

/** The route as an operation of the contract. */
export function toOperation(route: ApiRoute): Operation {
  const { id, method, path, summary, access = "manage", parameters = [], body, example, errors = [] } = route;
  const isOpen = access === "anyone";
  const isScim = access === "scim";
  return {
    id,
    method,
    path: path.replace(/:(\w+)/g, "{$1}"),
    summary,
    security: isOpen ? null : isScim ? "scimToken" : "adminToken",
    parameters: [
      ...[...path.matchAll(/:(\w+)/g)].map(([, name]) => inPath(name as string)),
      ...(access === "ownLogin" || access === "operator" || isScim || isOpen || route.spansAccounts ? [] : [account]),
      ...parameters,
    ],
    body: body === undefined ? null : typed(json(body, example), isScim),
    isBodyOptional: route.isBodyOptional ?? false,
    status: statusOf(route),
    response: typed(contentOf(route.response), isScim),
    errors: statuses(
      errors,
      ANY_ERRORS,
      [421],
      isOpen ? [] : [401, 403, 404, 429],
      body === undefined ? [] : BODY_ERRORS,
    ),
    ...(isScim ? { errorSchema: ScimErrorSchema, errorType: SCIM_TYPE } : { errorSchema: ErrorSchema }),
  };
}

function typed<Given extends Content | null>(content: Given, isScim: boolean): Content | Given {
  const body = content?.["application/json"];
  return isScim && body !== undefined ? { [SCIM_TYPE]: body } : content;
}

function contentOf(response: unknown): Content | null {
  if (response === undefined) return null;
  if (!isSentByHandler(response)) return json(response as TSchema);
  // A redirect has no body.
  return Object.keys(response.sentAs).length === 0 ? null : response.sentAs;
}

/** A reader for bodies of this schema. */
function bodyReader<Schema extends TSchema>(schema: Schema): (request: FastifyRequest) => Static<Schema> {
  const read = valueReader(schema);
  return (request) => read(parseBody(bodyOf(request)).body);
}

/** Checks a parsed value. The schema is compiled once, when it is first needed. */
export function valueReader<Schema extends TSchema>(schema: Schema): (value: unknown) => Static<Schema> {
  let compiled: ReturnType<typeof Compile> | undefined;
  return (value) => {
    compiled ??= Compile(schema);
    if (compiled.Check(value)) return value as Static<Schema>;
    throw toError(compiled.Errors(value)[0]);
  };
}

/** The first problem that the validator found. */
interface Violation {
  readonly keyword: string;
  readonly instancePath: string;
  readonly params: object;
  readonly message: string;
}

/** Names the field and says what is wrong with it. Behaviour 4. */
function toError(first: Violation | undefined): Error {
  const place = (first?.instancePath ?? "").slice(1).replaceAll("/", ".");
  const { additionalProperties, requiredProperties } = (first?.params ?? {}) as FieldLists;
  // A field that is not allowed is one whose schema lets nothing pass.
  const unknown = additionalProperties?.[0] ?? (first?.keyword === "boolean" ? place : undefined);
  const absent = requiredProperties?.[0];
  if (unknown !== undefined) return invalid(unknown, TEXT.unknownField(unknown));
  if (absent !== undefined) return invalid(absent, TEXT.fieldMissing(absent));
  return invalid(place, `${place === "" ? TEXT.body : `'${place}'`} ${complaint(first)}.`);
}

interface FieldLists {
  readonly additionalProperties?: readonly string[];
  readonly requiredProperties?: readonly string[];
}

/** The validator's own message does not name the values that are allowed. */
function complaint(violation: Violation | undefined): string {
  const { allowedValues } = (violation?.params ?? {}) as { allowedValues?: readonly unknown[] };
  if (allowedValues !== undefined) return TEXT.mustBeOneOf(allowedValues.join(", "));
  return violation?.message ?? TEXT.notValid;
}
