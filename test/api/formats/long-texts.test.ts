// Long texts in requests of coding agents: in blocks, parts and tool results. They are left in the body until somebody reads
// them, and neither decisions nor what a provider gets may show it.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { answers, type FakeProvider, startFakeProvider } from "../../support/providers/fake-provider.ts";

let provider: FakeProvider;
let gateway: TestGateway;
beforeAll(async () => {
  provider = await startFakeProvider();
  gateway = await startGateway({
    yaml: [
      "catalog: none",
      `providers: { lab: { kind: openai, baseUrl: "${provider.url}", apiKey: lab-secret } }`,
      "models:",
      "  - { id: small, provider: lab, tier: LIGHT, price: { input: 1, output: 3 }, context: 200000, capabilities: [tools] }",
      "tiers: { NANO: [small], SIMPLE: [small], LIGHT: [small], STANDARD: [small], COMPLEX: [small] }",
      "routing: { baseline: small, markup: 0 }",
    ].join("\n"),
  });
});
afterAll(async () => {
  await gateway.stop();
  await provider.close();
});
beforeEach(() => {
  provider.reset();
  provider.on("*", answers("Fine."));
});

const file = (at: number): string => `// ${at} größer 大\n${'\tif (a === "b") return c / d;\n'.repeat(40 + 7 * at)}`;
const STEPS = Array.from({ length: 12 }, (_, at) => ({ at, id: `call_${at}`, args: { path: `src/${at}.ts` } }));
const ASK = "Write an email to my boss about these files";

const RESPONSES = {
  model: "auto",
  store: false,
  instructions: file(50),
  input: [
    { role: "user", content: [{ type: "input_text", text: file(0) }] },
    ...STEPS.flatMap(({ at, id, args }) => [
      { type: "function_call", call_id: id, name: "read", arguments: JSON.stringify(args) },
      {
        type: "function_call_output",
        call_id: id,
        output: at % 2 === 0 ? file(at) : [{ type: "input_text", text: file(at) }],
      },
    ]),
    { role: "user", content: ASK },
  ],
};

const CLIENTS: Readonly<Record<string, readonly [string, object]>> = {
  Messages: [
    "/v1/messages",
    {
      model: "auto",
      max_tokens: 400,
      system: [{ type: "text", text: file(50) }],
      messages: [
        { role: "user", content: [{ type: "text", text: file(0) }] },
        ...STEPS.flatMap(({ at, id, args }) => [
          { role: "assistant", content: [{ type: "tool_use", id, name: "read", input: args }] },
          {
            role: "user",
            content: [
              {
                type: "tool_result",
                tool_use_id: id,
                content: at % 2 === 0 ? file(at) : [{ type: "text", text: file(at) }],
              },
            ],
          },
        ]),
        { role: "user", content: ASK },
      ],
    },
  ],
  Responses: ["/v1/responses", RESPONSES],
  "stored Responses": ["/v1/responses", { ...RESPONSES, store: true }],
};

const headersOf = (path: string) => (path === "/v1/messages" ? { "anthropic-version": "2023-06-01" } : {});

describe.each(Object.entries(CLIENTS))("in a request of %s", (_name, [path, body]) => {
  it("reach a provider of another format as they are", async () => {
    expect((await gateway.post(path, body, headersOf(path))).status).toBe(200);
    const messages = provider.requests[0]?.body.messages as { role: string; content: unknown }[];
    expect(messages.map(({ content }) => content)).toEqual([
      file(50),
      file(0),
      ...STEPS.flatMap(({ at }) => [null, file(at)]),
      ASK,
    ]);
  });

  it.each([
    ["as they are", (json: string) => json],
    ["in ASCII without escapes", (json: string) => json.replace(/[^\0-\x7f]/g, "?")],
    ["with escapes", (json: string) => json.replace(/[^\0-\x7f]/g, "\\u00e9").replaceAll("/", "\\/")],
  ])("are decided live as the debug endpoint says, written %s", async (_written, write) => {
    const debugged = await gateway.post(
      "/v1/routing/debug",
      write(JSON.stringify({ prompt: " ", ...body })),
      headersOf(path),
    );
    const predicted = ((await debugged.json()) as { decision: Record<string, unknown> }).decision;
    expect((await gateway.post(path, write(JSON.stringify(body)), headersOf(path))).status).toBe(200);
    const listed = (await (await gateway.api("GET", "/api/requests?limit=1")).json()) as { data: { id: string }[] };
    const { decision } = (await (await gateway.api("GET", `/api/requests/${listed.data[0]?.id}`)).json()) as {
      decision: { costEstimateUsd: string; reasoning: string };
    };
    expect(Number(decision.costEstimateUsd)).toBe(predicted.costEstimate);
  });

  it("are refused with a broken escape or byte, before any provider is asked", async () => {
    const json = JSON.stringify(body);
    const at = json.lastIndexOf("return c");
    for (const wrong of ["\\x", "\u0001", "\\u12"]) {
      const broken = await gateway.post(path, json.slice(0, at) + wrong + json.slice(at), headersOf(path));
      expect([wrong, broken.status]).toEqual([wrong, 400]);
    }
    expect(provider.requests).toEqual([]);
  });
});

it("is decided live as it is when given as a prompt", async () => {
  const messages = [{ role: "user", content: file(500) }];
  const headers = headersOf("/v1/messages");
  const debugged = await gateway.post("/v1/routing/debug", { prompt: file(500), max_tokens: 400 }, headers);
  const { decision } = (await debugged.json()) as { decision: { costEstimate: number } };
  const given = await gateway.post("/v1/routing/debug", { prompt: " ", messages, max_tokens: 400 }, headers);
  expect(((await given.json()) as { decision: object }).decision).toMatchObject({
    costEstimate: decision.costEstimate,
  });
});
