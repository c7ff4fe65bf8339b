// Stored chat completions through the official client: kept on request only, whole and streamed, for their account alone.
// Behaviour 10.16.

import OpenAI from "openai";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { expectError } from "../../support/errors.ts";
import { saysBlocks, text } from "../../support/providers/fake-anthropic.ts";
import { answers, chunk, cutsBody, streams, textChunks, USAGE } from "../../support/providers/fake-provider.ts";
import { type Mixed, startMixed } from "../../support/providers/mixed.ts";

const BYTES_PER_MINUTE = 64 * 1024;

let mixed: Mixed;
let client: OpenAI;
let stranger: OpenAI;
beforeAll(async () => {
  mixed = await startMixed({ env: { SWITCHYARD_STORED_BYTES_PER_MINUTE: String(BYTES_PER_MINUTE) } });
  const { gateway } = mixed;
  const of = (apiKey: string) => new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey, maxRetries: 0 });
  client = of(gateway.key);
  const { id } = (await (await gateway.api("POST", "/api/accounts", { name: "Eve" })).json()) as { id: string };
  const made = await gateway.api("POST", `/api/keys?account=${id}`, { name: "stranger" });
  stranger = of(((await made.json()) as { key: string }).key);
});
beforeEach(() => mixed.reset());
afterAll(() => mixed.close());

type Create = OpenAI.ChatCompletionCreateParamsNonStreaming;
const USER = { role: "user" as const, content: "What is the capital of France?" };
const ask = (more: Partial<Create> = {}): Create =>
  ({ model: "alpha", service_profile: "direct", messages: [USER], store: true, ...more }) as Create;
const TOOL = { type: "function" as const, function: { name: "look", parameters: { type: "object", properties: {} } } };

async function idsOf(query: OpenAI.ChatCompletionListParams = {}): Promise<readonly string[]> {
  const ids: string[] = [];
  for await (const { id } of client.chat.completions.list({ limit: 2, ...query })) ids.push(id);
  return ids;
}

