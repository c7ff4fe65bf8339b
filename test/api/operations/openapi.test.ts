// The contract as OpenAPI 3.1: it lists exactly the routes there are, its references resolve, and live responses keep to it.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Compile } from "typebox/schema";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { load } from "../../../src/config/load.ts";
import type { Edge } from "../../../src/http/context.ts";
import { UI_ROUTES } from "../../../src/http/pages/ui.ts";
import { createServer } from "../../../src/http/server.ts";
import { SHIPPED_FORMATS } from "../../support/gateway/formats.ts";
import { HELLO, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { PASSWORD, setupTokenOf, tokenIn, visit } from "../../support/gateway/signed-in.ts";

interface Operation {
  readonly operationId: string;
  readonly security: readonly object[];
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> };
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, Media>> }>>;
}

interface Media {
  readonly schema: object;
  readonly example?: unknown;
}

interface Document {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>>; readonly securitySchemes: object };
}

let gateway: TestGateway;
let document: Document;
beforeAll(async () => {
  gateway = await startGateway();
  document = (await (await fetch(`${gateway.url}/openapi.json`)).json()) as Document;
});
afterAll(() => gateway.stop());

const operations = (): (readonly [string, string, Operation])[] =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => [method, path, operation] as const),
  );

/** Checks a value against a schema whose references point into the document. */
function problemsOf(schema: object, value: unknown): readonly unknown[] {
  const validator = Compile({ components: document.components, allOf: [schema] });
  return validator.Check(value) ? [] : validator.Errors(value)[1];
}

describe("the document", () => {
  it("lists exactly the routes of the server", async () => {
    const listed = operations().map(([method, path]) => `${method.toUpperCase()} ${path}`);
    const dashboard = [...UI_ROUTES, "/docs*", "/docs/llms-full.txt"].map(
      (route) => `GET ${route.replace(/:(\w+)/g, "{$1}")}`,
    );
    const routes = (await registeredRoutes()).filter((route) => !dashboard.includes(route));
    expect(listed.sort()).toEqual(routes.sort());
  });

  it("has an id of its own for each operation and a place for each parameter of a path", () => {
    const ids = operations().map(([, , { operationId }]) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const [, path, { parameters = [] }] of operations()) {
      const inPath = parameters.filter((parameter) => parameter.in === "path").map(({ name }) => `{${name}}`);
      expect(path.match(/\{\w+\}/g) ?? []).toEqual(inPath);
    }
  });

  it("resolves every reference", () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(
      ([, target]) => target as string,
    );
    expect(references.length).toBeGreaterThan(20);
    for (const reference of new Set(references)) {
      const target = reference
        .slice(2)
        .split("/")
        .reduce<unknown>((node, step) => (node as Record<string, unknown>)?.[step], document);
      expect([reference, typeof target]).toEqual([reference, "object"]);
    }
  });

  it("uses every schema it has and every security scheme it names", () => {
    const text = JSON.stringify(document.paths) + JSON.stringify(document.components.schemas);
    for (const name of Object.keys(document.components.schemas)) {
      expect(text).toContain(`"#/components/schemas/${name}"`);
    }
    for (const [, , { security }] of operations()) {
      for (const scheme of security.flatMap((each) => Object.keys(each))) {
        expect(document.components.securitySchemes).toHaveProperty(scheme);
      }
    }
  });

  it("has examples that keep to their own schemas", () => {
    const examples = operations().flatMap(([, , operation]) =>
      Object.values(operation.requestBody?.content ?? {}).filter(({ example }) => example !== undefined),
    );
    expect(examples.length).toBeGreaterThan(2);
    for (const { schema, example } of examples) expect(problemsOf(schema, example)).toEqual([]);
  });
});

describe("refusals of requests that keep to their schemas are named", () => {
  it.each([
    ["/v1/embeddings", "post", "wrong_endpoint"],
    ["/v1/rerank", "post", "wrong_endpoint"],
    ["/v1/responses/{id}/cancel", "post", "not_cancellable"],
  ])("%s", (path, method, code) => {
    const operation = document.paths[path]?.[method];
    expect(operation).toMatchObject({ summary: expect.stringContaining(`400 \`${code}\``) });
    expect(operation?.responses).toHaveProperty("400");
  });

  it("a summary needs a model", () => {
    const media = document.paths["/v1/responses/compact"]?.post?.requestBody?.content["application/json"];
    expect(problemsOf(media?.schema as object, {})).not.toEqual([]);
    expect(problemsOf(media?.schema as object, { input: "x" })).not.toEqual([]);
    expect(problemsOf(media?.schema as object, { model: "auto", input: "x" })).toEqual([]);
  });

  it("/docs leads to the pages", async () => {
    const { status } = await fetch(`${gateway.url}/docs`, { redirect: "manual" });
    expect([status, Object.keys(document.paths["/docs"]?.get?.responses ?? {})]).toEqual([
      308,
      expect.arrayContaining(["308"]),
    ]);
    expect(document.paths["/docs"]?.get?.responses).not.toHaveProperty("200");
  });
});

