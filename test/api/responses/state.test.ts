// Stored responses through the official client: chains across vendors, reading, deleting, and whose they are.
// Behaviour 10.

import { readFileSync } from "node:fs";
import OpenAI from "openai";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openDb } from "../../../src/store/db.ts";
import { filesOf } from "../../../src/store/sqlite/part-files.ts";
import { saysBlocks, text, thinking, toolUse } from "../../support/providers/fake-anthropic.ts";
import { answers, completion, fails, sends } from "../../support/providers/fake-provider.ts";
import { type Mixed, startMixed } from "../../support/providers/mixed.ts";
import { finalResponse, type ResponseObject, responseEventsIn } from "../../support/providers/responses.ts";
import { contentsUrlOf } from "../../support/stores/stores.ts";

let mixed: Mixed;
let client: OpenAI;
let stranger: OpenAI;
beforeAll(async () => {
  mixed = await startMixed({ database: "file" });
  const of = (apiKey: string) => new OpenAI({ baseURL: `${mixed.gateway.url}/v1`, apiKey, maxRetries: 0 });
  client = of(mixed.gateway.key);
  const { gateway } = mixed;
  const { id } = (await (await gateway.api("POST", "/api/accounts", { name: "Eve" })).json()) as { id: string };
  const made = await gateway.api("POST", `/api/keys?account=${id}`, { name: "stranger" });
  await gateway.api("POST", `/api/credits/topups?account=${id}`, { amountUsd: "10" });
  stranger = of(((await made.json()) as { key: string }).key);
});
beforeEach(() => mixed.reset());
afterAll(() => mixed.close());

type Create = OpenAI.Responses.ResponseCreateParamsNonStreaming;

/** `direct` names the model, which the library has no field for. */
const on = (model: string): Create => ({ model, service_profile: "direct" }) as Create;
const sent = (requests: Mixed["openai"]["requests"]): string => JSON.stringify(requests.at(-1)?.body.messages);

const WEATHER = {
  type: "function" as const,
  name: "get_weather",
  strict: false,
  description: "The weather of a city",
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
};

