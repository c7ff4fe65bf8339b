// What a provider receives: the client's own bytes without the gateway's fields, and nothing of the client's headers.
// Behaviour 2.2.

import { type AddressInfo, createServer } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { HELLO, labYaml, startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { fc } from "../../support/property.ts";
import { type FakeProvider, startFakeProvider } from "../../support/providers/fake-provider.ts";

let provider: FakeProvider;
let gateway: TestGateway;
beforeAll(async () => {
  provider = await startFakeProvider();
  const env = { SWITCHYARD_REQUESTS_PER_MINUTE: "100000" };
  gateway = await startGateway({ yaml: labYaml(provider.url).replaceAll("json]", "json, audio]"), env });
});
afterEach(() => provider.reset());
afterAll(async () => {
  await gateway.stop();
  await provider.close();
});

async function forwarded(body: unknown, headers: Record<string, string> = {}): Promise<string> {
  provider.requests.length = 0;
  const answer = await gateway.post("/v1/chat/completions", body, headers);
  expect([answer.status, await answer.text()]).toEqual([200, expect.any(String)]);
  return provider.requests[0]?.raw as string;
}

const MESSAGES = '"messages":[{"role":"user","content":"Hi"}]';

describe("service_ fields", () => {
  it.each([
    [
      "every control",
      '{"service_tier_floor":"LIGHT","service_max_cost":1,"service_code_quality":1,"service_profile":"auto"',
    ],
    ["unknown ones", '{"service_anything":1,"service_":{"deep":[1,2,{"x":"}"}]}'],
    ["escaped names", '{"\\u0073ervice_tier":"x","servic\\u0065_x":1,"service\\u005fy":2'],
    ["repeats", '{"service_tier":"flex","service_tier":"auto","\\u0073ervice_tier":"default"'],
    ["spaces around", '{ "service_x" \n:\t 5 '],
  ])("never leave: %s", async (_name, opening) => {
    expect(await forwarded(`${opening},${MESSAGES}}`)).toBe(`{${MESSAGES},"model":"alpha"}`);
    expect(await forwarded(`{${MESSAGES},${opening.slice(1).trim()}}`)).toBe(`{${MESSAGES},"model":"alpha"}`);
  });

  it("are top-level fields only: a text or a tool may name them", async () => {
    const tool = { type: "function", function: { name: "service_x", parameters: { properties: { service_y: {} } } } };
    const body = { model: "auto", messages: [{ role: "user", content: "service_z", service_note: 1 }], tools: [tool] };
    expect(JSON.parse(await forwarded(body))).toEqual({ ...body, model: "alpha" });
  });

  it("may stand between others in any number", async () => {
    const name = fc.oneof(fc.constantFrom("service_a", "service_profile_x", "x", "y", "seed", "user"), fc.string());
    const field = fc.tuple(name, fc.jsonValue({ maxDepth: 2 }));
    const reserved = new Set(["messages", "model", "tools", "functions", "n", "stream", "stream_options"]);
    await fc.assert(
      fc.asyncProperty(fc.array(field, { maxLength: 8 }), fc.nat(8), async (fields, place) => {
        const kept = fields.filter(([key]) => !reserved.has(key) && !/^(max_|__proto__$|toString$)/.test(key));
        const texts = kept.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`);
        const sent = JSON.parse(
          await forwarded(`{${[...texts.slice(0, place), MESSAGES, ...texts.slice(place)].join(", ")}}`),
        );
        const expected = Object.fromEntries(kept.filter(([key]) => !key.startsWith("service_")));
        expect(sent).toEqual({
          ...JSON.parse(JSON.stringify(expected)),
          ...JSON.parse(`{${MESSAGES}}`),
          model: "alpha",
        });
      }),
      { numRuns: 60 },
    );
  });
});

describe("everything else", () => {
  it("is forwarded byte for byte, in its order", async () => {
    const before = '"zeta" : 1e3,\n  "temperature":1.0, "big":12345678901234567890, "small":-0.0, "tiny":1E-7';
    const after =
      '"naïve":"é\\u00e9\\/😀\\ud83d\\ude00", "nested":{"b":1,"a":[1.50,{"service_x":1}]}, "metadata":{"k":"v"}, "none":null';
    const sent = await forwarded(`{${before}, "model": "auto", ${MESSAGES}, ${after}}`);
    expect(sent).toBe(`{${before}, "model": "alpha",${MESSAGES}, ${after}}`);
  });

  it("passes untouched: roles, parts, tools, choices, formats, sounds, files", async () => {
    const body = {
      model: "auto",
      messages: [
        { role: "developer", content: "Be brief." },
        { role: "system", content: [{ type: "text", text: "And kind.", cache_control: { type: "ephemeral" } }] },
        {
          role: "user",
          name: "anna",
          content: [
            { type: "text", text: "What is this?" },
            { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=", detail: "low" } },
            { type: "input_audio", input_audio: { data: "UklGRg==", format: "wav" } },
            { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,JVBERg==" } },
          ],
        },
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id: "call_1", type: "function", function: { name: "look", arguments: '{ "at" : 1.0 }' } }],
        },
        { role: "tool", tool_call_id: "call_1", content: "a cat" },
        { role: "function", name: "old", content: "x" },
        { role: "user", content: "So?" },
      ],
      tools: [{ type: "function", function: { name: "look", strict: true, parameters: { type: "object" } } }],
      tool_choice: { type: "function", function: { name: "look" } },
      parallel_tool_calls: false,
      response_format: { type: "json_schema", json_schema: { name: "r", strict: true, schema: { type: "object" } } },
      n: 2,
      logprobs: true,
      top_logprobs: 5,
      logit_bias: { "50256": -100 },
      modalities: ["text", "audio"],
      audio: { voice: "alloy", format: "mp3" },
      prediction: { type: "content", content: "x" },
      reasoning_effort: "low",
      seed: 7,
      stop: ["\n", "END"],
      user: "u-1",
      web_search_options: {},
    };
    const text = JSON.stringify(body);
    expect(await forwarded(text)).toBe(text.replace('"model":"auto"', '"model":"alpha"'));
  });

  it("that is repeated goes once, as the gateway has read it", async () => {
    const sent = await forwarded(
      `{"max_tokens":5,"messages":[{"role":"user","content":"first"}],${MESSAGES},"max_tokens":7}`,
    );
    expect(sent).toBe(`{${MESSAGES},"max_tokens":7,"model":"alpha"}`);
  });

  it("goes to the provider's own path under its own name for the model", async () => {
    await forwarded(HELLO);
    expect(provider.requests[0]?.path).toBe("/v1/chat/completions");
  });
});

describe("headers", () => {
  it("of the client stay here; the provider gets its own key", async () => {
    await forwarded(HELLO, {
      cookie: "session=secret",
      "x-api-key": "client-key",
      "x-forwarded-for": "1.2.3.4",
      "x-request-id": "mine",
      "x-stainless-lang": "js",
      "openai-organization": "org-1",
      "openai-beta": "assistants=v2",
      "user-agent": "client/1",
      referer: "https://client.example",
      traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    });
    const { headers } = provider.requests[0] as { headers: Record<string, string> };
    expect(headers.authorization).toBe("Bearer lab-secret");
    expect(Object.keys(headers).sort()).toEqual([
      "accept",
      "accept-encoding",
      "authorization",
      // The gateway's own, for an address that is not a vendor's.
      "cdn-loop",
      "connection",
      "content-length",
      "content-type",
      "host",
      "user-agent",
    ]);
    expect(JSON.stringify(headers)).not.toMatch(/client|session|mine|1\.2\.3\.4|sk-service/);
  });

  it("of the provider stay there", async () => {
    provider.on("*", ({ response }) => {
      response.writeHead(200, { "content-type": "application/json", "set-cookie": "a=b", "x-provider": "secret" });
      response.end(
        '{"choices":[{"index":0,"message":{"role":"assistant","content":"x"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}',
      );
    });
    const answer = await gateway.post("/v1/chat/completions", HELLO);
    expect([answer.headers.get("set-cookie"), answer.headers.get("x-provider")]).toEqual([null, null]);
  });
});

describe("a long body", () => {
  it("is sent with its length, and every byte of its content", async () => {
    const content = JSON.stringify("é\n".repeat(100_000)).replace("é", "\\u00e9");
    const messages = `"messages":[{"role":"user","content":${content}}]`;
    const raw = await forwarded(`{"service_x":1,"model":"auto",${messages},"seed":7}`);
    expect(raw).toBe(`{"model":"alpha",${messages},"seed":7}`);
    const { headers } = provider.requests[0] as (typeof provider.requests)[0];
    expect(headers["content-length"]).toBe(String(Buffer.byteLength(raw)));
    expect(headers["transfer-encoding"]).toBeUndefined();
  });

  it("may be answered before it is read", async () => {
    const hasty = createServer((socket) => {
      const answer = '{"error":{"message":"Too long.","code":"context_length_exceeded"}}';
      socket.once("data", () => {
        socket.pause();
        socket.write(
          `HTTP/1.1 413 X\r\ncontent-type: application/json\r\ncontent-length: ${answer.length}\r\n\r\n${answer}`,
        );
      });
    });
    await new Promise<void>((resolve) => hasty.listen(0, "127.0.0.1", resolve));
    const { port } = hasty.address() as AddressInfo;
    const other = await startGateway({ yaml: labYaml(`http://127.0.0.1:${port}/v1`) });
    try {
      const body = { ...HELLO, note: "x".repeat(8_000_000) };
      for (let time = 0; time < 3; time += 1) {
        const answer = await other.post("/v1/chat/completions", body);
        expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining("Too long.")]);
      }
    } finally {
      await other.stop();
      hasty.close();
    }
  });
});
