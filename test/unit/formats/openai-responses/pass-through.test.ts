// The same format at both ends: bytes and events pass as they came, but for the few fields that must change.

import { describe, expect, it } from "vitest";
import { GatewayError } from "../../../../src/core/errors.ts";
import { sealDetail } from "../../../../src/formats/convert/reasoning-details.ts";
import { parseBody } from "../../../../src/formats/json/parse.ts";
import { REASONING_HISTORY } from "../../../../src/formats/openai-responses/faults.ts";
import { passResponsesResponse, passResponsesStream } from "../../../../src/formats/openai-responses/pass-through.ts";
import { responsesProvider } from "../../../../src/formats/openai-responses/provider.ts";
import { createSseReader } from "../../../../src/formats/sse/reader.ts";
import { type ModelOverrides, makeModel } from "../../../support/catalog.ts";
import { wordsOf } from "../../../support/formats/conversions.ts";
import { message, responseEvents, writeEvent } from "../../../support/providers/fake-responses.ts";
import type { Json } from "./provider-exchange.ts";

const CHAT = {
  messages: [],
  tools: [],
  toolChoice: null,
  isStream: false,
  wantsUsage: false,
  maxOutputTokens: null,
  choiceCount: 1,
};

function pass(
  body: object | string,
  model: ModelOverrides = {},
  refusedFields: readonly string[] = [],
  outputCap?: number,
) {
  const parsed = parseBody(Buffer.from(typeof body === "string" ? body : JSON.stringify(body)));
  const request = { ...parsed, chat: CHAT };
  const sent = responsesProvider.passRequest({
    request,
    model: makeModel(model),
    refusedFields,
    outputCap: outputCap ?? null,
  });
  return {
    ...sent,
    conversions: wordsOf(sent),
    text: sent.body.toString(),
    json: JSON.parse(sent.body.toString()) as Json,
  };
}

// Spaces, escapes and number forms that a parser would not give back, and items and fields nobody here knows.
const INNER =
  '"instructions" : "caf\\u00e9","input":[ {"role":"user","content":[{"type":"input_text","text":"a\\/b"}]},{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gAAA"},' +
  '{"type":"function_call","id":"fc_1","call_id":"c","name":"f","arguments":"{\\"big\\":12345678901234567890}"},{"type":"hologram","n":1.0}],' +
  '"tools":[{"type":"web_search","filters":null},{"type":"custom","name":"patch"}],"max_output_tokens":1e3,"text":{"verbosity":"low"},"novel":1e2';