describe("a chain", () => {
  it("goes on over three turns with a tool loop, from a chat model to a Messages model", async () => {
    const call = { id: "call_1", type: "function", function: { name: "get_weather", arguments: '{"city":"Paris"}' } };
    const message = { role: "assistant", content: null, tool_calls: [call] };
    const choices = [{ index: 0, message, finish_reason: "tool_calls" }];
    mixed.openai.once("alpha-1", sends(200, completion("", "alpha-1", { choices })));
    const first = await client.responses.create({
      ...on("alpha"),
      instructions: "Answer in French.",
      input: "What is the weather in Paris?",
      tools: [WEATHER],
    });
    expect(first).toMatchObject({ store: true, previous_response_id: null });
    const [toolCall] = first.output;
    expect(toolCall).toMatchObject({ type: "function_call", name: "get_weather" });
    const { call_id } = toolCall as OpenAI.Responses.ResponseFunctionToolCall;

    mixed.anthropic.once("claude-real-1", saysBlocks([thinking("Sunny it is.", "signed"), text("It is sunny.")]));
    const second = await client.responses.create({
      ...on("claude"),
      previous_response_id: first.id,
      input: [{ type: "function_call_output", call_id, output: "sunny, 21 degrees" }],
      tools: [WEATHER],
    });
    expect(second).toMatchObject({ previous_response_id: first.id, output_text: "It is sunny." });
    const toClaude = mixed.anthropic.requests.at(-1)?.body;
    expect(JSON.stringify(toClaude?.messages)).toContain("What is the weather in Paris?");
    expect(JSON.stringify(toClaude?.messages)).toContain("sunny, 21 degrees");
    expect(JSON.stringify(toClaude)).toContain('"tool_use"');
    // Instructions belong to one response.
    expect(JSON.stringify(toClaude)).not.toContain("Answer in French.");
    expect(JSON.stringify(toClaude)).not.toContain("previous_response_id");

    mixed.anthropic.once("claude-real-1", saysBlocks([text("Yes, take a hat.")]));
    const third = await client.responses.create({ ...on("claude"), previous_response_id: second.id, input: "A hat?" });
    expect(third.output_text).toBe("Yes, take a hat.");
    const history = JSON.stringify(mixed.anthropic.requests.at(-1)?.body.messages);
    for (const words of ["weather in Paris", "sunny, 21", "It is sunny.", "A hat?"]) expect(history).toContain(words);
    // The vendor's signed reasoning is brought back to it, though the client never asked for it.
    expect(history).toContain("signed");
    expect(JSON.stringify(second)).not.toContain("encrypted_content");
  });

  it("goes on after a stream, and shows encrypted reasoning only where it is asked for", async () => {
    mixed.anthropic.on("claude-real-1", saysBlocks([thinking("Hm.", "sealed-thought"), text("Blue.")]));
    const body = { ...on("claude"), input: "Colour?", stream: true };
    const plain = await (await mixed.gateway.post("/v1/responses", body)).text();
    expect(plain).not.toContain("encrypted_content");
    const { id } = finalResponse(responseEventsIn(plain));
    const asked = await (
      await mixed.gateway.post("/v1/responses", { ...body, include: ["reasoning.encrypted_content"] })
    ).text();
    expect(asked).toContain("encrypted_content");
    finalResponse(responseEventsIn(asked));
    expect(JSON.stringify(await client.responses.retrieve(id))).not.toContain("encrypted_content");
    const shown = await client.responses.retrieve(id, { include: ["reasoning.encrypted_content"] });
    expect(JSON.stringify(shown)).toContain("encrypted_content");
    await client.responses.create({ ...on("claude"), previous_response_id: id, input: "Why?" });
    expect(JSON.stringify(mixed.anthropic.requests.at(-1)?.body.messages)).toContain("sealed-thought");
  });

  it("resolves items by reference, as the AI SDK sends them", async () => {
    mixed.openai.on("*", answers("Forty-two."));
    const first = await client.responses.create({ ...on("alpha"), input: "The answer?" });
    await client.responses.create({
      ...on("alpha"),
      input: [
        { role: "user", content: "The answer?" },
        { type: "item_reference", id: first.output[0]?.id as string },
        { role: "user", content: "Really?" },
      ],
    });
    expect(sent(mixed.openai.requests)).toContain("Forty-two.");
    const reference = { type: "item_reference" as const, id: first.output[0]?.id as string };
    await expect(stranger.responses.create({ ...on("alpha"), input: [reference] })).rejects.toMatchObject({
      status: 404,
      code: "item_not_found",
    });
  });

  it("is decided by its whole length, in the debug endpoint too", async () => {
    mixed.openai.on("*", answers("ok"));
    const first = await client.responses.create({ ...on("alpha"), input: "history words" });
    const body = { model: "auto", input: "hi", prompt: "hi", previous_response_id: first.id };
    const debug = await (await mixed.gateway.post("/v1/routing/debug", body)).json();
    expect(debug).toHaveProperty("decision.tier");
    const missing = await mixed.gateway.post("/v1/routing/debug", { ...body, previous_response_id: "resp_none" });
    expect(missing.status).toBe(400);
  });
});

