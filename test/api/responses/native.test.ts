// A Responses client on a provider of the same format: everything passes byte for byte but the model's name and the
// routing fields.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { sealDetail } from "../../../src/formats/convert/reasoning-details.ts";
import { answers, chunk, fails, sends, streams } from "../../support/providers/fake-provider.ts";
import {
  message,
  reasoning,
  responds,
  respondsItems,
  responseEvents,
  streamsResponse,
} from "../../support/providers/fake-responses.ts";
import {
  outputText,
  type ResponseObject,
  readResponseEvents,
  responseEventsIn,
} from "../../support/providers/responses.ts";
import { direct, type ResponsesGateway, startResponsesGateway } from "./provider-gateway.ts";

let lab: ResponsesGateway;
beforeAll(async () => {
  lab = await startResponsesGateway();
});
beforeEach(() => lab.reset());
afterAll(() => lab.close());

const post = (body: object | string): Promise<Response> => lab.gateway.post("/v1/responses", body);

// Odd spacing, escapes, number forms and fields nobody knows: a parser and a writer would change them all. (Only the white
// space between top-level fields is not kept.)
const FIELDS = `"instructions" : "caf\\u00e9 \\/ ☕","input" :[{"role":"user","content":[{"type":"input_text","text":"Sum\\u0020it up"},{"type":"input_image","image_url":"https://x/y.png","detail":"original"}]},
 {"type":"reasoning","id":"rs_1","summary":[ ],"encrypted_content":"gAAA=="},{"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search","query":"a"}},{"type":"function_call","id":"fc_1","call_id":"call_1","name":"t","arguments":"{\\"n\\":1.0}"},
 {"type":"function_call_output","call_id":"call_1","output":[{"type":"input_text","text":"no"}]}],"tools":[{"type":"web_search","search_context_size":"low"},{"type":"custom","name":"patch","format":{"type":"grammar","syntax":"lark","definition":"s"}},{"type":"function","name":"t","parameters":{"type":"object","properties":{}},"strict":true}],"tool_choice":"auto","reasoning":{"effort":"minimal","summary":"auto"},"include":["reasoning.encrypted_content","web_search_call.action.sources"],"text":{"verbosity":"low"},"truncation":"auto","prompt_cache_key":"k","novel_field":{"a":1e2},"temperature":1.0,"store":false`;

const request = (controls: string, stream: boolean): string =>
  `{"model": "pro"${controls},${FIELDS},"stream":${stream}}`;
const CONTROLS = `,"service_profile":"direct", "service_tier" : "flex","service_max_cost":1.50`;

describe("the request", () => {
  it.each([false, true])("is the client's own, stream %s", async (stream) => {
    const answer = await post(request(CONTROLS, stream));
    expect(answer.status).toBe(200);
    await answer.text();
    const [sent] = lab.responses.requests;
    expect(sent?.raw).toBe(request("", stream).replace('"pro"', '"pro-real"'));
    expect(sent?.path).toBe("/v1/responses");
    expect(sent?.headers.authorization).toBe("Bearer responses-secret");
  });

  it("is stored by the gateway alone, with reasoning that can be sent on", async () => {
    expect((await post({ ...direct("pro"), input: "Hi" })).status).toBe(200);
    expect(lab.responses.requests[0]?.body).toEqual({
      model: "pro-real",
      input: "Hi",
      store: false,
      include: ["reasoning.encrypted_content"],
    });
  });

  it("goes in the client's format to a provider that speaks both", async () => {
    for (const model of ["duo", "only"]) expect((await post({ ...direct(model), input: "Hi" })).status).toBe(200);
    const chat = { ...direct("duo"), messages: [{ role: "user", content: "Hi" }] };
    lab.both.once("duo-real", sends(200, { choices: [{ message: { content: "ok" } }], usage: {} }));
    expect((await lab.gateway.post("/v1/chat/completions", chat)).status).toBe(200);
    expect(lab.both.requests.map(({ path }) => path)).toEqual([
      "/v1/responses",
      "/v1/responses",
      "/v1/chat/completions",
    ]);
  });

  it("with a built-in tool alone goes to a model whose provider runs it", async () => {
    const answer = await post({
      model: "auto",
      input: "Who won today?",
      tools: [{ type: "web_search" }],
      tool_choice: "required",
    });
    expect(answer.status).toBe(200);
    expect(lab.responses.requests[0]?.body.tools).toEqual([{ type: "web_search" }]);
    expect(lab.chat.requests).toHaveLength(0);
  });
});