describe("a completion that is to be stored", () => {
  it("is read, listed, relabelled and deleted with the official client", async () => {
    mixed.openai.on("*", answers("Paris."));
    const made = await client.chat.completions.create(ask({ metadata: { topic: "cities" }, temperature: 0.5 }));
    const toProvider = mixed.openai.requests.at(-1)?.body;
    expect(toProvider).toMatchObject({ temperature: 0.5 });
    for (const name of ["store", "metadata"]) expect(toProvider).not.toHaveProperty(name);
    const read = await client.chat.completions.retrieve(made.id);
    expect(read).toMatchObject({ ...made, metadata: { topic: "cities" }, temperature: 0.5, tools: null });

    const other = await client.chat.completions.create(ask({ metadata: { topic: "birds" } }));
    // The provider gave both one id.
    expect(other.id).not.toBe(made.id);
    const third = await client.chat.completions.create(
      ask({ messages: [USER, { role: "assistant", content: "?" }, USER] }),
    );
    expect(await idsOf({ model: "alpha" })).toEqual([made.id, other.id, third.id]);
    expect(await idsOf({ order: "desc" })).toEqual([third.id, other.id, made.id]);
    expect(await idsOf({ metadata: { topic: "birds" } })).toEqual([other.id]);
    expect(await idsOf({ model: "claude" })).toEqual([]);

    const relabelled = await client.chat.completions.update(other.id, { metadata: { topic: "rivers", lang: "en" } });
    expect(relabelled).toMatchObject({ id: other.id, metadata: { topic: "rivers", lang: "en" } });
    expect(await idsOf({ metadata: { topic: "rivers", lang: "en" } })).toEqual([other.id]);

    const said: unknown[] = [];
    for await (const message of client.chat.completions.messages.list(third.id, { limit: 2 })) said.push(message);
    expect(said).toMatchObject([
      { id: `${third.id}-0`, ...USER, content_parts: null },
      { id: `${third.id}-1`, role: "assistant", content: "?" },
      { id: `${third.id}-2`, ...USER },
    ]);

    expect(await client.chat.completions.delete(made.id)).toEqual({
      id: made.id,
      object: "chat.completion.deleted",
      deleted: true,
    });
    await expect(client.chat.completions.retrieve(made.id)).rejects.toMatchObject({ status: 404 });
    expect(await idsOf()).toEqual([other.id, third.id]);
  });

  it("is nobody else's", async () => {
    mixed.openai.on("*", answers("Paris."));
    const { id } = await client.chat.completions.create(ask());
    const strange = stranger.chat.completions;
    const missing = { status: 404, code: "completion_not_found" };
    await expect(strange.retrieve(id)).rejects.toMatchObject(missing);
    await expect(strange.update(id, { metadata: {} })).rejects.toMatchObject(missing);
    await expect(strange.messages.list(id)).rejects.toMatchObject(missing);
    await expect(strange.delete(id)).rejects.toMatchObject(missing);
    expect((await strange.list()).data).toEqual([]);
    // An account without credits stores nothing.
    await expect(strange.create(ask())).rejects.toMatchObject({ status: 402 });
  });

  it("is put together from a stream, with calls of tools and the usage that its client did not ask for", async () => {
    const call = (index: number, id: string | undefined, piece: string) =>
      chunk("alpha-1", {
        tool_calls: [{ index, id, type: "function", function: { name: id && "look", arguments: piece } }],
      });
    mixed.openai.on(
      "*",
      streams(
        [
          ...textChunks("Let me look.", "alpha-1").slice(0, -1),
          call(0, "call_a", '{"at":'),
          call(1, "call_b", "{}"),
          call(0, undefined, "1}"),
          chunk("alpha-1", {}, "tool_calls"),
        ],
        { usage: USAGE },
      ),
    );
    const stream = await client.chat.completions.create({ ...ask({ tools: [TOOL] }), stream: true });
    let id = "";
    for await (const piece of stream) id = piece.id;
    const read = await client.chat.completions.retrieve(id);
    expect(read).toMatchObject({ id, object: "chat.completion", model: "alpha", usage: USAGE, tools: [TOOL] });
    expect(read.choices).toEqual([
      {
        index: 0,
        finish_reason: "tool_calls",
        logprobs: null,
        message: {
          role: "assistant",
          content: "Let me look.",
          refusal: null,
          tool_calls: [
            { id: "call_a", type: "function", function: { name: "look", arguments: '{"at":1}' } },
            { id: "call_b", type: "function", function: { name: "look", arguments: "{}" } },
          ],
        },
      },
    ]);
  });

  it("may come from a provider of another format, and says nothing of a lost option", async () => {
    mixed.anthropic.on("*", saysBlocks([text("Paris.")]));
    const made = await client.chat.completions.create(ask({ model: "claude" }));
    expect(JSON.stringify(made)).not.toContain("store");
    expect(await client.chat.completions.retrieve(made.id)).toMatchObject({ choices: made.choices });
  });

  it("is not there after a stream that broke, and was stored once for a repeated request", async () => {
    const before = await idsOf();
    mixed.openai.once("alpha-1", cutsBody);
    const broken = client.chat.completions.create({ ...ask(), stream: true });
    await expect(
      broken.then(async (stream) => {
        for await (const _ of stream);
      }),
    ).rejects.toThrow();
    expect(await idsOf()).toEqual(before);
    mixed.openai.on("*", answers("Paris."));
    const options = { headers: { "idempotency-key": "stored-once" } };
    const first = await client.chat.completions.create(ask(), options);
    const again = await client.chat.completions.create(ask(), options);
    expect(again).toEqual(first);
    expect(await idsOf()).toEqual([...before, first.id]);
  });
});

describe("nothing is stored", () => {
  it("without being asked, and the provider's id stays", async () => {
    mixed.openai.on("*", answers("Paris."));
    const before = await idsOf();
    for (const store of [null, false]) {
      const { id } = await client.chat.completions.create(ask({ store }));
      expect(id).toBe("chatcmpl-fake");
    }
    expect(await idsOf()).toEqual(before);
  });

  it("of a request with a wrong 'store' or too much metadata", async () => {
    const { gateway } = mixed;
    const post = (more: object) => gateway.post("/v1/chat/completions", { ...ask(), ...more });
    await expectError(await post({ store: "yes" }), { status: 400, code: "invalid_value" });
    await expectError(await post({ metadata: { a: 1 } }), { status: 400, code: "invalid_value" });
    const query = "/v1/chat/completions?metadata[a]=1&metadata[a]=2";
    await expectError(await gateway.get(query), { status: 400, code: "invalid_value" });
    await expectError(await gateway.get("/v1/chat/completions?after=%00"), { status: 404 });
    await expectError(await gateway.get("/v1/chat/completions?model=%00"), { status: 400 });
    expect(mixed.openai.requests).toHaveLength(0);
  });

  it("once the key has stored too much in a minute", async () => {
    mixed.openai.on("*", answers("Paris."));
    const made = await mixed.gateway.api("POST", "/api/keys", { name: "storing" });
    const { key } = (await made.json()) as { key: string };
    const storing = new OpenAI({ baseURL: `${mixed.gateway.url}/v1`, apiKey: key, maxRetries: 0 });
    const long = ask({ messages: [{ role: "user", content: "x".repeat(BYTES_PER_MINUTE) }] });
    await storing.chat.completions.create(long);
    const refused = { status: 429, code: "stored_bytes_exceeded" };
    await expect(storing.chat.completions.create(long)).rejects.toMatchObject(refused);
    await storing.chat.completions.create({ ...long, store: false });
  });
});
