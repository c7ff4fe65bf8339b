// Conversations that cross vendors: a tool loop that switches the provider at every turn, in both client formats. Each
// provider looks at what it gets as the real one would: ids, the order of calls and results, thinking and its signatures.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type FakeBlock, saysBlocks, text, thinking, toolUse } from "../../support/providers/fake-anthropic.ts";
import {
  answers,
  type Behaviour,
  chunk,
  completion,
  type ReceivedRequest,
  sends,
  streams,
} from "../../support/providers/fake-provider.ts";
import { readEvents, typesOf } from "../../support/providers/messages.ts";
import { type Mixed, startMixed } from "../../support/providers/mixed.ts";
import { type Json, readStream } from "../../support/providers/streams.ts";

const CAN = "capabilities: [tools, vision, json, reasoning]";
const PRICE = "price: { input: 1, output: 3 }, context: 200000, maxOutput: 16384";

let mixed: Mixed;
beforeAll(async () => {
  mixed = await startMixed({
    models: [
      `  - { id: mistral, provider: lab, upstream: mistral-1, tier: LIGHT, ${PRICE}, ${CAN}, dialect: { toolIds: alphanumeric-9, reasoningHistory: drop } }`,
      `  - { id: deepseek, provider: lab, upstream: deepseek-1, tier: LIGHT, ${PRICE}, ${CAN}, dialect: { reasoningHistory: tool-turns } }`,
      `  - { id: budget, provider: native, upstream: claude-old-1, tier: LIGHT, ${PRICE}, ${CAN}, dialect: { thinking: budget } }`,
    ],
  });
});
beforeEach(() => mixed.reset());
afterAll(() => mixed.close());

type Block = FakeBlock & { readonly content?: unknown };
interface Turn {
  readonly role: string;
  readonly content: string | readonly Block[];
}
interface Message {
  readonly role: string;
  readonly content?: unknown;
  readonly tool_calls?: readonly { readonly id: string; readonly function: { readonly name: string } }[];
  readonly tool_call_id?: string;
  readonly reasoning_content?: string;
}

/** Two calls at once from a vendor with its own kind of ids, with its thoughts. */
function callsOf(ids: readonly [string, string]): Behaviour {
  const calls = ids.map((id, index) => ({
    id,
    type: "function",
    function: { name: "look_up", arguments: `{"place":${index}}` },
  }));
  const message = { role: "assistant", content: null, reasoning_content: "Two places.", tool_calls: calls };
  return (exchange) => {
    const { model, stream } = exchange.request.body;
    if (stream !== true) {
      const choices = [{ index: 0, message, finish_reason: "tool_calls" }];
      return sends(200, completion("", model, { choices }))(exchange);
    }
    const deltas = calls.map((call, index) => chunk(model, { tool_calls: [{ index, ...call }] }));
    return streams([chunk(model, { reasoning_content: "Two places." }), ...deltas, chunk(model, {}, "tool_calls")])(
      exchange,
    );
  };
}

/** What Anthropic refuses, by its own rules. */
function checkNative({ body }: ReceivedRequest): readonly Turn[] {
  const turns = body.messages as readonly Turn[];
  const seen = new Set<string>();
  turns.forEach((turn, index) => {
    for (const block of blocksOf(turn)) {
      if (block.type === "thinking") expect(block.signature).toMatch(/^claude-signed/);
      if (block.type === "text") expect(block.text).not.toBe("");
      if (block.type !== "tool_use") continue;
      expect(block.id).toMatch(/^[A-Za-z0-9_-]+$/);
      expect(seen.has(String(block.id))).toBe(false);
      seen.add(String(block.id));
      const results = blocksOf(turns[index + 1]).filter(({ type }) => type === "tool_result");
      expect(results.filter(({ tool_use_id: id }) => id === block.id)).toHaveLength(1);
      expect(blocksOf(turns[index + 1])[0]?.type).toBe("tool_result");
    }
  });
  return turns;
}

function blocksOf(turn: Turn | undefined): readonly Block[] {
  return typeof turn?.content === "string" ? [text(turn.content)] : (turn?.content ?? []);
}

