// A Messages client on a native provider: everything passes byte for byte but the model's name and the routing fields.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { failsNatively, saysBlocks, streamsEvents, text, thinking } from "../../support/providers/fake-anthropic.ts";
import { sends } from "../../support/providers/fake-provider.ts";
import { type Mixed, startMixed } from "../../support/providers/mixed.ts";

let mixed: Mixed;
beforeAll(async () => {
  mixed = await startMixed();
});
beforeEach(() => mixed.reset());
afterAll(() => mixed.close());

const post = (raw: string, headers = {}): Promise<Response> => mixed.gateway.post("/v1/messages", raw, headers);

// Odd spacing, escapes, number forms and fields nobody knows: a parser and a writer would change them all. (Only the white
// space between top-level fields is not kept.)
const FIELDS = `"max_tokens" : 1024,"system":[ {"type":"text","text":"caf\\u00e9 \\/ ☕","cache_control":{"type":"ephemeral","ttl":"1h"}}],"messages" :[{"role":"user","content":[{"type":"document","source":{"type":"url","url":"https://x/y.pdf"},"citations":{"enabled":true}},{"type":"text","text":"Sum\\u0020it up"}]},
 {"role":"assistant","content":[{"type":"thinking","thinking":"Hm.","signature":"EqQB=="},{"type":"redacted_thinking","data":"x"},{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"a"}},{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[{"type":"web_search_result","encrypted_content":"e"}]},{"type":"tool_use","id":"toolu_1","name":"t","input":{"n":1.0,"big":12345678901234567890}}]},
 {"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","is_error":true,"content":[{"type":"text","text":"no"}]}]}],"tools":[{"type":"web_search_20250305","name":"web_search","max_uses":5},{"name":"t","input_schema":{"type":"object","properties":{"n":{"type":"number"}}},"strict":true}],"tool_choice":{"type":"auto","disable_parallel_tool_use":true},"thinking":{"type":"adaptive","display":"omitted"},"output_config":{"effort":"high"},"context_management":{"edits":[ ]},"container":null,"novel_field":{"a":1e2},"metadata":{"user_id":"u"},"stop_sequences":["\\n\\nHuman:"],"temperature":1.0`;

const request = (controls: string, stream: boolean): string =>
  `{"model": "claude"${controls},${FIELDS},"stream":${stream}}`;
const CONTROLS = `,"service_profile":"direct", "service_tier" : "auto","service_max_cost":1.50`;

/** The gateway's own field, with its notes. */
const SERVICE = /,"service":\{(?:[^{}]|\{[^}]*\})*\}/g;

describe("the request", () => {
  it.each([false, true])("is the client's own, stream %s", async (stream) => {
    const answer = await post(request(CONTROLS, stream));
    expect(answer.status).toBe(200);
    await answer.text();
    const sent = mixed.anthropic.requests[0];
    expect(sent?.raw).toBe(request("", stream).replace('"claude"', '"claude-real-1"'));
  });
});