describe("a built-in tool beside a function", () => {
  const tools = [
    { type: "web_search" },
    { type: "function", name: "f", parameters: { type: "object", properties: {} } },
  ];

  it("is run by a model of the chain whose provider can", async () => {
    const mixed = await startResponsesGateway(["alpha", "pro"]);
    try {
      const answer = await mixed.gateway.post("/v1/responses", { model: "auto", input: "News of today?", tools });
      expect(answer.status).toBe(200);
      expect(((await answer.json()) as ResponseObject).model).toBe("pro");
      expect(mixed.responses.requests[0]?.body.tools).toEqual(tools);
      expect(mixed.chat.requests).toHaveLength(0);
    } finally {
      await mixed.close();
    }
  });

  it.each([false, true])("is left out where no model can run it, and the answer says so, stream %s", async (stream) => {
    const asked = { ...direct("alpha"), input: "News of today?", tools, stream };
    lab.chat.once(
      "alpha-real",
      stream ? streams([chunk("m", { content: "x" }), chunk("m", {}, "stop")]) : answers("x"),
    );
    const answer = await post(asked);
    const response = stream
      ? (responseEventsIn(await answer.text()).at(-1)?.response as ResponseObject)
      : ((await answer.json()) as ResponseObject);
    expect(lab.chat.requests[0]?.body.tools).toMatchObject([{ type: "function" }]);
    const { notes } = response.service as { readonly notes: readonly object[] };
    expect(notes).toContainEqual({ code: "tool_dropped", message: expect.stringContaining("'web_search'") });
  });
});

describe("the answer", () => {
  const INNER = `"output":[ {"type":"reasoning","id":"rs","summary":[],"encrypted_content":"gA+/=="},{"type":"web_search_call","id":"ws","status":"completed"},
 {"type":"message","id":"m","role":"assistant","content":[{"type":"output_text","text":"caf\\u00e9","annotations":[{"type":"url_citation","start_index":1.0}]}]} ],"status" : "completed","error":null,"usage":{"input_tokens":10,"input_tokens_details":{"cached_tokens":4},"output_tokens":9,"total_tokens":19},"novel":1e2`;

  it("is the provider's own", async () => {
    lab.responses.on("*", sends(200, `{"id":"resp_01","object":"response","model" : "pro-real",${INNER}}`));
    const raw = await (await post(request(CONTROLS, false))).text();
    const service = /,?\s*"service":\{(?:[^{}]|\{[^}]*\})*\}/.exec(raw)?.[0] ?? "";
    expect(JSON.parse(raw)).toHaveProperty("service.model", "pro");
    expect(raw.replace(service, "")).toBe(`{"id":"resp_01","object":"response","model" : "pro",${INNER}}`);
  });

  it.each([7, 100_000])("is the provider's own as a stream in pieces of %i bytes", async (size) => {
    const head = (model: string, end: string): string =>
      `event: response.created\ndata: {"type":"response.created","sequence_number":0,"response":{"id":"resp_1","model":"${model}","output":[ ]${end}}}\n\n`;
    const middle = [
      'event: response.output_item.added\ndata: {"type":"response.output_item.added","sequence_number":3,"output_index":0,"item":{"type":"web_search_call","id":"ws"} }\n\n',
      'event: response.web_search_call.searching\ndata: {"type":"response.web_search_call.searching","sequence_number":4,"output_index":0}\n\n',
      'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","sequence_number":7,"output_index":1,"delta":"caf\\u00e9 é","obfuscation":"x"}\n\n',
      'event: novelty\ndata: {"type":"novelty","n":1.0}\n\n',
    ].join("");
    const tail = (model: string, end: string): string =>
      `event: response.completed\ndata: {"type":"response.completed","response":{"id":"resp_1","model":"${model}","status":"completed","usage":{"input_tokens":10, "output_tokens":9}${end}},"sequence_number":8}\n\n`;
    const whole = head("pro-real", "") + middle + tail("pro-real", "");
    lab.responses.on("*", streamsResponse(whole.match(new RegExp(`[\\s\\S]{1,${size}}`, "g")) ?? []));
    const received = await (await post(request(CONTROLS, true))).text();
    const [first, last] = received.match(/,"service":\{(?:[^{}]|\{[^}]*\})*\}/g) ?? [];
    expect(received).toBe(head("pro", first ?? "") + middle + tail("pro", last ?? ""));
    expect(first).toContain('"model":"pro"');
  });

  it("gets usage where the provider gave none", async () => {
    lab.responses.on("*", responds("one two three four", { usage: null }));
    const whole = (await (await post(request(CONTROLS, false))).json()) as { usage: object; service: object };
    expect(whole.usage).toMatchObject({ input_tokens: expect.any(Number), output_tokens: expect.any(Number) });
    expect(whole.service).toMatchObject({ usageEstimated: true });
    const events = await readResponseEvents(await post(request(CONTROLS, true)));
    expect(events.at(-1)).toMatchObject({ response: { usage: whole.usage, service: { usageEstimated: true } } });
  });

  it("that breaks ends with the numbers going on", async () => {
    lab.responses.on(
      "*",
      streamsResponse(responseEvents([message("Hello over there")], "pro-real").slice(0, 6), { ending: "cut" }),
    );
    const events = await readResponseEvents(await post(request(CONTROLS, true)));
    expect(events.slice(-2)).toMatchObject([
      { type: "error" },
      {
        type: "response.failed",
        response: { id: "resp_fake", model: "pro", status: "failed", error: { code: "server_error" } },
      },
    ]);
  });
});