/** What hosts of chat-completions refuse: a call without its result right after it, and ids of other shapes. */
function checkChat({ body, raw }: ReceivedRequest, ids: RegExp): readonly Message[] {
  const messages = body.messages as readonly Message[];
  messages.forEach(({ tool_calls: calls = [], content }, index) => {
    expect(Array.isArray(content) && content.length === 0).toBe(false);
    const results = messages.slice(index + 1, index + 1 + calls.length);
    expect(results.map(({ tool_call_id: id }) => id)).toEqual(calls.map(({ id }) => id));
    for (const { id } of calls) expect(id).toMatch(ids);
  });
  expect(raw).not.toContain("claude-signed");
  expect(raw).not.toContain("signature");
  return messages;
}

const VENDORS = ["claude", "alpha", "mistral", "claude", "deepseek", "claude"] as const;
const MISTRAL_ID = /^[A-Za-z0-9]{9}$/;

function script(): void {
  mixed.anthropic.on(
    "*",
    saysBlocks([
      thinking("Let me see.", "claude-signed=="),
      toolUse(`toolu_${mixed.anthropic.requests.length}a`, "look_up", { place: 0 }),
      toolUse(`toolu_${mixed.anthropic.requests.length}b`, "look_up", { place: 1 }),
    ]),
  );
  mixed.openai.on("alpha-1", callsOf(["functions.look_up:0", "functions.look_up:1"]));
  mixed.openai.on("mistral-1", callsOf(["aB3dE6gH9", "bB3dE6gH9"]));
  mixed.openai.on("deepseek-1", callsOf(["call_00_deep/seek==", "call_01_deep/seek=="]));
}

function checkLast(vendor: (typeof VENDORS)[number]): readonly Turn[] | readonly Message[] {
  if (vendor === "claude") return checkNative(mixed.anthropic.requests.at(-1) as ReceivedRequest);
  const request = mixed.openai.requests.at(-1) as ReceivedRequest;
  expect(request.body.model).toBe(`${vendor}-1`);
  return checkChat(request, vendor === "mistral" ? MISTRAL_ID : /./);
}

