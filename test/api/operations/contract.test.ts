// The contract of /api at its edges: what it documents passes, and one step beyond is refused. Every response that is
// received here, as in all tests of /api, is also checked against its schema.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readBuiltin } from "../../../src/catalog/builtin.ts";
import { TIERS } from "../../../src/core/tiers.ts";
import { openapiDocument, type WrittenOperation } from "../../../src/http/pages/openapi.ts";
import { checkedOperations } from "../../support/gateway/contract.ts";
import { HELLO, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { type Limit, limitsOf, withField } from "../../support/gateway/limits.ts";
import { PASSWORD, type Person, setUpOperator, tokenIn, visit } from "../../support/gateway/signed-in.ts";
import { makePasskey, usePasskey } from "../../support/identity/authenticator.ts";
import { startFakeOllama } from "../../support/providers/local-servers.ts";

const { paths, components } = openapiDocument();
/** A model of the shipped chains. */
const MODEL = String(readBuiltin().tiers.chains.STANDARD[0]).replace(/@.*$/, "");
/** Text of a length that still means something. Distinct characters, for passwords. */
const password = (length: number): string => "violet anchor teapot 42 ".repeat(length).slice(0, length);
const UNPRICED = { provider: "sandbox", upstream: "unheard-of" };
const FILLERS = {
  text: {
    email: (length: number) => `${"a".repeat(64)}@${"b".repeat(length - 65)}`,
    password,
    next: password,
    url: (length: number) => `http://127.0.0.1:1/${"a".repeat(length)}`.slice(0, length),
  },
  item: {
    allowedModels: MODEL,
    blockedModels: MODEL,
    bounds: 0.5,
    hosts: UNPRICED,
    models: { upstream: "own" },
    ...Object.fromEntries(TIERS.map((tier) => [tier, MODEL])),
  },
};

/** Fields that pass their schema at the limit, and are refused further in for what they mean. */
const MEANINGLESS: Readonly<Record<string, RegExp>> = {
  "Discovery address maxLength": /is not an/,
  "LocalAdoption address maxLength": /is not an/,
  "SetUp email maxLength": /This link has already been used/,
  "InvitationToken token maxLength": /This link has already been used/,
  "ProviderTest model maxLength": /has no model/,
  "NewAlertTarget channel enum": /mailto:/,
  "NewInvitation teams maxItems": /no team/,
  "UserChange teams maxItems": /No user/,
};

let gateway: TestGateway;
let operator: Person;
/** The operator at the host name that passkeys need. */
let named: Person & { readonly url: string };
beforeAll(async () => {
  gateway = await startGateway({ env: { SWITCHYARD_ALERTS_PRIVATE_NETWORK: "true" } });
  operator = await setUpOperator(gateway);
  const url = gateway.url.replace("127.0.0.1", "localhost");
  named = { url, ...visit({ url }, operator.cookie) };
  ({ id: alertTarget } = (await (await gateway.api("POST", "/api/alerts", ALERT_TARGET)).json()) as { id: string });
  await (await gateway.post("/v1/chat/completions", HELLO, { "x-request-id": "recorded" })).text();
});
afterAll(() => gateway.stop());

const newKey = async (): Promise<string> => {
  const made = await gateway.api("POST", "/api/keys", { name: "k", spendLimitUsd: "5" });
  return ((await made.json()) as { id: string }).id;
};

let teams = 0;
const newTeam = async (): Promise<string> => {
  teams += 1;
  const made = await gateway.api("POST", "/api/teams", { name: `team ${teams}` });
  return ((await made.json()) as { id: string }).id;
};

/** Nothing listens there. */
const ALERT_TARGET = { channel: "webhook", name: "On call", url: "http://127.0.0.1:1/hook" };
let alertTarget: string;

/** Each body of /api: where it goes, and one that is good. Called again for each case, since some use a thing up. */
const BODIES: Readonly<Record<string, () => Promise<readonly [method: string, path: string, good: object]>>> = {
  AccountChange: async () => ["PATCH", "/api/accounts/default", { billingMode: null }],
  NewAccount: async () => ["POST", "/api/accounts", { name: "a" }],
  NewKey: async () => ["POST", "/api/keys", { name: "k", spendLimitUsd: "5" }],
  KeyChange: async () => ["PATCH", `/api/keys/${await newKey()}`, { name: "k" }],
  KeyRevocation: async () => ["POST", "/api/keys/revoke", { ids: ["k"] }],
  Rotation: async () => ["POST", `/api/keys/${await newKey()}/rotate`, {}],
  NewProfile: async () => ["POST", "/api/profiles", { name: "p" }],
  NewTeam: async () => ["POST", "/api/teams", { name: "t" }],
  TeamChange: async () => ["PATCH", `/api/teams/${await newTeam()}`, { name: "t" }],
  NewScimToken: async () => ["POST", "/api/scim-tokens", { name: "Okta" }],
  UserChange: async () => ["PATCH", "/api/users/nobody", { teams: [] }],
  NewAlertTarget: async () => ["POST", "/api/alerts", ALERT_TARGET],
  AlertTargetChange: async () => ["PATCH", `/api/alerts/${alertTarget}`, { name: "On call" }],
  NewBudget: async () => ["POST", "/api/budgets", { name: "b", scope: "endUser", amountUsd: "1", period: "day" }],
  NewShadowRule: async () => {
    const { id } = (await (await gateway.api("POST", "/api/profiles", { name: "p" })).json()) as { id: string };
    return ["PUT", `/api/profiles/${id}/shadow`, { model: "gpt-4o", share: 0.1, budgetUsdPerDay: "1" }];
  },
  TopUp: async () => ["POST", "/api/credits/topups", { amountUsd: "1" }],
  Adjustment: async () => ["POST", "/api/credits/adjustments", { amountUsd: "1" }],
  Discovery: async () => ["POST", "/api/providers/discover", { address: "127.0.0.1:1" }],
  LocalAdoption: async () => ["POST", "/api/providers/adopt", { address: "127.0.0.1:1" }],
  // Nobody knows its price, so nothing is published.
  PriceAdoption: async () => ["POST", "/api/prices/adopt", { hosts: [UNPRICED] }],
  ProviderTest: async () => ["POST", "/api/providers/sandbox/test", {}],
  // What is good by its schema here is no configuration that could serve, so nothing is published.
  NewProvider: async () => ["POST", "/api/providers", { id: "lab", kind: "openai", baseUrl: "http://127.0.0.1:1/v1" }],
  ChangedProvider: async () => ["PATCH", "/api/providers/lab", {}],
  NewModel: async () => ["POST", "/api/models", { id: "lab-small", provider: "lab" }],
  ChangedModel: async () => ["PATCH", "/api/models/lab-small", {}],
  RoutingRules: async () => ["PATCH", "/api/routing", {}],
  Chains: async () => ["PUT", "/api/chains", { chains: {} }],
  NewConfiguration: async () => ["PUT", "/api/configuration", { document: {}, base: 0 }],
  ChangedSettings: async () => ["PATCH", "/api/settings", { options: {} }],
  RollBack: async () => ["POST", "/api/versions/0/rollback", {}],
  DraftQuestion: async () => ["POST", "/api/replay", { draft: {} }],
  ReplayQuestion: async () => ["POST", "/api/profiles/replay", { profile: {} }],
  NewFeedback: async () => ["POST", "/api/requests/recorded/feedback", { tier: "LIGHT" }],
  NewInvitation: async () => ["POST", "/api/invitations", { email: "new@example.com" }],
  Credentials: async () => ["POST", "/api/session", { email: "nobody@example.com", password: PASSWORD }],
  SetUp: async () => ["POST", "/api/setup", { token: "t", email: "a@b.example", password: PASSWORD }],
  Acceptance: async () => ["POST", "/api/invitations/accept", { token: "t", password: PASSWORD }],
  InvitationToken: async () => ["POST", "/api/invitations/read", { token: "t" }],
  NewPasskey: async () => [
    ...(["POST", "/api/session/passkeys"] as const),
    { name: "p", ...credentialOf("clientDataJSON", "attestationObject") },
  ],
  PasskeySignIn: async () => [
    ...(["POST", "/api/session/passkey"] as const),
    credentialOf("clientDataJSON", "authenticatorData", "signature", "userHandle"),
  ],
  PlaygroundRequest: async () => ["POST", "/api/playground/decide", { prompt: "Hi" }],
};

function credentialOf(...fields: readonly string[]): object {
  return { credential: { id: "AAAA", response: Object.fromEntries(fields.map((field) => [field, "AAAA"])) } };
}

/** Tried apart: these need a signed-in user, or a link that is used up. */
const APART = new Set([
  "PasswordChange",
  "NewPasskeyWish",
  "SetUp password",
  "Acceptance password",
  "Acceptance token",
  "SetUp token",
]);

const operations = (): (readonly [string, string, WrittenOperation])[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => [method.toUpperCase(), path, operation] as const),
  );

