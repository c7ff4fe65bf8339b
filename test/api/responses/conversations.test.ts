// Conversations and compaction through the official client. Behaviour 10.

import OpenAI from "openai";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { saysBlocks, text } from "../../support/providers/fake-anthropic.ts";
import { answers, type Behaviour, completion, sends } from "../../support/providers/fake-provider.ts";
import { type Mixed, startMixed } from "../../support/providers/mixed.ts";

let mixed: Mixed;
let client: OpenAI;
let stranger: OpenAI;
beforeAll(async () => {
  mixed = await startMixed({ env: { SWITCHYARD_CONVERSATION_BYTES: String(1024 * 1024) } });
  const { gateway } = mixed;
  const of = (apiKey: string) => new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey, maxRetries: 0 });
  client = of(gateway.key);
  const { id } = (await (await gateway.api("POST", "/api/accounts", { name: "Eve" })).json()) as { id: string };
  await gateway.api("POST", `/api/credits/topups?account=${id}`, { amountUsd: "10" });
  const made = await gateway.api("POST", `/api/keys?account=${id}`, { name: "stranger" });
  stranger = of(((await made.json()) as { key: string }).key);
});
beforeEach(() => mixed.reset());
afterAll(() => mixed.close());

type Create = OpenAI.Responses.ResponseCreateParamsNonStreaming;
const on = (model: string): Create => ({ model, service_profile: "direct" }) as Create;
const user = (content: string) => ({ type: "message" as const, role: "user" as const, content });

async function wordsOf(id: string): Promise<readonly string[]> {
  const words: string[] = [];
  for await (const item of client.conversations.items.list(id, { order: "asc", limit: 2 })) {
    words.push(/"text":"([^"]*)"/.exec(JSON.stringify(item))?.[1] ?? item.type);
  }
  return words;
}