describe("a stored answer", () => {
  const ITEMS = [reasoning(["Hm."], "gA+/=="), message("caf\u00e9")];
  const got = async (path: string): Promise<Record<string, unknown>> =>
    (await (await lab.gateway.get(path)).json()) as Record<string, unknown>;

  it.each([false, true])("has our id, hides what is sealed, and is continued with it, stream %s", async (stream) => {
    lab.responses.on("*", respondsItems(ITEMS));
    const answer = await post({ ...direct("pro"), input: "One", stream });
    const first = (
      stream ? (await readResponseEvents(answer)).at(-1)?.response : await answer.json()
    ) as ResponseObject;
    expect(first).toMatchObject({ store: true, model: "pro", status: "completed" });
    expect(first.id).toMatch(/^resp_[0-9a-f]{48}$/);
    expect(outputText(first)).toBe("caf\u00e9");
    expect(JSON.stringify(first)).not.toContain("gA+/==");
    expect(await got(`/v1/responses/${first.id}`)).toEqual(first);
    const shown = await got(`/v1/responses/${first.id}?include[]=reasoning.encrypted_content`);
    expect(shown.output).toMatchObject([{ type: "reasoning", encrypted_content: "gA+/==" }, { type: "message" }]);

    const next = await post({ ...direct("pro"), input: "Two", previous_response_id: first.id });
    expect(next.status).toBe(200);
    const sent = lab.responses.requests.at(-1)?.body;
    expect(sent).not.toHaveProperty("previous_response_id");
    expect(sent?.store).toBe(false);
    expect(sent?.input).toMatchObject([
      { role: "user" },
      { type: "reasoning", encrypted_content: "gA+/==" },
      { type: "message", role: "assistant" },
      { role: "user" },
    ]);
    // Another vendor's model goes on with the words alone.
    expect((await post({ ...direct("alpha"), input: "Three", previous_response_id: first.id })).status).toBe(200);
    expect(JSON.stringify(lab.chat.requests.at(-1)?.body)).not.toContain("gA+/==");
  });

  it("of the background is the provider's stream, picked up where it was left", async () => {
    lab.responses.on("*", respondsItems(ITEMS));
    const events = await readResponseEvents(
      await post({ ...direct("pro"), input: "One", stream: true, background: true }),
    );
    const last = events.at(-1)?.response as ResponseObject | undefined;
    const id = String(last?.id);
    const replay = await lab.gateway.get(`/v1/responses/${id}?stream=true`);
    expect(responseEventsIn(await replay.text())).toEqual(events);
    expect(await got(`/v1/responses/${id}`)).toMatchObject({ id, status: "completed", background: true });
  });
});

describe("what a model refuses", () => {
  const body = (input: readonly object[], fields = {}): object => ({
    ...direct("pro"),
    input,
    store: false,
    ...fields,
  });
  const rest = { role: "user", content: "again" };

  it("is reasoning that was sealed elsewhere: stripped on a retry, once", async () => {
    lab.responses.once(
      "pro-real",
      fails(400, { code: "invalid_encrypted_content", type: "invalid_request_error", param: null }),
    );
    expect((await post(body([reasoning([], "made-elsewhere"), rest]))).status).toBe(200);
    expect(lab.responses.requests.map(({ body: sent }) => sent.input)).toEqual([
      [reasoning([], "made-elsewhere"), rest],
      [rest],
    ]);
  });

  it("and never gets what the gateway sealed for another format, or what is only a name", async () => {
    const sealed = sealDetail({ type: "reasoning.text", format: "anthropic", text: "Hm.", signature: "Eq" });
    expect((await post(body([reasoning([], sealed), reasoning(["Hm."]), rest]))).status).toBe(200);
    expect(lab.responses.requests.map(({ body: sent }) => sent.input)).toEqual([[rest]]);
  });

  it("is a part of a field, left out on a retry", async () => {
    const error = { code: "unsupported_value", param: "reasoning.summary", type: "invalid_request_error" };
    lab.responses.once("pro-real", fails(400, error));
    expect((await post(body([rest], { reasoning: { effort: "low", summary: "auto" } }))).status).toBe(200);
    expect(lab.responses.requests.map(({ body: sent }) => sent.reasoning)).toEqual([
      { effort: "low", summary: "auto" },
      { effort: "low" },
    ]);
  });

  it("is passed on when the request itself is wrong", async () => {
    lab.responses.once(
      "pro-real",
      fails(400, { message: "Bad tool.", code: "invalid_function_parameters", param: "tools[0]" }),
    );
    const answer = await post(body([rest]));
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({
      error: { message: "Bad tool.", code: "invalid_function_parameters", param: "tools[0]" },
    });
  });

  it("leaves nothing of a failed answer behind", async () => {
    lab.responses.on(
      "*",
      respondsItems([], { extra: { status: "failed", error: { code: "server_error", message: "Sorry" } } }),
    );
    const answer = await post(body([rest]));
    expect(answer.status).toBe(503);
  });
});
