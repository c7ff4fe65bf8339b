// What a Responses request says of things that its provider keeps or calls: stored prompts and MCP servers. A provider of
// the format gets them as they are; without one the client is told. Through the official client.

import OpenAI from "openai";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { type ResponsesGateway, startResponsesGateway } from "./provider-gateway.ts";

let lab: ResponsesGateway;
let client: OpenAI;
beforeAll(async () => {
  // The first model of every chain speaks chat-completions.
  lab = await startResponsesGateway(["alpha", "pro"]);
  client = new OpenAI({ baseURL: `${lab.gateway.url}/v1`, apiKey: lab.gateway.key, maxRetries: 0 });
});
beforeEach(() => lab.reset());
afterAll(() => lab.close());

const PROMPT = { id: "pmpt_1", version: "2", variables: { city: "Paris" } };
const MCP = {
  type: "mcp" as const,
  server_label: "docs",
  server_url: "https://mcp.example",
  require_approval: "never",
};
const LOOK = { type: "function" as const, name: "look", parameters: { type: "object", properties: {} }, strict: true };
type Create = OpenAI.Responses.ResponseCreateParamsNonStreaming;
const asked = (body: object): Create => body as Create;

it.each([
  ["a stored prompt without input", { prompt: PROMPT }],
  ["a stored prompt with a model", { model: "auto", prompt: PROMPT, input: "Now." }],
  ["an MCP server alone", { model: "auto", input: "Look it up.", tools: [MCP] }],
  ["an MCP server beside a function", { model: "auto", input: "Look it up.", tools: [LOOK, MCP] }],
])("%s goes to a provider of the format", async (_name, body) => {
  const answer = await client.responses.create(asked(body));
  expect(answer.model).toBe("pro");
  expect(lab.chat.requests).toHaveLength(0);
  const { model: _, ...fields } = body as { model?: string };
  expect(lab.responses.requests[0]?.body).toMatchObject({ ...fields, model: "pro-real", store: false });
});

it.each([
  ["a stored prompt", { prompt: PROMPT, input: "Now." }, "a stored prompt is kept at its provider"],
  ["an MCP server alone", { input: "Look it up.", tools: [MCP] }, "the tool 'mcp' is run only by providers"],
])("%s is refused with the reason where no such provider is chosen", async (_name, body, reason) => {
  const sent = client.responses.create(asked({ ...body, model: "alpha", service_profile: "direct" }));
  await expect(sent).rejects.toMatchObject({ status: 400, message: expect.stringContaining(reason) });
  expect(lab.chat.requests).toHaveLength(0);
});

it("an MCP server beside a function is dropped with a note where no such provider is chosen", async () => {
  const body = { model: "alpha", service_profile: "direct", input: "Look it up.", tools: [LOOK, MCP] };
  const answer = await client.responses.create(asked(body));
  expect(answer).toMatchObject({ model: "alpha", service: { notes: [{ code: "tool_dropped" }] } });
  expect(JSON.stringify(lab.chat.requests[0]?.body)).not.toContain("mcp");
});