describe("ids that cannot be continued", () => {
  const refused = { status: 400, code: "previous_response_not_found", param: "previous_response_id" };
  const continueFrom = (id: string, who = client) =>
    who.responses.create({ ...on("alpha"), previous_response_id: id, input: "And?" });

  it("unknown, another account's, deleted, or with a deleted one before it", async () => {
    mixed.openai.on("*", answers("ok"));
    const first = await client.responses.create({ ...on("alpha"), input: "One" });
    const second = await continueFrom(first.id);
    await expect(continueFrom("resp_unknown")).rejects.toMatchObject(refused);
    await expect(continueFrom(second.id, stranger)).rejects.toMatchObject(refused);
    await client.responses.delete(first.id);
    await expect(continueFrom(second.id)).rejects.toMatchObject(refused);
    // Its own content is still there.
    expect(await client.responses.retrieve(second.id)).toMatchObject({ id: second.id });
  });

  it("one that was not stored", async () => {
    mixed.openai.on("*", answers("ok"));
    const first = await client.responses.create({ ...on("alpha"), input: "One", store: false });
    expect(first).toHaveProperty("store", false);
    await expect(continueFrom(first.id)).rejects.toMatchObject(refused);
    await expect(client.responses.retrieve(first.id)).rejects.toMatchObject({ status: 404 });
  });

  it("one that failed is not stored at all", async () => {
    mixed.openai.on("*", fails(500));
    await expect(client.responses.create({ ...on("alpha"), input: "One" })).rejects.toMatchObject({ status: 503 });
  });

  it("both kinds of history at once, and fields of a wrong type", async () => {
    const bodies = [
      { previous_response_id: "resp_1", conversation: "conv_1" },
      { previous_response_id: 7 },
      { conversation: 7 },
      { store: "yes" },
      { background: true, store: false },
    ];
    for (const body of bodies) {
      const response = await mixed.gateway.post("/v1/responses", { ...on("alpha"), input: "Hi", ...body });
      expect([body, response.status]).toEqual([body, 400]);
    }
    expect(mixed.openai.requests).toHaveLength(0);
  });
});

