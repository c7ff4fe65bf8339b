// GET /openapi.json: the contract as OpenAPI 3.1, written from the operations and their schemas when it is first asked for.

import type { FastifyInstance } from "fastify";
import type { TSchema } from "typebox";
import { apiOperations } from "../api/routes.ts";
import { LOGIN_COOKIE } from "../exchange/identity.ts";
import { createRequestFormats, type RequestFormats } from "../exchange/request-format.ts";
import { type Content, type Operation, textContent } from "../openapi/operation.ts";
import { DOCUMENTED } from "../openapi/schema.ts";
import { SERVICE_OPERATIONS } from "../openapi/service.ts";
import { BATCH_OPERATIONS } from "../v1/batches/contract.ts";
import { callOperations } from "../v1/call-operations.ts";
import { STORED_COMPLETION_OPERATIONS } from "../v1/chat/contract.ts";
import { V1_OPERATIONS } from "../v1/contract.ts";
import { CACHE_OPERATIONS } from "../v1/gemini-contract.ts";
import { REALTIME_OPERATIONS } from "../v1/realtime/contract.ts";
import { STATE_OPERATIONS } from "../v1/responses/contract.ts";

interface OpenapiDocument {
  readonly openapi: string;
  readonly info: object;
  readonly paths: Readonly<Record<string, Readonly<Record<string, WrittenOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>>; readonly securitySchemes: object };
}

/** An operation as OpenAPI writes it. */
export interface WrittenOperation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly security: readonly object[];
  readonly parameters?: readonly object[];
  readonly requestBody?: { readonly required: boolean; readonly content: object };
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content?: object }>>;
}

const ERROR_STATUSES: Readonly<Record<number, string>> = {
  400: "A field, a parameter or the request itself is malformed.",
  401: "The key or token is missing or invalid, or nobody is signed in.",
  402: "Not enough credits.",
  403: "The signed-in user may not do this, or the request came from another site.",
  404: "Not found.",
  408: "The body came in too slowly.",
  409: "It conflicts with existing data, or the same idempotency key is in flight.",
  413: "The body is too large.",
  415: "The body is not JSON.",
  421: "The Host header names no host of this server.",
  422: "The messages are missing or malformed.",
  429: "A limit is reached; see Retry-After.",
  500: "Internal error.",
  503: "Every provider of the chain failed, or the server is overloaded or not ready.",
  508: "The request came through this gateway before.",
};

const SECURITY: Readonly<Record<NonNullable<Operation["security"]> | "none", readonly object[]>> = {
  none: [],
  apiKey: [{ apiKey: [] }],
  adminToken: [{ adminToken: [] }, { session: [] }],
  scimToken: [{ scimToken: [] }],
};

const SECURITY_SCHEMES = {
  apiKey: { type: "http", scheme: "bearer", description: "An API key: sk-service-…" },
  adminToken: { type: "http", scheme: "bearer", description: "The value of SWITCHYARD_ADMIN_TOKEN." },
  scimToken: { type: "http", scheme: "bearer", description: "A SCIM token of an organisation: scim_…" },
  session: {
    type: "apiKey",
    in: "cookie",
    name: LOGIN_COOKIE,
    description: `Set by signing in; over https its name is __Host-${LOGIN_COOKIE}.`,
  },
} as const;

/** Every operation of the server, in the order of the documentation. */
export function operationsOf(formats: RequestFormats = createRequestFormats()): readonly Operation[] {
  return [
    ...callOperations(formats),
    ...V1_OPERATIONS,
    ...REALTIME_OPERATIONS,
    ...STORED_COMPLETION_OPERATIONS,
    ...CACHE_OPERATIONS,
    ...STATE_OPERATIONS,
    ...BATCH_OPERATIONS,
    ...apiOperations(),
    ...SERVICE_OPERATIONS,
  ];
}

export function registerOpenapi(server: FastifyInstance, formats: RequestFormats): void {
  let document: string | null = null;
  server.get("/openapi.json", (_request, reply) => {
    document ??= JSON.stringify(openapiDocument(formats));
    return reply.type("application/json; charset=utf-8").send(document);
  });
}

