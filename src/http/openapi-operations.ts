// Every operation of the server, in the order of the documentation. A test holds this table and the routes equal.

type Content = Readonly<Record<string, object>>;

export interface Operation {
  readonly id: string;
  readonly method: "get" | "post" | "put" | "delete";
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

const V1_ERRORS = ["401", "429", "500"] as const;
const API_ERRORS = ["401", "404", "500"] as const;

const idInPath = { name: "id", in: "path", required: true, schema: { type: "string" } };
const account = {
  name: "account",
  in: "query",
  schema: { type: "string", default: "default" },
  description: "The account the call is about.",
};
const idempotencyKey = { name: "Idempotency-Key", in: "header", schema: { type: "string", maxLength: 255 } };
const paging = [
  { name: "limit", in: "query", schema: { type: "integer", minimum: 1, maximum: 500, default: 50 } },
  { name: "after", in: "query", schema: { type: "string" }, description: "`next` of the page before." },
];

const hello = { model: "auto", messages: [{ role: "user", content: "What is the capital of France?" }] };

export const OPERATIONS: readonly Operation[] = [
  v1("createChatCompletion", "post", "/v1/chat/completions", {
    summary: "Route a chat request to a model and answer it, whole or as a stream",
    body: json("ChatCompletionRequest", hello),
    answer: { ...json("ChatCompletion"), "text/event-stream": { schema: { type: "string" } } },
    errors: ["400", "402", "404", "413", "415", "422", "503"],
  }),
  v1("createMessage", "post", "/v1/messages", {
    summary: "The same in Anthropic's Messages format",
    body: json("MessagesRequest", { model: "auto", max_tokens: 1024, messages: hello.messages }),
    answer: { ...json("Message"), "text/event-stream": { schema: { type: "string" } } },
    errors: ["400", "402", "404", "409", "413", "415", "422", "503"],
    errorSchema: "MessagesError",
  }),
  v1("countMessageTokens", "post", "/v1/messages/count_tokens", {
    summary: "A local estimate of a Messages request's input tokens, free of charge",
    body: json("MessagesRequest", { model: "auto", messages: hello.messages }),
    answer: json("TokenCount"),
    errors: ["400", "413", "415", "422"],
    errorSchema: "MessagesError",
  }),
  v1("explainRouting", "post", "/v1/routing/debug", {
    summary: "The decision a request would get; no provider call, no charge",
    body: json("RoutingDebugRequest", { prompt: "Prove that the square root of 2 is irrational." }),
    answer: json("RoutingDebug"),
    errors: ["400", "404", "413", "415", "422"],
  }),
  v1("listModels", "get", "/v1/models", {
    summary: "The models this key can reach",
    answer: json("ModelList"),
    errors: [],
  }),
  v1("getModel", "get", "/v1/models/{id}", {
    summary: "One model",
    parameters: [idInPath],
    answer: json("Model"),
    errors: ["404"],
  }),
  api("createAccount", "post", "/api/accounts", {
    summary: "Make an account",
    body: json("NewAccount"),
    status: "201",
    answer: json("Account"),
  }),
  api("listAccounts", "get", "/api/accounts", { summary: "The accounts", parameters: paging, answer: page("Account") }),
  api("createKey", "post", "/api/keys", {
    summary: "Make an API key; its text is shown this once",
    parameters: [account],
    body: json("NewKey", { name: "production" }),
    status: "201",
    answer: json("CreatedKey"),
  }),
  api("listKeys", "get", "/api/keys", {
    summary: "The keys of an account",
    parameters: [account, ...paging],
    answer: page("Key"),
  }),
  api("revokeKey", "delete", "/api/keys/{id}", {
    summary: "Revoke a key",
    parameters: [idInPath, account],
    status: "204",
    answer: null,
  }),
  api("createProfile", "post", "/api/profiles", {
    summary: "Save a routing profile",
    parameters: [account],
    body: json("NewProfile", { name: "cheap", tierCeiling: "LIGHT" }),
    status: "201",
    answer: json("Profile"),
  }),
  api("listProfiles", "get", "/api/profiles", {
    summary: "The profiles",
    parameters: [account, ...paging],
    answer: page("Profile"),
  }),
  api("getProfile", "get", "/api/profiles/{id}", {
    summary: "One profile",
    parameters: [idInPath, account],
    answer: json("Profile"),
  }),
  api("replaceProfile", "put", "/api/profiles/{id}", {
    summary: "Replace a profile",
    parameters: [idInPath, account],
    body: json("NewProfile"),
    answer: json("Profile"),
  }),
  api("deleteProfile", "delete", "/api/profiles/{id}", {
    summary: "Delete a profile; its keys are refused from then on",
    parameters: [idInPath, account],
    status: "204",
    answer: null,
  }),
  api("getCredits", "get", "/api/credits", {
    summary: "What an account has, what of it is on hold, and what is available",
    parameters: [account],
    answer: json("Credits"),
  }),
  api("topUp", "post", "/api/credits/topups", {
    summary: "Add credits; the same Idempotency-Key twice adds them once",
    parameters: [account, idempotencyKey],
    body: json("Amount", { amountUsd: "25", note: "January" }),
    status: "201",
    answer: json("Transaction"),
    errors: ["422"],
  }),
  api("adjust", "post", "/api/credits/adjustments", {
    summary: "Correct a balance by a new entry, up or down to what is available",
    parameters: [account, idempotencyKey],
    body: json("Amount", { amountUsd: "-2.50", note: "booked twice" }),
    status: "201",
    answer: json("Transaction"),
    errors: ["422"],
  }),
  api("listLedger", "get", "/api/ledger", {
    summary: "What was booked, newest first",
    parameters: [account, ...paging],
    answer: page("LedgerLine"),
  }),
  api("verifyLedger", "get", "/api/ledger/verify", {
    summary: "Compute every wallet and charge again and name what does not fit",
    answer: json("LedgerVerdict"),
  }),
  api("listCatalogModels", "get", "/api/models", {
    summary: "The whole catalogue with health",
    answer: page("CatalogModel"),
  }),
  api("listProviders", "get", "/api/providers", { summary: "Providers and their health", answer: page("Provider") }),
  open("describe", "/", "What is served here"),
  open("describeV1", "/v1", "What is served here"),
  open("isAlive", "/healthz", "Alive"),
  { ...open("isReady", "/readyz", "Ready for traffic"), errors: ["503"] },
  {
    ...open("getMetrics", "/metrics", "Prometheus metrics, for loopback or the admin token"),
    answer: { "text/plain": { schema: { type: "string" } } },
    errors: ["401"],
  },
  open("getContract", "/openapi.json", "This document"),
];

type Details = Partial<Operation> & Pick<Operation, "summary">;

function v1(id: string, method: Operation["method"], path: string, details: Details): Operation {
  const rest = { parameters: [], body: null, status: "200", answer: null, errorSchema: "Error", ...details };
  return { id, method, path, security: "apiKey", ...rest, errors: [...(details.errors ?? []), ...V1_ERRORS].sort() };
}

function api(id: string, method: Operation["method"], path: string, details: Details): Operation {
  const rest = { parameters: [], body: null, status: "200", answer: null, errorSchema: "Error", ...details };
  const bodyErrors = rest.body === null ? [] : ["400", "413", "415"];
  return {
    id,
    method,
    path,
    security: "adminToken",
    ...rest,
    errors: [...bodyErrors, ...API_ERRORS, ...(details.errors ?? [])].sort(),
  };
}

function open(id: string, path: string, summary: string): Operation {
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

function json(schema: string, example?: object): Content {
  return {
    "application/json": {
      schema: { $ref: `#/components/schemas/${schema}` },
      ...(example === undefined ? {} : { example }),
    },
  };
}

function page(schema: string): Content {
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