describe("the answer", () => {
  const INNER = `"content":[ {"type":"thinking","thinking":"H\\u006dm","signature":"EqQB+/=="},{"type":"server_tool_use","id":"s","name":"web_search","input":{}},
 {"type":"text","text":"caf\\u00e9","citations":[{"type":"page_location","start_page_number":1.0}]} ],"stop_reason" : "pause_turn","stop_sequence":null,"stop_details":null,"usage":{"input_tokens":10,"cache_creation_input_tokens":5,"cache_read_input_tokens":7,"cache_creation":{"ephemeral_5m_input_tokens":5,"ephemeral_1h_input_tokens":0},"output_tokens":9,"server_tool_use":{"web_search_requests":1},"service_tier":"standard"},"novel":1e2`;

  it("is the provider's own", async () => {
    mixed.anthropic.on(
      "*",
      sends(200, `{"id":"msg_01","type":"message","role":"assistant","model" : "claude-real-1",${INNER}}`),
    );
    const raw = await (await post(request(CONTROLS, false))).text();
    const service = /,?\s*"service":\{[^}]*\}/.exec(raw)?.[0] ?? "";
    expect(JSON.parse(raw)).toHaveProperty("service.model", "claude");
    expect(raw.replace(service, "")).toBe(
      `{"id":"msg_01","type":"message","role":"assistant","model" : "claude",${INNER}}`,
    );
  });

  it("is the provider's own as a stream, also in pieces", async () => {
    const rest = [
      'event: ping\ndata: {"type": "ping"}\n\n',
      'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}\n\n',
      'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"H\\u006d"} }\n\n',
      'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"EqQB+/=="}}\n\n',
      'event: content_block_stop\ndata: {"type":"content_block_stop","index":0 }\n\n',
      'event: content_block_start\ndata: {"type":"content_block_start","index":1,"content_block":{"type":"server_tool_use","id":"s","name":"web_search","input":{}}}\n\n',
      'event: content_block_stop\ndata: {"type":"content_block_stop","index":1}\n\n',
      'event: content_block_start\ndata: {"type":"content_block_start","index":2,"content_block":{"type":"text","text":"","citations":[]}}\n\n',
      'event: content_block_delta\ndata: {"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"caf\\u00e9 é"}}\n\n',
      'event: content_block_stop\ndata: {"type":"content_block_stop","index":2}\n\n',
      'event: novelty\ndata: {"type":"novelty","n":1.0}\n\n',
      'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":9, "input_tokens":10}}\n\n',
      'event: message_stop\ndata: {"type":"message_stop"}\n\n',
    ];
    const start = (model: string, end: string): string =>
      `event: message_start\ndata: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"${model}","content":[ ],"stop_reason":null,"usage":{"input_tokens":10,"output_tokens":1}${end}}}\n\n`;
    const whole = [start("claude-real-1", ""), ...rest].join("");
    for (const size of [7, 100_000]) {
      const pieces = whole.match(new RegExp(`[^]{1,${size}}`, "g")) ?? [];
      mixed.anthropic.on("*", streamsEvents(pieces));
      const received = await (await post(request(CONTROLS, true))).text();
      const services = received.match(SERVICE) ?? [];
      expect(services).toHaveLength(2);
      expect(received.indexOf(services[1] as string)).toBeGreaterThan(received.indexOf("event: message_stop"));
      expect(received.replaceAll(SERVICE, "")).toBe([start("claude", ""), ...rest].join(""));
    }
  });

  it("gets usage where the provider gave none", async () => {
    mixed.anthropic.on("*", saysBlocks([text("one two three four")], { usage: null }));
    const message = (await (await post(request(CONTROLS, false))).json()) as { usage: object; service: object };
    expect(message.usage).toMatchObject({ input_tokens: expect.any(Number), output_tokens: expect.any(Number) });
    expect(message.service).toMatchObject({ usageEstimated: true });
  });

  it.each([undefined, null, {}])("gets the counted end of a stream whose own has the usage %j", async (usage) => {
    const delta = { stop_reason: "end_turn", stop_sequence: null };
    const events: object[] = [
      { type: "message_start", message: { id: "m", content: [], usage: { input_tokens: 10, output_tokens: 1 } } },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "one two" } },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta, usage },
      { type: "message_stop" },
    ];
    mixed.anthropic.on("*", streamsEvents(events.map((event) => `data: ${JSON.stringify(event)}\n\n`)));
    const received = await (await post(request(CONTROLS, true))).text();
    const end = /event: message_delta\ndata: (.*)\n/.exec(received)?.[1] ?? "{}";
    const counted = { input_tokens: expect.any(Number), output_tokens: 2 };
    expect(JSON.parse(end)).toMatchObject({ type: "message_delta", delta, usage: counted });
    const plain = received.replaceAll(SERVICE, "");
    expect(plain.endsWith('event: message_stop\ndata: {"type":"message_stop"}\n\n')).toBe(true);
  });
});

describe("what a model refuses", () => {
  const body = (fields: object): string =>
    JSON.stringify({
      model: "claude",
      service_profile: "direct",
      max_tokens: 50,
      messages: [{ role: "user", content: "hi" }],
      ...fields,
    });

  it("is left out on a retry, once", async () => {
    mixed.anthropic.once("claude-real-1", failsNatively(400, "context_management: Extra inputs are not permitted"));
    const answer = await post(body({ context_management: { edits: [] } }));
    expect(answer.status).toBe(200);
    expect(mixed.anthropic.requests.map(({ body: sent }) => "context_management" in sent)).toEqual([true, false]);
  });

  it("is thinking of another model: stripped on a retry when its signature is refused", async () => {
    const messages = [
      { role: "user", content: "hi" },
      { role: "assistant", content: [thinking("Hm.", "made-elsewhere"), text("Hello.")] },
      { role: "user", content: "again" },
    ];
    mixed.anthropic.once(
      "claude-real-1",
      failsNatively(400, "messages.1.content.0: Invalid `signature` in `thinking` block"),
    );
    expect((await post(body({ messages }))).status).toBe(200);
    expect(mixed.anthropic.requests.map(({ raw }) => raw.includes("made-elsewhere"))).toEqual([true, false]);
  });
});