describe.each([false, true])("a tool loop over six vendors' turns, stream %s", (stream) => {
  it("in the Messages format", async () => {
    const messages: Turn[] = [{ role: "user", content: "Look up both places." }];
    const tools = [{ name: "look_up", input_schema: { type: "object", properties: { place: { type: "number" } } } }];
    for (const vendor of VENDORS) {
      script();
      const body = { model: vendor, service_profile: "direct", max_tokens: 1000, stream, tools, messages };
      const answer = await mixed.gateway.post("/v1/messages", body);
      expect(answer.status).toBe(200);
      const content = stream
        ? blocksFrom(await readEvents(answer))
        : ((await answer.json()) as { content: Block[] }).content;
      const calls = content.filter(({ type }) => type === "tool_use");
      expect(calls.map(({ name, input }) => ({ name, input }))).toEqual(
        [0, 1].map((place) => ({ name: "look_up", input: { place } })),
      );
      checkLast(vendor);
      const results = calls.map(({ id, input }) => ({
        type: "tool_result",
        tool_use_id: id,
        content: `place ${JSON.stringify(input)}`,
      }));
      messages.push({ role: "assistant", content }, { role: "user", content: [...results].reverse() });
    }
    // At the end claude gets the thoughts it signed itself, all of them, and nobody else's.
    const last = mixed.anthropic.requests.at(-1) as ReceivedRequest;
    const thoughts = (last.body.messages as Turn[]).flatMap(blocksOf).filter(({ type }) => type === "thinking");
    expect(thoughts).toHaveLength(2);
    // DeepSeek wants the thoughts of turns with calls, as plain words; the others get none.
    for (const { body, raw } of mixed.openai.requests) {
      expect([body.model, raw.includes("Let me see")]).toEqual([body.model, body.model === "deepseek-1"]);
    }
  });

  it("in chat-completions", async () => {
    const messages: Message[] = [{ role: "user", content: "Look up both places." }];
    const tools = [
      {
        type: "function",
        function: { name: "look_up", parameters: { type: "object", properties: { place: { type: "number" } } } },
      },
    ];
    for (const vendor of VENDORS) {
      script();
      const answer = await mixed.gateway.post("/v1/chat/completions", {
        model: vendor,
        service_profile: "direct",
        stream,
        tools,
        messages,
      });
      expect(answer.status).toBe(200);
      const message = stream
        ? messageFrom(await readStream(answer))
        : ((await answer.json()) as { choices: { message: Message }[] }).choices[0]?.message;
      expect(message?.tool_calls).toHaveLength(2);
      checkLast(vendor);
      messages.push(message as Message);
      for (const { id } of message?.tool_calls ?? [])
        messages.push({ role: "tool", tool_call_id: id, content: `result of ${id}` });
    }
    const deepseek = mixed.openai.requests.findLast(({ body }) => body.model === "deepseek-1")?.body
      .messages as Message[];
    expect(
      deepseek
        .filter(({ role }) => role === "assistant")
        .every(({ reasoning_content: thought }) => thought !== undefined),
    ).toBe(true);
    const mistral = mixed.openai.requests.findLast(({ body }) => body.model === "mistral-1")?.raw;
    expect(mistral).not.toContain("reasoning_content");
    const last = mixed.anthropic.requests.at(-1) as ReceivedRequest;
    const thoughts = (last.body.messages as Turn[]).flatMap(blocksOf).filter(({ type }) => type === "thinking");
    expect(thoughts).toEqual([0, 1].map(() => thinking("Let me see.", "claude-signed==")));
  });

  it("in chat-completions with a thinking budget, which needs the signed thought of the open call", async () => {
    const messages: Message[] = [{ role: "user", content: "Look up both places." }];
    const tools = [{ type: "function", function: { name: "look_up", parameters: { type: "object" } } }];
    for (let turn = 0; turn < 3; turn += 1) {
      script();
      const answer = await mixed.gateway.post("/v1/chat/completions", {
        ...{ model: "budget", service_profile: "direct", max_tokens: 4096, reasoning_effort: "low" },
        ...{ stream, tools, messages },
      });
      expect(answer.status).toBe(200);
      const message = stream
        ? messageFrom(await readStream(answer))
        : ((await answer.json()) as { choices: { message: Message }[] }).choices[0]?.message;
      messages.push(message as Message);
      for (const { id } of message?.tool_calls ?? [])
        messages.push({ role: "tool", tool_call_id: id, content: `result of ${id}` });
      const sent = mixed.anthropic.requests.at(-1) as ReceivedRequest;
      expect(sent.body.thinking).toMatchObject({ type: "enabled" });
      const asked = checkNative(sent).filter(({ role }) => role === "assistant");
      expect(asked.map((said) => blocksOf(said).map(({ type }) => type))).toEqual(
        Array.from({ length: turn }, () => ["thinking", "tool_use", "tool_use"]),
      );
    }
  });
});

function blocksFrom(events: readonly FakeBlock[]): Block[] {
  expect(typesOf(events).at(-1)).toBe("message_stop");
  const blocks: Record<string, unknown>[] = [];
  for (const { type, index, content_block: start, delta } of events) {
    const place = Number(index);
    if (type === "content_block_start") blocks[place] = { ...(start as object), json: "" };
    if (type !== "content_block_delta") continue;
    const block = blocks[place] as Record<string, unknown>;
    const { text: words = "", thinking: thought = "", signature = "", partial_json: json = "" } = delta as Json;
    if (block.type === "text") block.text = `${block.text}${words}`;
    if (block.type === "thinking") block.thinking = `${block.thinking}${thought}`;
    if (block.type === "thinking") block.signature = `${block.signature}${signature}`;
    block.json = `${block.json}${json}`;
  }
  return blocks.map(({ json, ...block }) =>
    block.type === "tool_use" ? { ...block, input: JSON.parse(String(json)) } : block,
  ) as Block[];
}

