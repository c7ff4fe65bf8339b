// Every operation of the OpenAPI document under drawn inputs: each response has a documented status, content type and
// body, none is a fault, and input that breaks the document is refused. `SEED=random npm test` draws other inputs; a
// failure names the seed.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openapiDocument, type WrittenOperation } from "../../../src/http/pages/openapi.ts";
import {
  broken,
  brokenText,
  canBreak,
  problemsOf,
  type Schema,
  valid,
  validText,
} from "../../support/gateway/contract-inputs.ts";
import { ADMIN_TOKEN, HELLO, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { fc } from "../../support/property.ts";
import { few } from "../../support/random.ts";

interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly schema: Schema;
}

interface Operation {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly written: WrittenOperation;
  readonly parameters: readonly Parameter[];
  readonly body: Schema | null;
}

/** One request: `broken` says what was broken in it. */
interface Input {
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly broken: string | null;
}

const { paths } = openapiDocument();
const OPERATIONS: readonly Operation[] = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, written]) => ({
    name: `${method.toUpperCase()} ${path}`,
    method: method.toUpperCase(),
    path,
    written,
    parameters: (written.parameters ?? []) as readonly Parameter[],
    body: mediaOf(written.requestBody?.content, "application/json"),
  })),
);
const RUNS = few(6, 100);

let gateway: TestGateway;
/** Things that exist, for the parameters of paths. */
let ids: readonly string[] = [];
beforeAll(async () => {
  gateway = await startGateway({ creditsUsd: "1000000", env: { SWITCHYARD_REQUESTS_PER_MINUTE: "1000000" } });
  const made = async (path: string, body: object): Promise<string> =>
    ((await (await gateway.api("POST", path, body)).json()) as { id: string }).id;
  await (await gateway.post("/v1/chat/completions", HELLO, { "x-request-id": "recorded" })).text();
  ids = [
    ...(await Promise.all(["k", "l", "m"].map((name) => made("/api/keys", { name, spendLimitUsd: "5" })))),
    ...(await Promise.all(["p", "q", "r"].map((name) => made("/api/profiles", { name })))),
    await made("/api/invitations", { email: "ada@example.com" }),
    ...["recorded", "sandbox", "gpt-4o-mini"],
  ];
});
afterAll(() => gateway.stop());

describe("input that keeps to the document", () => {
  test.each(OPERATIONS)("$name", (operation) => judged(operation, inputs(operation)));
});

describe("input that breaks the document is refused", () => {
  const breakable = OPERATIONS.filter((operation) => partsOf(operation).length > 0);
  test.each(breakable)("$name", (operation) => judged(operation, brokenInputs(operation)));
});

describe("a method that the document does not list is 405 and names those that are", () => {
  test.each(Object.keys(paths))("%s", async (path) => {
    const listed = Object.keys(paths[path] ?? {}).map((method) => method.toUpperCase());
    for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE", "QUERY"]) {
      if (isListed(method, path)) continue;
      const response = await fetch(`${gateway.url}${path.replace(/\{\w+\}/g, "x")}`, { method });
      const allowed = (response.headers.get("allow") ?? "").split(", ").filter((name) => name !== "HEAD");
      await response.text();
      expect([method, response.status, allowed.sort()]).toEqual([method, 405, listed.sort()]);
    }
  });
});

/** Also by a path with a parameter that the other would fit: `/api/profiles/replay` is a profile's id to GET. */
function isListed(method: string, path: string): boolean {
  return OPERATIONS.some(
    (other) => other.method === method && new RegExp(`^${other.path.replace(/\{\w+\}/g, "[^/]+")}$`).test(path),
  );
}

function judged(operation: Operation, drawn: fc.Arbitrary<Input>): Promise<void> {
  const judge = async (input: Input): Promise<void> => {
    const problem = await problemWith(operation, input);
    if (problem !== null) throw new Error(problem);
  };
  return fc.assert(fc.asyncProperty(drawn, judge), { numRuns: RUNS, endOnFailure: true });
}

function inputs({ path, parameters, body, written }: Operation): fc.Arbitrary<Input> {
  const isOptional = written.requestBody?.required === false;
  return fc.record({
    path: pathOf(path),
    query: textsOf(parameters, "query"),
    headers: textsOf(parameters, "header"),
    body:
      body === null ? fc.constant(undefined) : isOptional ? fc.option(valid(body), { nil: undefined }) : valid(body),
    broken: fc.constant(null),
  });
}

/** The body and the parameters that can be broken. */
function partsOf({ body, parameters }: Operation): readonly (Parameter | "body")[] {
  const texts = parameters.filter((each) => each.in === "query" && canBreak(each.schema));
  return [...(body === null ? [] : (["body"] as const)), ...texts];
}