function bodySchemas(): readonly string[] {
  const bodies = operations().filter(([, path]) => path.startsWith("/api/"));
  const references = bodies.flatMap(([, , { requestBody }]) =>
    JSON.stringify(requestBody ?? {}).match(/schemas\/\w+/g),
  );
  return [...new Set(references.filter((each) => each !== null).map((each) => each.slice("schemas/".length)))];
}

test("every body of /api is tried at its limits", () => {
  expect(bodySchemas().filter((name) => BODIES[name] === undefined && !APART.has(name))).toEqual([]);
});

interface Case extends Limit {
  readonly schema: string;
  readonly name: string;
}

function cases(): readonly Case[] {
  return bodySchemas().flatMap((schema) => {
    const limits = limitsOf(components.schemas[schema] as object, FILLERS);
    // The other fields of a playground request are read by the codec of /v1, with limits of its own.
    const ours = limits.filter(({ path }) => schema !== "PlaygroundRequest" || path.length > 1);
    const named = ours.map((limit) => ({
      ...limit,
      schema,
      name: `${schema} ${limit.path.join(".")} ${limit.keyword}`,
    }));
    return named.filter(({ path }) => !APART.has(schema) && !APART.has(`${schema} ${path.join(".")}`));
  });
}

describe("a body at each documented limit passes, and one beyond it is 400", () => {
  test.each(cases())("$name", async ({ schema, name, path, at, beyond }) => {
    const target = BODIES[schema] as NonNullable<(typeof BODIES)[string]>;
    const send = async (value: unknown): Promise<{ status: number; message: string }> => {
      const [method, url, good] = await target();
      const isOpen = /^(Credentials|SetUp|Acceptance|InvitationToken)$/.test(schema);
      const body = withField(good, path, value);
      const person = schema.includes("Passkey") ? named : isOpen ? operator : null;
      const response = await (person?.call(method, url, body) ?? gateway.api(method, url, body));
      const { error } = (response.status === 204 ? {} : await response.json()) as { error?: { message: string } };
      return { status: response.status, message: error?.message ?? "" };
    };
    expect(await send(beyond)).toMatchObject({ status: 400 });
    if (at === undefined) return;
    const passed = await send(at);
    const reason = schema === "NewPasskey" ? /the challenge is unknown/ : MEANINGLESS[name];
    if (reason === undefined) expect(passed).not.toMatchObject({ status: 400 });
    else expect(passed.message).toMatch(reason);
  });
});