describe("a conversation", () => {
  it("is created, read, changed and deleted", async () => {
    const made = await client.conversations.create({ metadata: { topic: "birds" }, items: [user("Hello.")] });
    expect(made).toMatchObject({ object: "conversation", metadata: { topic: "birds" } });
    expect(await client.conversations.retrieve(made.id)).toMatchObject({ id: made.id, metadata: { topic: "birds" } });
    expect(await client.conversations.update(made.id, { metadata: { topic: "mines" } })).toMatchObject({
      metadata: { topic: "mines" },
    });
    expect(await client.conversations.delete(made.id)).toMatchObject({ object: "conversation.deleted", deleted: true });
    await expect(client.conversations.retrieve(made.id)).rejects.toMatchObject({ status: 404 });
    expect(await client.conversations.create()).toMatchObject({ metadata: {} });
  });

  it("has items that are added, listed, read and deleted one by one", async () => {
    const { id } = await client.conversations.create();
    const added = await client.conversations.items.create(id, { items: [user("One."), user("Two."), user("Three.")] });
    expect(added).toMatchObject({ object: "list", has_more: false });
    expect(await wordsOf(id)).toEqual(["One.", "Two.", "Three."]);
    const second = added.data[1]?.id as string;
    expect(await client.conversations.items.retrieve(second, { conversation_id: id })).toEqual(added.data[1]);
    expect(await client.conversations.items.delete(second, { conversation_id: id })).toMatchObject({ id });
    await expect(client.conversations.items.retrieve(second, { conversation_id: id })).rejects.toMatchObject({
      status: 404,
    });
    expect(await wordsOf(id)).toEqual(["One.", "Three."]);
  });

  it("is continued by responses of two vendors, whole and streamed", async () => {
    const { id } = await client.conversations.create({ items: [user("My name is Ada.")] });
    mixed.openai.on("*", answers("Hello Ada."));
    const first = await client.responses.create({ ...on("alpha"), conversation: id, input: "Greet me." });
    expect(first.conversation).toEqual({ id });
    expect(JSON.stringify(mixed.openai.requests.at(-1)?.body.messages)).toContain("My name is Ada.");
    mixed.anthropic.on("claude-real-1", saysBlocks([text("You are Ada.")]));
    const stream = client.responses.stream({ ...on("claude"), conversation: { id }, input: "Who am I?" } as never);
    expect((await stream.finalResponse()).output_text).toBe("You are Ada.");
    expect(await wordsOf(id)).toEqual(["My name is Ada.", "Greet me.", "Hello Ada.", "Who am I?", "You are Ada."]);
    expect(JSON.stringify(mixed.anthropic.requests.at(-1)?.body.messages)).toContain("Hello Ada.");
    await client.responses.create({ ...on("alpha"), conversation: id, input: "Off the record.", store: false });
    expect(await wordsOf(id)).toHaveLength(5);
  });

  it("loses no items when responses end at once, and keeps each one's together", async () => {
    const { id } = await client.conversations.create();
    const echo: Behaviour = (exchange) => {
      const messages = exchange.request.body.messages as { content: unknown }[];
      const asked = JSON.stringify(messages.at(-1)?.content).match(/turn \d/)?.[0];
      return sends(200, completion(`answer to ${asked}`, "alpha-1"))(exchange);
    };
    mixed.openai.on("*", echo);
    const turns = [0, 1, 2, 3, 4].map((turn) => `turn ${turn}`);
    await Promise.all(turns.map((input) => client.responses.create({ ...on("alpha"), conversation: id, input })));
    const words = await wordsOf(id);
    expect(words).toHaveLength(10);
    for (const turn of turns) expect(words[words.indexOf(turn) + 1]).toBe(`answer to ${turn}`);
  });

  it("does not exist for another account", async () => {
    const { id } = await client.conversations.create({ items: [user("Secret.")] });
    const missing = { status: 404, code: "conversation_not_found" };
    await expect(stranger.conversations.retrieve(id)).rejects.toMatchObject(missing);
    await expect(stranger.conversations.items.list(id)).rejects.toMatchObject(missing);
    await expect(stranger.conversations.items.create(id, { items: [user("Hi")] })).rejects.toMatchObject(missing);
    await expect(stranger.conversations.update(id, { metadata: {} })).rejects.toMatchObject(missing);
    await expect(stranger.conversations.delete(id)).rejects.toMatchObject(missing);
    await expect(stranger.responses.create({ ...on("alpha"), conversation: id, input: "Hi" })).rejects.toMatchObject(
      missing,
    );
    expect(await wordsOf(id)).toEqual(["Secret."]);
  });

  it("refuses what it cannot hold", async () => {
    const { id } = await client.conversations.create();
    const bad = [
      ["/v1/conversations", { metadata: { a: 1 } }],
      ["/v1/conversations", { metadata: "x" }],
      ["/v1/conversations", { items: [7] }],
      [`/v1/conversations/${id}/items`, {}],
      [`/v1/conversations/${id}/items`, { items: Array.from({ length: 21 }, () => user("x")) }],
    ] as const;
    for (const [path, body] of bad) expect((await mixed.gateway.post(path, body)).status).toBe(400);
    await client.conversations.items.create(id, { items: [user("x".repeat(1024 * 1024))] });
    await expect(client.responses.create({ ...on("alpha"), conversation: id, input: "Hi" })).rejects.toMatchObject({
      status: 400,
      code: "conversation_too_large",
    });
  });
});