describe("live responses keep to the document", () => {
  async function check(method: string, path: string, answer: Response): Promise<unknown> {
    const operation = document.paths[path]?.[method.toLowerCase()];
    const media = operation?.responses[String(answer.status)]?.content?.["application/json"];
    expect([method, path, answer.status, media]).toEqual([method, path, answer.status, expect.anything()]);
    const body: unknown = await answer.json();
    expect(problemsOf(media?.schema as object, body)).toEqual([]);
    return body;
  }

  it("of /v1", async () => {
    await check("POST", "/v1/chat/completions", await gateway.post("/v1/chat/completions", HELLO));
    await check("POST", "/v1/routing/debug", await gateway.post("/v1/routing/debug", { prompt: "Hi" }));
    const tools = [{ type: "function", function: { name: "get_weather" } }];
    const prompt = "What is the weather in Rome?";
    await check("POST", "/v1/routing/debug", await gateway.post("/v1/routing/debug", { prompt, tools }));
    await check("GET", "/v1/models", await gateway.get("/v1/models"));
    await check("GET", "/v1/models/{id}", await gateway.get("/v1/models/gpt-4o-mini"));
  });

  it("of /api", async () => {
    await check("POST", "/api/accounts", await gateway.api("POST", "/api/accounts", { name: "a" }));
    const changed = await gateway.api("PATCH", "/api/accounts/default", { billingMode: null });
    await check("PATCH", "/api/accounts/{id}", changed);
    const profileBody = {
      name: "p",
      tierFloor: "LIGHT",
      capabilities: ["tools"],
      maxCostUsd: 1,
      allowedModels: ["gpt-4o-mini"],
    };
    const profile = (await check("POST", "/api/profiles", await gateway.api("POST", "/api/profiles", profileBody))) as {
      id: string;
    };
    await check("GET", "/api/profiles/{id}", await gateway.api("GET", `/api/profiles/${profile.id}`));
    await check("PUT", "/api/profiles/{id}", await gateway.api("PUT", `/api/profiles/${profile.id}`, { name: "q" }));
    const keyBody = {
      name: "k",
      profile: profile.id,
      spendLimitUsd: "5",
      requestsPerMinute: 3,
      expiresAt: "2099-01-01T00:00:00Z",
    };
    await check("POST", "/api/keys", await gateway.api("POST", "/api/keys", keyBody));
    await check("POST", "/api/credits/topups", await gateway.api("POST", "/api/credits/topups", { amountUsd: "1" }));
    for (const path of ["/api/credits", "/api/ledger", "/api/ledger/months", "/api/ledger/verify"]) {
      await check("GET", path, await gateway.api("GET", path));
    }
    for (const path of ["/api/accounts", "/api/keys", "/api/profiles", "/api/models", "/api/providers"]) {
      await check("GET", path, await gateway.api("GET", path));
    }
  });

  it("of recorded requests", async () => {
    const headers = { "x-request-id": "recorded" };
    await (await gateway.post("/v1/chat/completions", HELLO, headers)).text();
    await (await gateway.post("/v1/chat/completions", {}, { "x-request-id": "refused" })).text();
    await check("GET", "/api/requests", await gateway.api("GET", "/api/requests"));
    for (const id of ["recorded", "refused"]) {
      await check("GET", "/api/requests/{id}", await gateway.api("GET", `/api/requests/${id}`));
    }
    const mark = await gateway.api("POST", "/api/requests/recorded/feedback", { tier: "NANO" });
    await check("POST", "/api/requests/{id}/feedback", mark);
    await check("GET", "/api/requests/{id}", await gateway.api("GET", "/api/requests/recorded"));
    await check("GET", "/api/usage", await gateway.api("GET", "/api/usage?by=hour&group=model"));
    const histogram = await gateway.api("GET", "/api/requests/histogram?by=day&adjusted=false");
    await check("GET", "/api/requests/histogram", histogram);
    await check("GET", "/api/requests", await gateway.api("GET", "/api/requests?tier=HUGE"));
    await check("GET", "/api/requests/{id}", await gateway.api("GET", "/api/requests/nothing"));
  });

  it("of people, the playground and the settings", async () => {
    const person = visit(gateway);
    const call = async (method: string, path: string, body?: object): Promise<unknown> =>
      check(method, path.split("?")[0] as string, await person.call(method, path, body));
    await call("GET", "/api/session");
    await call("POST", "/api/setup", { token: setupTokenOf(gateway), email: "a@b.example", password: PASSWORD });
    await call("GET", "/api/session");
    await call("POST", "/api/session", { email: "a@b.example", password: "wrong, wrong, wrong" });
    const { link } = (await call("POST", "/api/invitations", { email: "c@d.example" })) as { link: string };
    await call("GET", "/api/invitations");
    await call("POST", "/api/invitations/accept", { token: tokenIn(link), password: PASSWORD });
    await call("GET", "/api/users");
    expect((await person.call("POST", "/api/session", { email: "a@b.example", password: PASSWORD })).status).toBe(204);
    await call("GET", "/api/users");
    await call("GET", "/api/settings");
    await call("POST", "/api/playground/decide", { prompt: "Hi", profile: { tierFloor: "LIGHT" } });
    await call("POST", "/api/playground/run", { prompt: "Hi" });
    await call("POST", "/api/profiles/replay", { profile: { tierFloor: "COMPLEX" } });
    const limit = { spendLimitUsd: "5", spendReset: "weekly" };
    const key = (await call("POST", "/api/keys", { name: "old", ...limit })) as { id: string };
    const reset = await person.call("POST", `/api/keys/${key.id}/reset-spend`);
    await check("POST", "/api/keys/{id}/reset-spend", reset);
    const rotated = await person.call("POST", `/api/keys/${key.id}/rotate`, { graceHours: 1 });
    await check("POST", "/api/keys/{id}/rotate", rotated);
  });

  it("of those without a key", async () => {
    for (const path of ["/v1", "/healthz", "/readyz", "/openapi.json"]) {
      await check("GET", path, await fetch(`${gateway.url}${path}`));
    }
  });

  it("of errors", async () => {
    const chat = "/v1/chat/completions";
    await check("POST", chat, await gateway.post(chat, "{"));
    await check("POST", chat, await gateway.post(chat, {}));
    await check("POST", chat, await gateway.post(chat, HELLO, { authorization: "Bearer no" }));
    await check("POST", chat, await gateway.post(chat, { ...HELLO, service_profile: "direct", model: "no" }));
    await check("POST", chat, await gateway.post(chat, HELLO, { "content-type": "text/plain" }));
    await check("GET", "/v1/models/{id}", await gateway.get("/v1/models/nothing"));
    await check("POST", "/api/keys", await gateway.api("POST", "/api/keys", {}));
    await check("DELETE", "/api/keys/{id}", await gateway.api("DELETE", "/api/keys/nothing"));
  });

  it("and a wrong response would be noticed", () => {
    expect(problemsOf({ $ref: "#/components/schemas/Service" }, { tier: "HUGE" })).not.toEqual([]);
  });
});