test("a new password has the length that is documented", async () => {
  const change = async (current: string, next: string): Promise<number> =>
    (await operator.call("POST", "/api/session/password", { current, next })).status;
  expect(await change(PASSWORD, password(11))).toBe(400);
  expect(await change(PASSWORD, password(1025))).toBe(400);
  expect(await change(PASSWORD, password(1024))).toBe(204);
  expect(await change(password(1024), PASSWORD)).toBe(204);
});

/** Everything that returns JSON and is not called by a test above. */
async function callTheRest(): Promise<void> {
  const call = async (method: string, path: string, body?: object): Promise<Record<string, string>> => {
    const response = await gateway.api(method, path, body);
    expect([method, path, response.status]).toEqual([method, path, response.ok ? response.status : "a success"]);
    return (await response.json()) as Record<string, string>;
  };
  const lists = [
    "accounts",
    "keys",
    "profiles",
    "budgets",
    "credits",
    "ledger",
    "ledger/months",
    "ledger/days",
    "ledger/verify",
    "models",
  ];
  const others = [
    "providers",
    "requests",
    "requests/recorded",
    "requests/histogram",
    "requests/totals",
    "usage",
    "usage/failures",
    "outcomes",
    "overview",
  ];
  for (const name of [
    ...lists,
    ...others,
    "teams",
    "alerts",
    "alerts/events",
    "sign-in",
    "users",
    "scim-tokens",
    "invitations",
    "settings",
  ])
    await call("GET", `/api/${name}`);
  const { id } = await call("POST", "/api/profiles", { name: "p" });
  await call("GET", `/api/profiles/${id}`);
  await call("PUT", `/api/profiles/${id}`, { name: "q" });
  const budget = { name: "b", scope: "endUser", amountUsd: "1", period: "day" };
  const { id: budgetId } = await call("POST", "/api/budgets", budget);
  await call("GET", `/api/budgets/${budgetId}`);
  await call("PUT", `/api/budgets/${budgetId}`, budget);
  const team = await newTeam();
  await call("GET", `/api/teams/${team}`);
  await call("PATCH", `/api/teams/${team}`, { tierCeiling: "LIGHT" });
  await call("GET", `/api/alerts/${alertTarget}`);
  await call("GET", `/api/alerts/${alertTarget}/messages`);
  await call("PATCH", `/api/alerts/${alertTarget}`, { name: "Night shift" });
  await call("POST", `/api/alerts/${alertTarget}/rotate`);
  await call("POST", `/api/alerts/${alertTarget}/test`);
  await call("POST", "/api/keys", { name: "k", profile: id });
  await call("GET", `/api/profiles/${id}/keys`);
  await call("POST", `/api/keys/${await newKey()}/reset-spend`);
  await call("GET", `/api/keys/${await newKey()}`);
  await call("GET", "/api/explore");
  const { data } = (await call("GET", "/api/sessions")) as unknown as { data: readonly { session: string }[] };
  await call("GET", `/api/sessions/${data[0]?.session}`);
  await call("POST", "/api/credits/adjustments", { amountUsd: "-1" });
  await call("POST", "/api/providers/sandbox/test", {});
  await call("POST", "/api/providers/discover", { address: "127.0.0.1:1" });
  await call("GET", "/api/audit");
  await call("GET", "/api/vendors");
  await call("GET", "/api/prices");
  await call("POST", "/api/prices/check");
  await adoptLocal(call);
  await call("PUT", "/api/chains", { chains: {} });
  await call("POST", "/api/replay", { draft: {} });
  const { version } = (await call("GET", "/api/configuration")) as unknown as { version: number };
  await call("PUT", "/api/configuration", { document: {}, base: version });
  await changeConfiguration(call);
  await call("POST", "/api/playground/run", { prompt: "Hi" });
  await operator.call("GET", "/api/session");
  await operator.call("GET", "/api/session/identities");
  await callPasskeys();
  await visit(gateway).call("POST", "/api/session/end");
  const invited = await call("POST", "/api/invitations", { email: "owner@example.com" });
  const person = visit(gateway);
  await person.call("POST", "/api/invitations/read", { token: tokenIn(invited.link ?? "") });
  const accepted = { token: tokenIn(invited.link ?? ""), password: PASSWORD };
  const welcome = await person.call("POST", "/api/invitations/accept", accepted);
  const { user } = (await welcome.json()) as { user: { id: string } };
  await call("PATCH", `/api/users/${user.id}`, { role: "viewer" });
  const reset = await call("POST", `/api/users/${user.id}/reset`);
  await person.call("POST", "/api/password-reset", { token: tokenIn(reset.link ?? ""), password: PASSWORD });
}