describe("a stored response", () => {
  it("is read as it was answered, with its input, and replayed as a stream", async () => {
    mixed.openai.on("*", answers("Paris."));
    const created = await client.responses.create({
      ...on("alpha"),
      input: "Capital of France?",
      metadata: { a: "b" },
    });
    expect(await client.responses.retrieve(created.id)).toEqual(created);
    const items = await client.responses.inputItems.list(created.id);
    expect(items.data).toMatchObject([
      { type: "message", role: "user", content: [{ type: "input_text", text: "Capital of France?" }] },
    ]);
    const replay = await client.responses.retrieve(created.id, { stream: true });
    let last: OpenAI.Responses.ResponseStreamEvent | null = null;
    for await (const event of replay) last = event;
    expect(last).toMatchObject({ type: "response.completed", response: { id: created.id } });
    const whole = await (await mixed.gateway.get(`/v1/responses/${created.id}?stream=true`)).text();
    const { output_text: _, ...asSent } = created as OpenAI.Responses.Response & { _request_id?: string };
    expect(finalResponse(responseEventsIn(whole))).toMatchObject({
      id: asSent.id,
      output: asSent.output,
    } as unknown as ResponseObject);
    const rest = await (await mixed.gateway.get(`/v1/responses/${created.id}?stream=true&starting_after=3`)).text();
    expect(rest).not.toBe("");
    expect(whole.endsWith(rest)).toBe(true);
    expect(rest).toContain('"sequence_number":4');
    expect(rest).not.toContain('"sequence_number":3}');
  });

  it("pages its input in both orders", async () => {
    mixed.openai.on("*", answers("ok"));
    const input = ["a", "b", "c"].map((content) => ({ role: "user" as const, content }));
    const { id } = await client.responses.create({ ...on("alpha"), input });
    const words = async (query: OpenAI.Responses.InputItems.InputItemListParams) =>
      (await client.responses.inputItems.list(id, query)).data.map(
        (item) => JSON.stringify(item).match(/"text":"(\w)"/)?.[1],
      );
    expect(await words({})).toEqual(["c", "b", "a"]);
    expect(await words({ order: "asc" })).toEqual(["a", "b", "c"]);
    const first = await client.responses.inputItems.list(id, { order: "asc", limit: 1 });
    expect(first.has_more).toBe(true);
    expect(await words({ order: "asc", after: first.data[0]?.id as string })).toEqual(["b", "c"]);
    const all: unknown[] = [];
    for await (const item of client.responses.inputItems.list(id, { limit: 1 })) all.push(item);
    expect(all).toHaveLength(3);
    for (const query of ["order=up", "limit=0", "limit=101", "limit=x"]) {
      expect((await mixed.gateway.get(`/v1/responses/${id}/input_items?${query}`)).status).toBe(400);
    }
    expect((await mixed.gateway.get(`/v1/responses/${id}/input_items?after=msg_none`)).status).toBe(404);
  });

  it("is deleted for good, and another account cannot tell it from an unknown one", async () => {
    mixed.openai.on("*", answers("ok"));
    const { id } = await client.responses.create({ ...on("alpha"), input: "Secret" });
    for (const who of [stranger, client]) {
      const target = who === stranger ? id : "resp_unknown";
      await expect(who.responses.retrieve(target)).rejects.toMatchObject({ status: 404, code: "response_not_found" });
      await expect(who.responses.delete(target)).rejects.toMatchObject({ status: 404 });
      await expect(who.responses.inputItems.list(target)).rejects.toMatchObject({ status: 404 });
      await expect(who.responses.cancel(target)).rejects.toMatchObject({ status: 404 });
    }
    await client.responses.delete(id);
    await expect(client.responses.retrieve(id)).rejects.toMatchObject({ status: 404 });
  });

  it("is answered and charged once for an Idempotency-Key", async () => {
    mixed.openai.on("*", answers("Once."));
    const body = { ...on("alpha"), input: "Hi" };
    const ask = async () =>
      (await (
        await mixed.gateway.post("/v1/responses", body, { "idempotency-key": "state-1" })
      ).json()) as ResponseObject;
    const first = await ask();
    expect(await ask()).toEqual(first);
    expect(mixed.openai.requests).toHaveLength(1);
    expect(await client.responses.retrieve(first.id)).toMatchObject({ id: first.id });
  });

  it("keeps nothing in clear text in the database files, and nothing at all in that of the ledger", async () => {
    const canary = "the canary sings in the mine";
    mixed.openai.on("*", answers(canary));
    await client.responses.create({ ...on("alpha"), input: canary });
    const { database } = mixed.gateway;
    for (const path of filesOf(database.slice("sqlite:".length))) {
      for (const ending of ["", "-wal"]) expect(readFileSync(`${path}${ending}`).includes(canary)).toBe(false);
    }
    const countIn = async (url: string): Promise<number> => {
      const db = await openDb(url);
      const [row] = await db.query("SELECT COUNT(*) AS rows FROM responses");
      await db.close();
      return Number(row?.rows);
    };
    expect(await countIn(database)).toBe(0);
    expect(await countIn(contentsUrlOf(database))).toBeGreaterThan(0);
  });

  it("goes out with store: false when it cannot be stored, and the log says so", async () => {
    mixed.openai.on("*", answers("Still here."));
    const seen = mixed.gateway.logged.length;
    const db = await openDb(contentsUrlOf(mixed.gateway.database));
    await db.query("ALTER TABLE responses RENAME TO responses_away");
    try {
      const answer = await client.responses.create({ ...on("alpha"), input: "Hi" });
      expect(answer).toMatchObject({ output_text: "Still here.", store: false });
      const stream = await (
        await mixed.gateway.post("/v1/responses", { ...on("alpha"), input: "Hi", stream: true })
      ).text();
      expect(finalResponse(responseEventsIn(stream))).toMatchObject({ store: false });
    } finally {
      await db.query("ALTER TABLE responses_away RENAME TO responses");
      await db.close();
    }
    const events = mixed.gateway.logged.slice(seen).filter(({ fields }) => fields.event === "response.store_failed");
    expect(events).toHaveLength(2);
  });
});

it("a tool loop that another vendor opened stays readable", async () => {
  mixed.anthropic.once("claude-real-1", saysBlocks([toolUse("toolu_1", "get_weather", { city: "Rome" })]));
  const first = await client.responses.create({ ...on("claude"), input: "Rome?", tools: [WEATHER] });
  const { call_id } = first.output.find(
    ({ type }) => type === "function_call",
  ) as OpenAI.Responses.ResponseFunctionToolCall;
  mixed.openai.on("*", answers("Warm."));
  const output = { type: "function_call_output" as const, call_id, output: "30 degrees" };
  await client.responses.create({ ...on("alpha"), previous_response_id: first.id, input: [output], tools: [WEATHER] });
  const messages = mixed.openai.requests.at(-1)?.body.messages as { role: string; tool_calls?: unknown[] }[];
  expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
  expect(messages[1]?.tool_calls).toHaveLength(1);
});
