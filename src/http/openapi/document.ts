// GET /openapi.json: the contract, built once from the table of operations.

import type { FastifyInstance } from "fastify";
import { SESSION_COOKIE } from "../exchange/session-guard.ts";
import type { Operation } from "./operation.ts";
import { OPERATIONS } from "./operations.ts";
import { SCHEMAS } from "./schemas.ts";

const ERROR_STATUSES: Readonly<Record<string, string>> = {
  "400": "A field is wrong.",
  "401": "The key or token is not good, or nobody is signed in.",
  "402": "Not enough credit.",
  "403": "The signed-in user may not do this, or a page of another site asked.",
  "404": "There is no such thing here.",
  "408": "The body came in too slowly.",
  "409": "It does not fit what is there already, or the same idempotency key is in flight.",
  "413": "The body is too large.",
  "415": "The body is not JSON.",
  "422": "The messages are missing or malformed.",
  "429": "A limit is reached; see Retry-After.",
  "500": "A fault of ours.",
  "503": "Every provider of the chain failed, or the server is overloaded or not ready.",
};

const SECURITY: Readonly<Record<NonNullable<Operation["security"]> | "none", readonly object[]>> = {
  none: [],
  apiKey: [{ apiKey: [] }],
  adminToken: [{ adminToken: [] }, { session: [] }],
};

export function registerOpenapi(server: FastifyInstance): void {
  const document = JSON.stringify(openapiDocument());
  server.get("/openapi.json", (_request, reply) => reply.type("application/json; charset=utf-8").send(document));
}

export function openapiDocument(): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const operation of OPERATIONS) {
    const path = paths[operation.path] ?? {};
    paths[operation.path] = path;
    path[operation.method] = writeOperation(operation);
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
    components: {
      schemas: SCHEMAS,
      securitySchemes: {
        apiKey: { type: "http", scheme: "bearer", description: "An API key: sk-service-…" },
        adminToken: { type: "http", scheme: "bearer", description: "The value of SWITCHYARD_ADMIN_TOKEN." },
        session: {
          type: "apiKey",
          in: "cookie",
          name: SESSION_COOKIE,
          description: `Set by signing in; over https its name is __Host-${SESSION_COOKIE}.`,
        },
      },
    },
  };
}

function writeOperation(operation: Operation): object {
  const success = operation.answer === null ? {} : { content: operation.answer };
  return {
    operationId: operation.id,
    summary: operation.summary,
    security: SECURITY[operation.security ?? "none"],
    ...(operation.parameters.length > 0 ? { parameters: operation.parameters } : {}),
    ...(operation.body === null ? {} : { requestBody: { required: true, content: operation.body } }),
    responses: {
      [operation.status]: { description: operation.summary, headers: requestIdHeader(), ...success },
      ...Object.fromEntries(operation.errors.map((status) => [status, writeError(status, operation.errorSchema)])),
    },
  };
}

function writeError(status: string, schema: string): object {
  return {
    description: ERROR_STATUSES[status],
    headers: requestIdHeader(),
    content: { "application/json": { schema: { $ref: `#/components/schemas/${schema}` } } },
  };
}

function requestIdHeader(): object {
  return { "X-Request-Id": { schema: { type: "string" }, description: "Names this request in logs." } };
}