describe("a request", () => {
  it("keeps every byte but the model, the routing fields and what the gateway does itself", () => {
    const sent = pass(
      `{"model": "auto","service_profile":"auto",${INNER},"service_tier":"flex","previous_response_id":"resp_1","conversation":null,"background":true,"store":false}`,
      { upstream: "real", capabilities: ["reasoning"] },
    );
    expect(sent.text).toBe(`{"model": "real",${INNER},"store":false}`);
    expect(sent.path).toBe("/responses");
    expect(sent.droppedFields).toEqual([]);
    expect(sent.conversions).toBeUndefined();
  });

  it.each<[string, Json, ModelOverrides, Json]>([
    ["is never stored there", { store: true }, {}, { store: false }],
    [
      "asks for reasoning that the gateway can store",
      { include: ["file_search_call.results"] },
      { capabilities: ["reasoning"] },
      { include: ["file_search_call.results", "reasoning.encrypted_content"], store: false },
    ],
    ["asks for none where nothing is stored", { store: false }, { capabilities: ["reasoning"] }, { store: false }],
    [
      "lowers a cap the model cannot reach",
      { max_output_tokens: 99_999 },
      {},
      { max_output_tokens: 16_384, store: false },
    ],
    [
      "leaves out and renames what the dialect says",
      { temperature: 1, user: "u" },
      { dialect: { refuses: ["temperature"], renames: { user: "customer" } } },
      { store: false, customer: "u" },
    ],
    [
      "takes the nearest effort",
      { reasoning: { effort: "xhigh", summary: "auto" } },
      { dialect: { efforts: ["low", "high"] } },
      { reasoning: { effort: "high", summary: "auto" }, store: false },
    ],
    [
      "leaves the vendor's own efforts alone",
      { reasoning: { effort: "minimal" } },
      {},
      { reasoning: { effort: "minimal" }, store: false },
    ],
  ])("%s", (_name, fields, model, expected) => {
    expect(pass({ model: "m", input: "Hi", ...fields }, model).json).toEqual({
      model: "model",
      input: "Hi",
      ...expected,
    });
  });

  it("sends the cap that the balance covers", () => {
    expect(pass({ input: "Hi" }, {}, [], 50).json.max_output_tokens).toBe(50);
    expect(pass({ input: "Hi", max_output_tokens: 90 }, {}, [], 50).json.max_output_tokens).toBe(50);
  });

  const own = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "gAAA" };
  const sealed = sealDetail({ type: "reasoning.text", format: "anthropic", text: "Hm.", signature: "Eq" });
  const foreign = { type: "reasoning", id: "rs_2", summary: [], encrypted_content: sealed };
  const bare = {
    type: "reasoning",
    id: "rs_3",
    summary: [{ type: "summary_text", text: "Hm." }],
    encrypted_content: null,
  };
  const rest = { role: "user", content: "Hi" };

  it("loses reasoning that its provider cannot open", () => {
    const sent = pass({ input: [own, foreign, bare, rest] });
    expect(sent.json.input).toEqual([own, rest]);
    expect(sent.conversions).toEqual(["dropped reasoning that another model left behind: this one cannot open it"]);
  });

  it("keeps plain reasoning for a host that takes it", () => {
    expect(pass({ input: [bare, foreign, rest] }, { dialect: { reasoningHistory: "keep" } }).json.input).toEqual([
      bare,
      rest,
    ]);
  });

  it("loses all of it when the provider has refused it", () => {
    expect(pass({ input: [own, rest] }, {}, [REASONING_HISTORY]).json.input).toEqual([rest]);
    const sent = { body: { input: [own] }, chat: CHAT, isNative: true };
    expect(responsesProvider.mayLeaveOut(REASONING_HISTORY, sent)).toBe(true);
    expect(responsesProvider.mayLeaveOut(REASONING_HISTORY, { ...sent, body: { input: "Hi" } })).toBe(false);
  });

  it("loses a part that the provider has refused, and keeps the rest of the field", () => {
    const sent = pass({ input: "Hi", reasoning: { effort: "low", summary: "auto" }, top_p: 1 }, {}, [
      "reasoning.summary",
      "top_p",
    ]);
    expect(sent.json).toEqual({ model: "model", input: "Hi", reasoning: { effort: "low" }, store: false });
    expect(sent.droppedFields).toEqual(["reasoning.summary", "top_p"]);
  });
});

const SERVICE = { model: "ours", tier: "LIGHT" };
const CONTEXT = { requestId: "req-7", modelId: "ours", createdAtSeconds: 1 };
const USAGE = { buckets: { input: 3, cacheRead: 0, cacheWrite: 0, output: 4 }, longCacheWrite: 0, reasoning: 0 };

describe("an answer", () => {
  const BODY =
    '"output":[ {"type":"message","content":[{"type":"output_text","text":"caf\\u00e9"}]},{"type":"hologram","n":1.0}],"status" : "completed","error":null,"novel":1e2';
  const read = (text: string) => {
    const reading = responsesProvider.readResponse(Buffer.from(text));
    if (!reading.ok) throw new Error(reading.fault.message);
    return reading.response;
  };

  it("keeps every byte but the model's name, and gets the service object", () => {
    const given = `{"id":"resp_1","model" : "real",${BODY},"usage":{"input_tokens":1.0,"output_tokens":2}}`;
    const sent = passResponsesResponse(read(given), CONTEXT, { service: SERVICE, usage: null }).toString();
    expect(sent).toBe(
      `{"id":"resp_1","model" : "ours",${BODY},"usage":{"input_tokens":1.0,"output_tokens":2},"service":${JSON.stringify(SERVICE)}}`,
    );
  });

  it("gets usage where the provider gave none", () => {
    const sent = passResponsesResponse(read(`{"model":"real",${BODY}}`), CONTEXT, { service: SERVICE, usage: USAGE });
    expect(JSON.parse(sent.toString())).toMatchObject({
      usage: { input_tokens: 3, output_tokens: 4, total_tokens: 7 },
    });
  });
});