/** The routes of a server that is built but never asked anything, read off its own printed tree. */
async function registeredRoutes(): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), "switchyard-openapi-"));
  const loaded = load({ flags: {}, env: {}, cwd: folder });
  if (!loaded.ok) throw new Error("the defaults do not load");
  const server = await createServer(edgeOf(loaded.settings));
  await server.ready();
  const printed = server.printRoutes({ commonPrefix: false });
  await server.close();
  rmSync(folder, { recursive: true, force: true });
  const stack: string[] = [];
  return printed.split("\n").flatMap((line) => {
    const [, indent = "", segment = "", methods = ""] =
      /^((?:│ {3}| {4})*)[├└]── (\S*)(?: \(([^)]+)\))?$/.exec(line) ?? [];
    const depth = indent.length / 4;
    stack.splice(depth, stack.length, segment);
    const path = stack
      .join("")
      .replace(/:(\w+)(?:\(\.\+\)::)?/g, (match, name) => (match.endsWith("::") ? `{${name}}:` : `{${name}}`));
    const wanted = methods.split(", ").filter((method) => method !== "" && method !== "HEAD");
    return wanted.map((method) => `${method} ${path}`);
  });
}

/** Real settings and, for the rest, something that can be taken apart without end while routes are registered. */
function edgeOf(settings: Edge["settings"]): Edge {
  const anything: unknown = new Proxy(() => anything, { get: () => anything });
  // What is taken over by spreading has to be there by name.
  const formats = SHIPPED_FORMATS;
  const named = { settings, formats, pressure: anything, metrics: anything, log: anything, now: anything } as Edge;
  return new Proxy(named, { get: (target, name) => (name in target ? Reflect.get(target, name) : anything) });
}
