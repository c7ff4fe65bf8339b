// The response object has every field that the Open Responses specification requires, in each of its states.

import { afterAll, beforeAll, expect, it } from "vitest";
import { answers, chunk, streams } from "../../support/providers/fake-provider.ts";
import { type Mixed, startMixed } from "../../support/providers/mixed.ts";
import { finalResponse, type ResponseObject, readResponseEvents } from "../../support/providers/responses.ts";

let mixed: Mixed;
beforeAll(async () => {
  mixed = await startMixed();
});
afterAll(() => mixed.close());

/** `required` of ResponseResource in the specification, 15 July 2026. */
const REQUIRED = [
  ...["id", "object", "created_at", "completed_at", "status", "incomplete_details", "model", "previous_response_id"],
  ...["instructions", "output", "error", "tools", "tool_choice", "truncation", "parallel_tool_calls", "text", "top_p"],
  ...["presence_penalty", "frequency_penalty", "top_logprobs", "temperature", "reasoning", "user", "usage"],
  ...["max_output_tokens", "max_tool_calls", "store", "background", "service_tier", "metadata", "safety_identifier"],
  "prompt_cache_key",
];
const TOOL = { type: "function", name: "find" };
const ASK = { model: "alpha", service_profile: "direct", input: "Hi", tools: [TOOL], presence_penalty: 0.5 };
const ECHOED = {
  ...{ presence_penalty: 0.5, frequency_penalty: 0, service_tier: "default" },
  tools: [{ ...TOOL, description: null, parameters: null, strict: null }],
};

const post = (body: object): Promise<Response> => mixed.gateway.post("/v1/responses", body);

function check(response: ResponseObject, state: object): void {
  expect(Object.keys(response)).toEqual(expect.arrayContaining(REQUIRED));
  expect(response).toMatchObject({ ...ECHOED, ...state });
}

it("is complete in a whole answer, and the penalties reach the provider", async () => {
  mixed.openai.once("alpha-1", answers("Hello."));
  const response = (await (await post(ASK)).json()) as ResponseObject;
  check(response, { status: "completed", completed_at: expect.any(Number) });
  expect(response.completed_at).toBeGreaterThanOrEqual(Number(response.created_at));
  expect(mixed.openai.requests.at(-1)?.body).toMatchObject({ presence_penalty: 0.5 });
});

it("is complete in every event of a stream", async () => {
  mixed.openai.once("alpha-1", streams([chunk("alpha-1", { content: "Hello." }), chunk("alpha-1", {}, "stop")]));
  const events = await readResponseEvents(await post({ ...ASK, stream: true }));
  for (const { response } of events.filter((event) => event.type === "response.created")) {
    check(response as ResponseObject, { status: "in_progress", completed_at: null });
  }
  check(finalResponse(events), { status: "completed", completed_at: expect.any(Number) });
});

it("is complete where it is cut, and has not come to its end", async () => {
  mixed.openai.once("alpha-1", streams([chunk("alpha-1", { content: "Hello." }), chunk("alpha-1", {}, "length")]));
  const events = await readResponseEvents(await post({ ...ASK, stream: true }));
  check(finalResponse(events), { status: "incomplete", completed_at: null });
});

it("is complete while it is queued", async () => {
  mixed.openai.once("alpha-1", answers("Hello."));
  const response = (await (await post({ ...ASK, background: true })).json()) as ResponseObject;
  check(response, { status: "queued", completed_at: null });
});

it("has the client's own tools where nothing is left out of them", async () => {
  mixed.openai.once("alpha-1", answers("Hello."));
  const tools = [{ ...TOOL, description: "Finds", parameters: { type: "object", properties: {} }, strict: true }];
  const response = (await (await post({ ...ASK, tools })).json()) as ResponseObject;
  expect(response.tools).toEqual(tools);
});