/** One that the operator adds and signs in with, under the name that passkeys need. */
async function callPasskeys(): Promise<void> {
  const { url } = named;
  const begun = await named.call("POST", "/api/session/passkeys/options", { password: PASSWORD });
  const { passkey, credential } = makePasskey(url, (await begun.json()) as Parameters<typeof makePasskey>[1]);
  await named.call("POST", "/api/session/passkeys", { name: "Laptop", credential });
  await named.call("GET", "/api/session/passkeys");
  const asked = await named.call("POST", "/api/session/passkey/options");
  const used = usePasskey(url, (await asked.json()) as Parameters<typeof usePasskey>[1], passkey);
  expect((await visit({ url }).call("POST", "/api/session/passkey", used)).status).toBe(204);
}

type Call = (method: string, path: string, body?: object) => Promise<object>;

/** A server and its model, and then a price of its own. */
async function adoptLocal(call: Call): Promise<void> {
  const server = await startFakeOllama({ "tiny:1b": { capabilities: ["completion"] } });
  await call("POST", "/api/providers/adopt", { address: server.address });
  const price = { input: 1, output: 1 };
  await call("POST", "/api/prices/adopt", { hosts: [{ provider: "ollama", upstream: "tiny:1b", price }] });
  await call("POST", "/api/versions/0/rollback");
  await server.close();
}

/** A provider comes and goes at run time, with a model of its own. */
async function changeConfiguration(call: Call): Promise<void> {
  await call("POST", "/api/providers", { id: "groq", apiKey: "gsk_0123456789" });
  await call("PATCH", "/api/providers/groq", { timeouts: { connectMs: 4_000 } });
  const price = { input: 0.1, output: 0.3 };
  await call("POST", "/api/models", { id: "m", provider: "groq", price, context: 8_000, maxOutput: 4_000 });
  await call("PATCH", "/api/models/m", { context: 9_000 });
  await call("PATCH", "/api/settings", { options: { "logging.retentionDays": 7 } });
  await call("GET", "/api/settings/history");
  await call("POST", "/api/settings/history/0/rollback");
  await call("GET", "/api/versions");
  await call("GET", "/api/versions/1");
  await call("DELETE", "/api/models/m");
  await call("DELETE", "/api/providers/groq");
}

test("a real response of every operation that returns JSON keeps to its schema", async () => {
  await callTheRest();
  const json = operations().filter(([, path, { responses }]) => {
    const success = Object.entries(responses).find(([status]) => status.startsWith("2"))?.[1];
    return path.startsWith("/api/") && Object.hasOwn(success?.content ?? {}, "application/json");
  });
  const missing = json.map(([method, path]) => `${method} ${path}`).filter((name) => !checkedOperations().has(name));
  expect(missing).toEqual([]);
});
