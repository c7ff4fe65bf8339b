// An error has two readers. The caller learns what a caller can do. Providers, bills and commands are for the operator: they
// go to the log and the request log, and to clients only where `errors.detail` says so.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HELLO, labYaml, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { join } from "../../support/gateway/signed-in.ts";
import { type FakeProvider, fails, startFakeProvider } from "../../support/providers/fake-provider.ts";

const UNPAID = fails(429, { code: "insufficient_quota", message: "You exceeded your quota. See the bills of lab." });
const FOR_OPERATORS = /\blab\b|npm start|switchyard |doctor|dashboard|Providers|models:|out of credit|API key|\bbill/;
const OPERATOR_SAID = /^Last error: lab returned 429 \(the gateway's account is out of credit\)\. .* doctor'\.$/;

let provider: FakeProvider;
let forCaller: TestGateway;
let forOperator: TestGateway;

beforeAll(async () => {
  provider = await startFakeProvider(UNPAID);
  const yaml = labYaml(provider.url).replaceAll("tools, vision, json", "json");
  forCaller = await startGateway({ yaml });
  forOperator = await startGateway({ yaml, env: { SWITCHYARD_ERROR_DETAIL: "operator" } });
});
afterAll(async () => {
  await Promise.all([forCaller.stop(), forOperator.stop()]);
  await provider.close();
});

interface Told {
  readonly message: string;
  readonly id: string;
}

async function refusalOf(gateway: TestGateway, path: string, body: object): Promise<Told> {
  const answer = await gateway.post(path, body);
  expect(answer.ok).toBe(false);
  const id = answer.headers.get("x-request-id") ?? "";
  const { error } = (await answer.json()) as { readonly error: { readonly message: string } };
  return { message: error.message, id };
}

const TOOLS = [{ type: "function", function: { name: "look", parameters: { type: "object" } } }];

const REFUSALS: readonly (readonly [string, string, object, RegExp])[] = [
  ["an unpaid provider", "/v1/chat/completions", HELLO, OPERATOR_SAID],
  ["an unpaid provider, in Anthropic's format", "/v1/messages", { ...HELLO, max_tokens: 9 }, OPERATOR_SAID],
  ["tools", "/v1/chat/completions", { ...HELLO, tools: TOOLS }, /^Enable "tools" for a model under Providers\.$/],
  ["embeddings", "/v1/embeddings", { model: "x", input: "a" }, /^Add one under 'models:' with /],
];

describe("the caller", () => {
  test.each(REFUSALS)("of %s learns what a caller can do", async (_name, path, body) => {
    const { message } = await refusalOf(forCaller, path, body);
    expect(message).not.toMatch(FOR_OPERATORS);
  });

  test("without credits learns of no command, and is not advised to ask for less", async () => {
    const broke = await startGateway({ yaml: labYaml(provider.url), creditsUsd: null });
    try {
      const { message, id } = await refusalOf(broke, "/v1/chat/completions", HELLO);
      expect(message).toMatch(/^There are no credits left \(.* USD needed, 0 USD available\)\./);
      expect(message).not.toMatch(FOR_OPERATORS);
      expect(message).not.toContain("max_tokens");
      expect(await recorded(broke, id)).toMatchObject({
        errorMessage: message,
        operatorMessage: expect.stringContaining("credits add 10"),
      });
    } finally {
      await broke.stop();
    }
  });

  test("of a model that is not offered gets advice that works", async () => {
    const direct = { ...HELLO, model: "gpt-none", service_profile: "direct" };
    const { message } = await refusalOf(forCaller, "/v1/chat/completions", direct);
    expect(message).toContain('leave out "service_profile" and send "auto" as the model');
    const { service_profile: _, ...advised } = { ...direct, model: "auto" };
    // Routed: what fails now is the provider.
    expect((await refusalOf(forCaller, "/v1/chat/completions", advised)).message).toContain("chain failed");
  });
});

describe("the operator", () => {
  test.each(REFUSALS)("reads of %s in the log and the request log what to do", async (_name, path, body, told) => {
    const { id } = await refusalOf(forCaller, path, body);
    const line = forCaller.logged.find(({ fields }) => fields.event === "request.completed" && fields.requestId === id);
    expect(line?.fields.operatorMessage).toMatch(told);
    expect(await recorded(forCaller, id)).toMatchObject({ operatorMessage: expect.stringMatching(told) });
  });

  test.each(REFUSALS)("of %s may have clients told, too", async (_name, path, body, told) => {
    const caller = await refusalOf(forCaller, path, body);
    const { message } = await refusalOf(forOperator, path, body);
    expect(message.startsWith(`${caller.message} `)).toBe(true);
    expect(message.slice(caller.message.length + 1)).toMatch(told);
  });

  test("is told in the playground; an owner of an account is not", async () => {
    const operator = await join(forCaller, { email: "op@example.com", role: "operator" });
    const owner = await join(forCaller, { email: "own@example.com", role: "owner", accountId: "default" });
    const run = { prompt: "Hi" };
    const [toOperator, toOwner] = await Promise.all(
      [operator, owner].map(async (person) => (await person.call("POST", "/api/playground/run", run)).text()),
    );
    expect(toOperator).toContain("lab returned 429");
    expect(toOwner).toContain("chain failed");
    expect(toOwner).not.toMatch(FOR_OPERATORS);
    const { id } = await refusalOf(forCaller, "/v1/chat/completions", HELLO);
    await recorded(forCaller, id);
    const seen = await (await owner.call("GET", `/api/requests/${id}`)).json();
    expect(seen).toMatchObject({ operatorMessage: null });
  });
});

async function recorded(gateway: TestGateway, id: string): Promise<object> {
  const answer = await gateway.api("GET", `/api/requests/${id}`);
  expect(answer.status).toBe(200);
  return (await answer.json()) as object;
}