function messageFrom({ chunks, isDone }: Awaited<ReturnType<typeof readStream>>): Message {
  expect(isDone).toBe(true);
  const calls: { id: string; type: string; function: { name: string; arguments: string } }[] = [];
  const details: unknown[] = [];
  let thought = "";
  for (const { choices } of chunks) {
    const delta = choices[0]?.delta as {
      reasoning_details?: unknown[];
      reasoning_content?: string;
      tool_calls?: { index: number; id?: string; function: { name?: string; arguments?: string } }[];
    };
    thought += delta?.reasoning_content ?? "";
    details.push(...(delta?.reasoning_details ?? []));
    for (const { index, id, function: called } of delta?.tool_calls ?? []) {
      calls[index] ??= { id: id ?? "", type: "function", function: { name: called.name ?? "", arguments: "" } };
      calls[index].function.arguments += called.arguments ?? "";
    }
  }
  const signed = details.length === 0 ? {} : { reasoning_details: details };
  return { role: "assistant", content: null, tool_calls: calls, reasoning_content: thought, ...signed } as Message;
}

describe("an open tool loop", () => {
  const HARD =
    "Prove that the halting problem is undecidable, then derive the time complexity of this scheduler step by step and refactor it to be lock-free.";
  const tools = [
    { name: "look_up", description: "Looks a place up", input_schema: { type: "object", properties: {} } },
  ];
  const debugTools = tools.map(({ name, description, input_schema: parameters }) => ({
    type: "function",
    function: { name, description, parameters },
  }));
  interface Told {
    readonly model: string;
    readonly content: readonly Block[];
    readonly service: { readonly model: string; readonly tier: string };
  }
  const ask = async (messages: readonly object[], more: object = {}): Promise<Told> => {
    const answer = await mixed.gateway.post("/v1/messages", {
      model: "auto",
      max_tokens: 100,
      tools,
      messages,
      ...more,
    });
    expect(answer.status).toBe(200);
    return (await answer.json()) as Told;
  };
  const debug = async (
    messages: readonly object[],
    more: object = {},
  ): Promise<{ model: string; tier: string; reasoning: string }> => {
    const answer = await mixed.gateway.post("/v1/routing/debug", {
      prompt: " ",
      max_tokens: 100,
      tools: debugTools,
      messages,
      ...more,
    });
    return ((await answer.json()) as { decision: { model: string; tier: string; reasoning: string } }).decision;
  };

  /** A call made by claude for an ask that would by itself go to alpha. */
  async function openLoop(): Promise<{ turns: object[]; chat: object[] }> {
    mixed.anthropic.once(
      "claude-real-1",
      saysBlocks([toolUse(`toolu_open${Math.random()}`.replace(".", ""), "look_up", {})]),
    );
    const first = { role: "user", content: "Hi!" };
    const told = await ask([first], { service_profile: "tier", service_tier: "COMPLEX" });
    expect(told.model).toBe("claude");
    const id = String(told.content[0]?.id);
    const result = { type: "tool_result", tool_use_id: id, content: "here" };
    const note = text("<system-reminder>\nThe task list is empty.\n</system-reminder>");
    return {
      turns: [first, { role: "assistant", content: told.content }, { role: "user", content: [result, note] }],
      chat: [
        first,
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id, type: "function", function: { name: "look_up", arguments: "{}" } }],
        },
        { role: "tool", tool_call_id: id, content: "here" },
      ],
    };
  }

  it("stays with the model that made the call, says so, and debug agrees", async () => {
    expect((await ask([{ role: "user", content: "Hi!" }])).service.model).toBe("alpha");
    const { turns, chat } = await openLoop();
    expect((await ask(turns)).service.model).toBe("claude");
    const decision = await debug(chat);
    expect(decision).toMatchObject({ model: "claude" });
    expect(decision.reasoning).toContain("stays with claude, which made the open tool call");
  });

  it("is found again from the other format too", async () => {
    const { chat } = await openLoop();
    const answer = await mixed.gateway.post("/v1/chat/completions", {
      model: "auto",
      tools: debugTools,
      messages: chat,
    });
    expect(await answer.json()).toMatchObject({ service: { model: "claude" } });
  });

  it("does not bind against a ceiling, a forced tier or a cost limit", async () => {
    const { turns } = await openLoop();
    const ceiling = await ask(turns, { service_tier_ceiling: "LIGHT" });
    // Claude is in the chain of LIGHT as well, so it may go on there.
    expect(ceiling.service).toMatchObject({ model: "claude", tier: expect.stringMatching(/NANO|SIMPLE|LIGHT/) });
    const cheap = await ask(turns, { service_max_cost: 0.001, max_tokens: 100 });
    expect(cheap.service.model).toBe("alpha");
    const direct = await ask(turns, { model: "alpha", service_profile: "direct" });
    expect(direct.service.model).toBe("alpha");
  });

  it("gives way when the model rests after failures", async () => {
    const { turns } = await openLoop();
    mixed.anthropic.on("*", sends(500, "{}"));
    for (let round = 0; round < 6; round += 1)
      await mixed.gateway.post("/v1/messages", {
        model: "claude",
        service_profile: "direct",
        max_tokens: 5,
        messages: [{ role: "user", content: "x" }],
      });
    expect((await ask(turns)).service.model).toBe("alpha");
  });

  it("is over with the next ask: routing is free again", async () => {
    const { turns } = await openLoop();
    const closed = [...turns, { role: "assistant", content: "It is here." }];
    expect((await ask([...closed, { role: "user", content: "Thanks!" }])).service.model).toBe("alpha");
    expect((await ask([...closed, { role: "user", content: HARD }])).service.model).toBe("claude");
    const beside = [
      ...turns.slice(0, -1),
      {
        role: "user",
        content: [
          {
            type: "tool_result",
            tool_use_id: String((turns[1] as { content: Block[] }).content[0]?.id),
            content: "here",
          },
          text("Stop. Just say hi!"),
        ],
      },
    ];
    expect((await ask(beside)).service.model).toBe("alpha");
  });

  it("is known to the account that opened it alone", async () => {
    const { turns } = await openLoop();
    const made = await mixed.gateway.api("POST", "/api/accounts", { name: "other" });
    const { id } = (await made.json()) as { id: string };
    const { key } = (await (await mixed.gateway.api("POST", `/api/keys?account=${id}`, { name: "k" })).json()) as {
      key: string;
    };
    await mixed.gateway.api("POST", `/api/credits/topups?account=${id}`, { amountUsd: "1" });
    const answer = await mixed.gateway.post(
      "/v1/messages",
      { model: "auto", max_tokens: 100, tools, messages: turns },
      { authorization: `Bearer ${key}` },
    );
    expect(await answer.json()).toMatchObject({ service: { model: "alpha" } });
  });
});

it("calls without ids get ones that come back as their own, and are found again", async () => {
  const call = { id: "", type: "function", function: { name: "look_up", arguments: "{}" } };
  const choices = [
    { index: 0, message: { role: "assistant", content: null, tool_calls: [call, call] }, finish_reason: "stop" },
  ];
  mixed.openai.once("alpha-1", sends(200, completion("", "alpha-1", { choices })));
  const tools = [{ name: "look_up", input_schema: { type: "object" } }];
  const first = { role: "user", content: "Hi!" };
  const send = async (messages: readonly object[], more: object): Promise<{ content: Block[]; service: object }> =>
    (await (await mixed.gateway.post("/v1/messages", { max_tokens: 50, tools, messages, ...more })).json()) as {
      content: Block[];
      service: object;
    };
  const { content } = await send([first], { model: "alpha", service_profile: "direct" });
  const ids = content.map(({ id }) => id);
  expect(new Set(ids).size).toBe(2);
  const results = ids.map((id) => ({ type: "tool_result", tool_use_id: id, content: "x" }));
  mixed.openai.on("*", answers("done"));
  const turns = [first, { role: "assistant", content }, { role: "user", content: results }];
  expect((await send(turns, { model: "auto" })).service).toMatchObject({ model: "alpha" });
});