/** One part is broken, the others keep to the document. */
function brokenInputs(operation: Operation): fc.Arbitrary<Input> {
  const whole = inputs(operation);
  const choices = partsOf(operation).map((part) =>
    part === "body"
      ? fc.tuple(whole, broken(operation.body as Schema)).map(([input, body]) => ({ ...input, body, broken: "body" }))
      : fc.tuple(whole, brokenText(part.schema)).map(([input, text]) => ({
          ...input,
          query: { ...input.query, [part.name]: text },
          broken: part.name,
        })),
  );
  return fc.oneof(...choices);
}

function pathOf(path: string): fc.Arbitrary<string> {
  // The ids are there only when the test runs.
  const segment = fc.oneof(
    { weight: 4, arbitrary: fc.nat().map((at) => ids[at % ids.length] as string) },
    { weight: 1, arbitrary: fc.constantFrom("__proto__", "%00", "a%20b", "0") },
  );
  const names = path.match(/\{\w+\}/g) ?? [];
  return fc
    .tuple(...names.map(() => segment))
    .map((values) => names.reduce((text, name, at) => text.replace(name, values[at] as string), path));
}

function textsOf(parameters: readonly Parameter[], place: Parameter["in"]): fc.Arbitrary<Input["query"]> {
  const here = parameters.filter((each) => each.in === place);
  const draw = ({ name, schema }: Parameter): fc.Arbitrary<string> =>
    name === "account" ? fc.constantFrom("default", "default", "nobody") : validText(schema);
  return fc.record(Object.fromEntries(here.map((each) => [each.name, draw(each)])), {
    requiredKeys: [],
  }) as fc.Arbitrary<Input["query"]>;
}

/** What is wrong with the response, in words; null when nothing is. */
async function problemWith({ method, written }: Operation, input: Input): Promise<string | null> {
  const abort = new AbortController();
  const response = await fetch(`${gateway.url}${input.path}?${new URLSearchParams(input.query)}`, {
    redirect: "manual",
    method,
    signal: abort.signal,
    headers: { ...input.headers, ...credentialsFor(written), ...(input.body === undefined ? {} : JSON_TYPE) },
    ...(input.body === undefined ? {} : { body: JSON.stringify(input.body) }),
  });
  const { status } = response;
  const text = method === "GET" && isStream(response) ? await firstEvent(response) : await response.text();
  abort.abort();
  const listed = written.responses[String(status)];
  if (status >= 500 && status !== 503) return `a fault: ${status} ${text}`;
  if (listed === undefined) return `status ${status} is not documented: ${text}`;
  if (input.broken !== null && response.ok) return `${status} although ${input.broken} is broken: ${text}`;
  return bodyProblem(response.headers.get("content-type"), text, listed.content);
}

const JSON_TYPE = { "content-type": "application/json" };

function credentialsFor({ security }: WrittenOperation): Record<string, string> {
  if (security.length === 0) return {};
  return { authorization: `Bearer ${security.some((scheme) => "apiKey" in scheme) ? gateway.key : ADMIN_TOKEN}` };
}

function isStream(response: Response): boolean {
  return response.headers.get("content-type")?.startsWith("text/event-stream") ?? false;
}

/** For a stream without end. */
async function firstEvent(response: Response): Promise<string> {
  const { value } = await (response.body as ReadableStream<Uint8Array>).getReader().read();
  return new TextDecoder().decode(value);
}

function bodyProblem(given: string | null, text: string, content: object | undefined): string | null {
  if (content === undefined) return text === "" ? null : `a body where none is documented: ${text}`;
  const type = given?.split(";")[0] ?? "none";
  const schema = mediaOf(content, type);
  if (schema === null) return `content type ${type} is not documented`;
  const values = /[+/]json$/.test(type) ? [JSON.parse(text)] : type === "text/event-stream" ? eventsIn(text) : [text];
  const problems = values.flatMap((value) => problemsOf(schema, value));
  return problems.length === 0 ? null : `the body breaks its schema: ${JSON.stringify(problems.slice(0, 3))} ${text}`;
}

function eventsIn(text: string): readonly object[] {
  const blocks = text.split("\n\n").filter((block) => /^(event|data):/m.test(block));
  return blocks.map((block) => Object.fromEntries(block.split("\n").map((line) => line.split(/: (.*)/s, 2))));
}

function mediaOf(content: object | undefined, type: string): Schema | null {
  return (content as Record<string, { readonly schema: Schema }> | undefined)?.[type]?.schema ?? null;
}