describe("a stream", () => {
  const created = (model: string, end: string): string =>
    `event: response.created\ndata: {"type":"response.created","response":{"id":"resp_1","model" : "${model}","output":[ ]${end}},"sequence_number":0}\n\n`;
  const progress = (model: string): string =>
    `event: response.in_progress\ndata: {"type":"response.in_progress","response":{"id":"resp_1","model":"${model}"},"sequence_number":1}\n\n`;
  const completed = (model: string, end: string): string =>
    `event: response.completed\ndata: {"type":"response.completed","sequence_number":9,"response":{"id":"resp_1","model":"${model}","status":"completed"${end}}}\n\n`;
  const MIDDLE =
    'event: response.output_item.added\ndata: {"type":"response.output_item.added","output_index":0,"item":{"type":"web_search_call","id":"ws_1"} }\n\n' +
    'event: response.web_search_call.searching\ndata: {"type":"response.web_search_call.searching","n":1.0}\n\n' +
    'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","delta":"caf\\u00e9 é","obfuscation":"xY"}\n\n' +
    'event: response.novelty\ndata: {"type":"response.novelty",\ndata: "n":1e2}\n\n';
  const COUNTED = ',"usage":{"input_tokens":3, "output_tokens":4}';

  function relay(text: string, size = text.length): { sent: string; end: string } {
    const reader = responsesProvider.streamReader(createSseReader());
    const writer = passResponsesStream(CONTEXT, { service: SERVICE, wantsUsage: true });
    const bytes = Buffer.from(text);
    let sent = "";
    for (let from = 0; from < bytes.length; from += size)
      sent += writer.write(reader.push(bytes.subarray(from, from + size)));
    sent += writer.write(reader.end());
    return { sent, end: writer.end({ ...SERVICE, settled: true }, reader.progress.usage ?? USAGE) };
  }

  it.each([1, 7, 100_000])("keeps every byte of every event in pieces of %i bytes", (size) => {
    const given = created("real", "") + progress("real") + MIDDLE + completed("real", COUNTED);
    const { sent, end } = relay(given, size);
    const service = JSON.stringify(SERVICE);
    expect(sent).toBe(created("ours", `,"service":${service}`) + progress("ours") + MIDDLE);
    expect(end).toBe(completed("ours", `${COUNTED},"service":${service.slice(0, -1)},"settled":true}`));
  });

  it("gets usage where the provider gave none", () => {
    const { end } = relay(created("real", "") + MIDDLE + completed("real", ""));
    expect(end).toContain('"usage":{"input_tokens":3,');
  });

  it("that breaks fails with the next number and the response it began with", () => {
    const writer = passResponsesStream(CONTEXT, { service: SERVICE, wantsUsage: true });
    const reader = responsesProvider.streamReader(createSseReader());
    const events = responseEvents([message("Hello there")], "real").slice(0, 6);
    writer.write(reader.push(Buffer.from(events.map(writeEvent).join(""))));
    const failure = writer.fail(new GatewayError("providersFailed", "It broke.", { code: "stream_interrupted" }));
    const [error, failed] = failure.split("\n\n").map((event) => event.split("\ndata: "));
    expect([error?.[0], failed?.[0]]).toEqual(["event: error", "event: response.failed"]);
    expect(JSON.parse(error?.[1] ?? "")).toMatchObject({
      type: "error",
      sequence_number: 6,
      error: { message: "It broke." },
    });
    expect(JSON.parse(failed?.[1] ?? "")).toMatchObject({
      type: "response.failed",
      sequence_number: 7,
      response: {
        id: "resp_fake",
        model: "ours",
        status: "failed",
        error: { code: "server_error", message: "It broke." },
        service: SERVICE,
      },
    });
  });
});
