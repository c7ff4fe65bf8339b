// One operation of the contract, and the words the tables of operations are written in.

export type Content = Readonly<Record<string, object>>;

export interface Operation {
  readonly id: string;
  readonly method: "get" | "post" | "put" | "patch" | "delete";
  readonly path: string;
  readonly summary: string;
  readonly security: "apiKey" | "adminToken" | null;
  readonly parameters: readonly object[];
  readonly body: Content | null;
  readonly status: string;
  readonly answer: Content | null;
  readonly errors: readonly string[];
  readonly errorSchema: string;
}

const V1_ERRORS = ["401", "429", "500", "503"] as const;
const API_ERRORS = ["401", "403", "404", "429", "500"] as const;
const BODY_ERRORS = ["400", "408", "413", "415"] as const;

export const idInPath = { name: "id", in: "path", required: true, schema: { type: "string" } };
export const account = {
  name: "account",
  in: "query",
  schema: { type: "string", default: "default" },
  description: "The account the call is about.",
};
export const idempotencyKey = { name: "Idempotency-Key", in: "header", schema: { type: "string", maxLength: 255 } };
export const paging = [
  { name: "limit", in: "query", schema: { type: "integer", minimum: 1, maximum: 500, default: 50 } },
  {
    name: "after",
    in: "query",
    schema: { type: "string" },
    description: "`next` of the page before. Also taken as `cursor` or `next`.",
  },
];

type Details = Partial<Operation> & Pick<Operation, "summary">;

export function v1(id: string, method: Operation["method"], path: string, details: Details): Operation {
  const rest = { parameters: [], body: null, status: "200", answer: null, errorSchema: "Error", ...details };
  return { id, method, path, security: "apiKey", ...rest, errors: errorsOf(rest, V1_ERRORS) };
}

export function api(id: string, method: Operation["method"], path: string, details: Details): Operation {
  const rest = { parameters: [], body: null, status: "200", answer: null, errorSchema: "Error", ...details };
  return { id, method, path, security: "adminToken", ...rest, errors: errorsOf(rest, API_ERRORS) };
}

/** What it says itself, what every call of its kind can meet, and what every body can. */
function errorsOf({ errors = [], body }: Pick<Details, "errors" | "body">, common: readonly string[]): string[] {
  return [...new Set([...errors, ...common, ...(body === null ? [] : BODY_ERRORS)])].sort();
}

export function open(id: string, path: string, summary: string): Operation {
  const answer = { "application/json": { schema: { type: "object" } } };
  return {
    id,
    method: "get",
    path,
    summary,
    security: null,
    parameters: [],
    body: null,
    status: "200",
    answer,
    errors: [],
    errorSchema: "Error",
  };
}

export function json(schema: string, example?: object): Content {
  return {
    "application/json": {
      schema: { $ref: `#/components/schemas/${schema}` },
      ...(example === undefined ? {} : { example }),
    },
  };
}

export function page(schema: string): Content {
  return {
    "application/json": {
      schema: {
        type: "object",
        required: ["data", "next"],
        properties: {
          data: { type: "array", items: { $ref: `#/components/schemas/${schema}` } },
          next: { type: ["string", "null"] },
        },
      },
    },
  };
}