describe("compaction", () => {
  it("summarizes with a model, and the summary continues the conversation on another vendor", async () => {
    mixed.openai.once("alpha-1", answers("Noted."));
    const first = await client.responses.create({ ...on("alpha"), input: "The password is swordfish." });
    mixed.openai.once("alpha-1", answers("The user's password is swordfish."));
    const compacted = await client.responses.compact({
      ...on("alpha"),
      previous_response_id: first.id,
      input: [user("Remember it.")],
    } as OpenAI.Responses.ResponseCompactParams);
    const asked = JSON.stringify(mixed.openai.requests.at(-1)?.body.messages);
    for (const words of ["swordfish", "Noted.", "Remember it."]) expect(asked).toContain(words);
    expect(compacted).toMatchObject({ object: "response.compaction", usage: { total_tokens: 17 } });
    expect(compacted.output.map(({ type }) => type)).toEqual(["message", "message", "compaction"]);
    const item = compacted.output.at(-1) as OpenAI.Responses.ResponseCompactionItem;
    expect(item.encrypted_content).not.toContain("swordfish");

    mixed.anthropic.on("claude-real-1", saysBlocks([text("swordfish")]));
    const input = [item, user("What is it?")] as OpenAI.Responses.ResponseInput;
    const next = await client.responses.create({ ...on("claude"), input });
    expect(JSON.stringify(mixed.anthropic.requests.at(-1)?.body.messages)).toContain("password is swordfish");
    // In a chain the item stays sealed and is opened again.
    await client.responses.create({ ...on("claude"), previous_response_id: next.id, input: "Again?" });
    expect(JSON.stringify(mixed.anthropic.requests.at(-1)?.body.messages)).toContain("password is swordfish");
    await expect(stranger.responses.create({ ...on("claude"), input })).rejects.toMatchObject({
      status: 400,
      code: "invalid_compaction",
    });
  });

  it("takes conversations that are too large to be continued, and cuts what no model can read", async () => {
    const { id } = await client.conversations.create();
    const long = `BEGIN ${"lorem ipsum ".repeat(90_000)} END`;
    await client.conversations.items.create(id, { items: [user("The word is swordfish."), user(long)] });
    const refused = client.responses.create({ ...on("alpha"), conversation: id, input: "Hi" });
    await expect(refused).rejects.toMatchObject({ status: 400, code: "conversation_too_large" });
    mixed.openai.once("alpha-1", answers("The word is swordfish."));
    const body = { ...on("alpha"), conversation: id };
    const response = await mixed.gateway.post("/v1/responses/compact", body);
    expect(response.status).toBe(200);
    const asked = JSON.stringify(mixed.openai.requests.at(-1)?.body.messages);
    for (const words of ["swordfish", "BEGIN", "characters are left out", "END"]) expect(asked).toContain(words);
    const { output } = (await response.json()) as { output: OpenAI.Responses.ResponseInput };
    // The long message does not fit beside the summary.
    expect(JSON.stringify(output)).not.toContain("BEGIN");
    mixed.openai.once("alpha-1", answers("swordfish"));
    const next = await client.responses.create({ ...on("alpha"), input: [...output, user("The word?")] });
    expect(next.output_text).toBe("swordfish");
  });

  it("leaves out the oldest entries where even short ones do not fit", async () => {
    const { id } = await client.conversations.create();
    for (const word of ["oldest", "middle", "newest"]) {
      const items = Array.from({ length: 20 }, () => user(`${word} ${"x y ".repeat(4_900)}`));
      await client.conversations.items.create(id, { items });
    }
    mixed.openai.once("alpha-1", answers("A summary."));
    const body = { ...on("alpha"), conversation: id };
    expect((await mixed.gateway.post("/v1/responses/compact", body)).status).toBe(200);
    const asked = JSON.stringify(mixed.openai.requests.at(-1)?.body.messages);
    expect(asked).toMatch(/\[\d+ earlier entries are left out\]/);
    expect(asked).toContain("newest");
    expect(asked).not.toContain("oldest");
  });

  it("is charged and logged like any other call, and needs something to compact", async () => {
    const balance = async () =>
      ((await (await mixed.gateway.api("GET", "/api/credits")).json()) as { postedUsd: string }).postedUsd;
    const before = await balance();
    mixed.openai.on("*", answers("Short."));
    const response = await mixed.gateway.post("/v1/responses/compact", { ...on("alpha"), input: "Long story." });
    expect(response.status).toBe(200);
    expect(await balance()).not.toBe(before);
    expect((await mixed.gateway.post("/v1/responses/compact", { ...on("alpha") })).status).toBe(400);
    expect((await mixed.gateway.post("/v1/responses/compact", { ...on("alpha"), input: 7 })).status).toBe(400);
    mixed.openai.on("*", answers(""));
    expect((await mixed.gateway.post("/v1/responses/compact", { ...on("alpha"), input: "Long." })).status).toBe(503);
  });
});