export function openapiDocument(formats?: RequestFormats): OpenapiDocument {
  const paths: Record<string, Record<string, WrittenOperation>> = {};
  const schemas: Schemas = new Map();
  for (const operation of operationsOf(formats)) {
    const path = paths[operation.path] ?? {};
    paths[operation.path] = path;
    path[operation.method] = writeOperation(operation, schemas);
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Switchyard",
      version: "1",
      description: "A model-routing gateway. Point an OpenAI client's base URL at /v1 of this server.",
      license: { name: "MIT", identifier: "MIT" },
    },
    paths,
    components: { schemas: Object.fromEntries(schemas), securitySchemes: SECURITY_SCHEMES },
  };
}

/** The named schemas met so far, as they are written. */
type Schemas = Map<string, object>;

function writeOperation(operation: Operation, schemas: Schemas): WrittenOperation {
  const { id, summary, security, parameters, body, status, response, errors, errorSchema } = operation;
  const content = (given: Content): object => writeContent(given, schemas);
  const failures = errors.map((each) => [
    each,
    {
      description: ERROR_STATUSES[each] ?? "",
      headers: REQUEST_ID_HEADER,
      content: content({
        [operation.errorType ?? "application/json"]: { schema: errorSchema },
        ...(operation.hasPlainErrors === true ? textContent("text/plain") : {}),
      }),
    },
  ]);
  const success = response === null ? {} : { content: content(response) };
  return {
    operationId: id,
    tags: [tagOf(operation)],
    summary,
    security: SECURITY[security ?? "none"],
    ...(parameters.length > 0
      ? { parameters: parameters.map((each) => ({ ...each, schema: writeSchema(each.schema, schemas) })) }
      : {}),
    ...(body === null ? {} : { requestBody: { required: operation.isBodyOptional !== true, content: content(body) } }),
    responses: {
      [status]: { description: summary, headers: REQUEST_ID_HEADER, ...success },
      ...Object.fromEntries(failures),
    },
  };
}

/** The group of an operation in the reference: the endpoints for clients, each resource of the dashboard, the rest. */
function tagOf({ path, security }: Operation): string {
  const [top, resource] = path.slice(1).split("/");
  if (security === "apiKey" || top === "v1") return "Client API";
  if (top === "scim") return "SCIM";
  return top === "api" ? `Dashboard API: ${resource}` : "Service";
}

const REQUEST_ID_HEADER = {
  "X-Request-Id": { schema: { type: "string" }, description: "Names this request in logs." },
} as const;

function writeContent(content: Content, schemas: Schemas): object {
  const bodies = Object.entries(content);
  return Object.fromEntries(
    bodies.map(([type, body]) => [type, { ...body, schema: writeSchema(body.schema, schemas) }]),
  );
}

/** A schema as JSON. One with a name is kept under it, and stands here as a reference. */
function writeSchema(schema: TSchema, schemas: Schemas): object {
  const { $id: name, ...keywords } = schema as Readonly<Record<string, unknown>>;
  if (typeof name !== "string") return writeKeywords(schema, keywords, schemas);
  if (!schemas.has(name)) {
    // The place is taken first: the order is that of the first mention.
    schemas.set(name, {});
    schemas.set(name, writeKeywords(schema, keywords, schemas));
  }
  return { $ref: `#/components/schemas/${name}` };
}

function writeKeywords(schema: TSchema, keywords: object, schemas: Schemas): object {
  const written = Object.entries(keywords).map(([keyword, value]) => [keyword, writeValue(value, schemas)]);
  const documented = (schema as { readonly [DOCUMENTED]?: object })[DOCUMENTED];
  return { ...typeOfEnum(keywords), ...Object.fromEntries(written), ...documented };
}

/** Readers expect a type beside a list of values; the validator's error texts are better without it. */
function typeOfEnum({ enum: values }: { readonly enum?: readonly unknown[] }): object {
  if (values === undefined) return {};
  return { type: values.every((value) => typeof value === "string") ? "string" : "integer" };
}

function writeValue(value: unknown, schemas: Schemas): unknown {
  if (Array.isArray(value)) return value.map((item) => writeValue(item, schemas));
  return typeof value === "object" && value !== null ? writeSchema(value, schemas) : value;
}
