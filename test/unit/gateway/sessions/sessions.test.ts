// Sessions of requests: how they are recognized, which model goes on with a tool loop, and what is remembered of caches.

import { describe, expect, it } from "vitest";
import type { ChatMessage, Usage } from "../../../../src/core/chat.ts";
import type { Decision } from "../../../../src/core/decision.ts";
import type { Model } from "../../../../src/core/model.ts";
import type { SessionTurn } from "../../../../src/core/session.ts";
import { clientToolId } from "../../../../src/formats/tools/calls.ts";
import type { Call } from "../../../../src/gateway/call.ts";
import { createSessionMemory } from "../../../../src/gateway/sessions/memory.ts";
import { createSessions } from "../../../../src/gateway/sessions/sessions.ts";
import { makeChat, makeModel } from "../../../support/catalog.ts";
import { keptOf } from "../../../support/young-garbage.ts";

const ask: ChatMessage = { role: "user", content: "Look it up" };
const calling = (...ids: string[]): ChatMessage => ({ role: "assistant", tool_calls: ids.map((id) => ({ id })) });
const result = (id: string): ChatMessage => ({ role: "tool", tool_call_id: id, content: "x" });
const note: ChatMessage = { role: "user", content: "<system-reminder>be nice</system-reminder>" };

interface Asked {
  readonly messages: readonly ChatMessage[];
  readonly accountId?: string;
  readonly requestId?: string;
  readonly named?: string | null;
  readonly body?: object;
  readonly headers?: Record<string, string>;
  readonly answerId?: string;
}

function callOf({ messages, accountId = "a", requestId = "req_1", named = null, ...rest }: Asked): Call {
  const bytes = Buffer.from(JSON.stringify(messages));
  return {
    requestId,
    headers: rest.headers ?? {},
    request: { body: rest.body ?? {}, source: { bytes }, chat: makeChat({ messages }), controls: { session: named } },
    caller: { key: { accountId } },
    state: rest.answerId === undefined ? null : { answerId: rest.answerId },
  } as unknown as Call;
}

function make(idleMs = 60_000) {
  const shared: SessionTurn[] = [];
  let nowMs = 1_000_000;
  const now = () => nowMs;
  const memory = createSessionMemory(() => idleMs, now);
  const sessions = createSessions({ memory, isOn: () => true, now, share: (turn) => shared.push(turn) });
  const answer = (
    asked: Asked,
    { model = makeModel({ id: "maker" }), usage = null, calls = [], escalation = 0 }: Partial<Answer> = {},
  ): void => {
    const call = callOf(asked);
    const view = sessions.view(call);
    const decision = {
      tier: "LIGHT",
      estimatedTokens: { input: 5_000, output: 10 },
      session: { id: view?.id, state: "started", escalation, task: 7, keyId: null, cachedTokens: 0 },
    } as unknown as Decision;
    sessions.note({ call, decision, model, keyId: undefined, usage, toolCallIds: calls });
  };
  const view = (asked: Asked) => sessions.view(callOf(asked));
  return { memory, sessions, shared, answer, view, pass: (ms: number) => (nowMs += ms) };
}

interface Answer {
  readonly model: Model;
  readonly usage: Usage | null;
  readonly calls: readonly string[];
  readonly escalation: number;
}

it("follows the turn of its own session where calls of another have the same ids", () => {
  const made = make();
  const messages = [ask, calling("functions.f:0"), result("functions.f:0")];
  made.answer({ messages: [ask], named: "one" }, { calls: ["functions.f:0"] });
  made.answer({ messages: [ask], named: "two" }, { calls: ["functions.f:0"], model: makeModel({ id: "other" }) });
  const seen = (named: string) => made.view({ messages, named });
  expect([seen("one")?.last?.model, seen("one")?.loop?.model]).toEqual(["maker", "maker"]);
  expect([seen("two")?.last?.model, seen("two")?.loop?.model]).toEqual(["other", "other"]);
});

describe("an open tool loop", () => {
  const made = make();
  made.answer({ messages: [ask] }, { calls: ["call_x", "functions.f:0"] });
  it.each<readonly [string, readonly ChatMessage[], string | null]>([
    ["a result", [ask, calling("call_x"), result("call_x")], "maker"],
    ["an id of another shape", [ask, calling("functions.f:0"), result("functions.f:0")], "maker"],
    ["one known call among others", [ask, calling("new", "call_x"), result("new"), result("call_x")], "maker"],
    ["notes after the result", [ask, calling("call_x"), result("call_x"), note], "maker"],
    [
      "a system message after it",
      [ask, calling("call_x"), result("call_x"), { role: "system", content: "now" }],
      "maker",
    ],
    [
      "a new ask beside the result",
      [ask, calling("call_x"), result("call_x"), { role: "user", content: "Stop" }],
      null,
    ],
    ["an answer after it", [ask, calling("call_x"), result("call_x"), { role: "assistant", content: "So." }], null],
    ["no result yet", [ask, calling("call_x")], null],
    ["a call nobody knows", [ask, calling("other"), result("other")], null],
    ["nothing", [], null],
  ])("%s", (_name, messages, model) => {
    expect(made.sessions.loopModel(callOf({ messages }))).toBe(model);
    expect(made.view({ messages })?.loop?.model ?? null).toBe(model);
  });

  it("belongs to its account", () => {
    const asked = { messages: [ask, calling("call_x"), result("call_x")], accountId: "b" };
    expect(made.sessions.loopModel(callOf(asked))).toBeNull();
  });

  it("is not taken for another one when the host gives no ids of its own", () => {
    const two = make();
    two.answer({ messages: [ask], requestId: "req_1" }, { model: makeModel({ id: "one" }), calls: ["call_0"] });
    two.answer({ messages: [ask], requestId: "req_2" }, { model: makeModel({ id: "two" }), calls: ["call_0"] });
    for (const [requestId, model] of [
      ["req_1", "one"],
      ["req_2", "two"],
    ] as const) {
      const id = clientToolId("call_0", 0, { requestId });
      expect(two.sessions.loopModel(callOf({ messages: [ask, calling(id), result(id)] }))).toBe(model);
    }
  });

  it("is forgotten when very many came after it, but not at once", () => {
    const busy = make();
    busy.answer({ messages: [ask] }, { calls: ["call_x"] });
    const fill = (from: number): void => {
      for (let at = from; at < from + 19_999; at += 1) busy.answer({ messages: [ask] }, { calls: [`call_fill_${at}`] });
    };
    const asked = callOf({ messages: [ask, calling("call_x"), result("call_x")] });
    fill(0);
    expect(busy.sessions.loopModel(asked)).toBe("maker");
    fill(20_000);
    fill(40_000);
    expect(busy.sessions.loopModel(asked)).toBeNull();
  });
});

describe("a session", () => {
  it("is known by its name, else by how it began, and never by another account's", () => {
    const { answer, view } = make();
    const named: Asked = { messages: [ask], named: "mine" };
    expect(view(named)?.last).toBeNull();
    answer(named);
    expect(view({ messages: [{ role: "user", content: "Something else" }], named: "mine" })?.last?.model).toBe("maker");
    expect(view({ messages: [ask], named: "other" })?.last).toBeNull();
    expect(view({ ...named, accountId: "b" })?.last).toBeNull();
    answer({ messages: [ask] });
    expect(view({ messages: [ask, { role: "assistant", content: "Yes" }, ask] })?.last?.model).toBe("maker");
    expect(view({ messages: [{ role: "user", content: "Another" }] })?.last).toBeNull();
  });

  it.each<readonly [string, Partial<Asked>]>([
    ["a header", { headers: { "x-session-id": "s-1" } }],
    ["prompt_cache_key", { body: { prompt_cache_key: "s-1" } }],
    ["Anthropic's metadata", { body: { metadata: { user_id: "user_1_account__session_s-1" } } }],
    ["a conversation", { body: { conversation: "conv_1" } }],
  ])("is named by %s, and its id shows nothing of it", (_name, naming) => {
    const { answer, view, shared } = make();
    answer({ messages: [ask], ...naming });
    const found = view({ messages: [{ role: "user", content: "Next" }], ...naming });
    expect(found?.last?.model).toBe("maker");
    expect(found?.id).toMatch(/^s[\w-]{20}$/);
    expect(JSON.stringify(shared)).not.toMatch(/s-1|conv_1|Look it up/);
  });

  it("goes on with the response that it continues by id, whatever its instructions", () => {
    const { answer, view } = make();
    answer({ messages: [{ role: "system", content: "Be brief" }, ask], answerId: "ab-cd" });
    const next = { messages: [ask, { role: "assistant", content: "Yes" } as const, ask] };
    expect(view({ ...next, body: { previous_response_id: "resp_abcd" } })?.last?.model).toBe("maker");
    expect(view({ ...next, body: { previous_response_id: "resp_other" } })?.last).toBeNull();
    expect(view({ ...next, body: { previous_response_id: "resp_abcd" }, accountId: "b" })?.last).toBeNull();
  });

  it("carries nothing from a conversation that began alike, and both are known by themselves", () => {
    const { answer, view, memory, shared } = make();
    const said = (text: string): ChatMessage => ({ role: "assistant", content: text });
    const next: ChatMessage = { role: "user", content: "It is still broken" };
    const [one, two] = [
      [ask, said("Try this"), next],
      [ask, said("Do that"), next],
    ];
    answer({ messages: [ask] });
    answer({ messages: one }, { model: makeModel({ id: "large" }), escalation: 2 });
    expect(view({ messages: two })?.last).toMatchObject({ model: "maker", escalation: 0 });
    answer({ messages: two }, { model: makeModel({ id: "small" }) });
    // Neither is a switch of the other, in any order.
    expect(view({ messages: [...one, said("So"), next] })?.last).toMatchObject({ model: "large", escalation: 2 });
    expect(view({ messages: [...two, said("So"), next] })?.last).toMatchObject({ model: "small", escalation: 0 });
    const ids = [one, two, [ask]].map((messages) => view({ messages })?.id);
    expect(new Set(ids).size).toBe(1);
    const elsewhere = createSessionMemory(
      () => 60_000,
      () => 1_000_000,
    );
    for (const turn of shared) elsewhere.learn(JSON.parse(JSON.stringify(turn)) as SessionTurn);
    expect(shared.map((turn) => elsewhere.turns(turn.session, turn.thread)[0]?.model)).toEqual(["large", "small"]);
    expect(memory.turns(ids[0] ?? "")[0]?.model).toBe("maker");
  });

  it("keeps evidence to the requests that continue the turn, among prompts with the same examples", () => {
    const examples: ChatMessage[] = [
      { role: "system", content: "Sort the tickets" },
      { role: "user", content: "Ticket: cannot log in. Which team?" },
      { role: "assistant", content: "accounts" },
      { role: "user", content: "Ticket: the invoice is wrong. Which team?" },
      { role: "assistant", content: "billing" },
    ];
    const ticket = (text: string): ChatMessage[] => [
      ...examples,
      { role: "user", content: `Ticket: ${text} since this morning, on every machine of the office. Which team?` },
    ];
    const { answer, view, shared } = make();
    answer({ messages: ticket("no network") }, { escalation: 2 });
    expect(view({ messages: ticket("no printers") })?.last).toMatchObject({ model: "maker", escalation: 0 });
    const next: ChatMessage[] = [
      { role: "assistant", content: "network" },
      { role: "user", content: "No, that is wrong" },
    ];
    expect(view({ messages: [...ticket("no network"), ...next] })?.last?.escalation).toBe(2);
    expect(view({ messages: [...ticket("no printers"), ...next] })?.last?.escalation).toBe(0);
    const { answer: inNamed, view: viewNamed } = make();
    inNamed({ messages: ticket("no network"), named: "n" }, { escalation: 1 });
    expect(viewNamed({ messages: next, named: "n" })?.last?.escalation).toBe(1);
    expect(JSON.stringify(shared)).not.toContain("network");
  });

  it("keeps evidence where a client moves its last message, rewrites its notes or clears a result", () => {
    const reminded = (text: string): ChatMessage => ({ role: "user", content: `${text}\n${String(note.content)}` });
    const said: ChatMessage = { role: "assistant", content: "Done" };
    const talk = [ask, said, { role: "user", content: "It fails" }] as const;
    const { answer, view } = make();
    answer({ messages: [...talk.slice(0, 2), reminded("It fails")] }, { escalation: 1 });
    const next = [said, ask];
    expect(view({ messages: [...talk, ...next] })?.last?.escalation).toBe(1);
    expect(view({ messages: [...talk.slice(0, 2), reminded("It works"), ...next] })?.last).toBeNull();
    const loop = [ask, calling("call_a"), result("call_a")];
    const later = [calling("call_b"), result("call_b")];
    answer({ messages: [...loop, ...later] }, { escalation: 2 });
    const cleared = { ...result("call_b"), content: "[cleared]" };
    expect(view({ messages: [...loop, calling("call_b"), cleared, ...next] })?.last?.escalation).toBe(2);
    expect(view({ messages: [...loop, note, ...later, ...next] })?.last?.escalation).toBe(2);
    expect(view({ messages: [...loop, calling("call_c"), result("call_c")] })?.last?.escalation).toBe(0);
  });

  it("keeps evidence where the last message is a note of the client that is gone later", () => {
    const { answer, view } = make();
    const loop = [ask, calling("call_a"), result("call_a")];
    answer({ messages: [...loop, note] }, { escalation: 1 });
    expect(view({ messages: [...loop, calling("call_b"), result("call_b")] })?.last?.escalation).toBe(1);
  });

  it("is known by its own turn, whenever another process tells of one that began alike", () => {
    const { answer, shared } = make();
    const messages = [ask, calling("call_a"), result("call_a")];
    answer({ messages }, { escalation: 2 });
    const [turn] = shared as [SessionTurn];
    const { thread, ...opening } = turn;
    const elsewhere = createSessionMemory(
      () => 60_000,
      () => 1_000_000,
    );
    elsewhere.learn({ ...opening, escalation: 0, atMs: turn.atMs + 50 });
    elsewhere.learn(turn);
    expect(elsewhere.turns(turn.session, thread)[0]).toMatchObject({ escalation: 2 });
  });

  it("carries no evidence between loops that begin with the same call", () => {
    const { answer, view } = make();
    const loop = (id: string): ChatMessage[] => [ask, calling(id), result(id)];
    answer({ messages: loop("call_a") }, { escalation: 1 });
    expect(view({ messages: [...loop("call_a"), calling("call_a2"), result("call_a2")] })?.last?.escalation).toBe(1);
    expect(view({ messages: loop("call_b") })?.last ?? null).toBeNull();
  });

  it("is over when it was silent for long", () => {
    const { answer, view, pass } = make(60_000);
    answer({ messages: [ask] });
    pass(59_999);
    expect(view({ messages: [ask] })?.last).not.toBeNull();
    pass(1);
    expect(view({ messages: [ask] })?.last).toBeNull();
  });

  it("is shared only where that may be of use", () => {
    const { answer, shared } = make();
    answer({ messages: [ask] });
    expect(shared).toEqual([]);
    answer({ messages: [ask, { role: "assistant", content: "Yes" }, ask] });
    answer({ messages: [{ role: "user", content: "x" }], named: "n" });
    answer({ messages: [{ role: "user", content: "y" }] }, { calls: ["c"] });
    expect(shared).toHaveLength(3);
    const elsewhere = make();
    for (const turn of shared) elsewhere.memory.learn(JSON.parse(JSON.stringify(turn)) as SessionTurn);
    expect(elsewhere.view({ messages: [{ role: "user", content: "z" }], named: "n" })?.last?.model).toBe("maker");
  });
});

describe("what a host has cached", () => {
  const cache = { seconds: 300, tokensMin: 1024 };
  const model = makeModel({ id: "maker", cache });
  const system: ChatMessage = { role: "system", content: "Rules of the house. ".repeat(400) };
  const usage = (input: number, cacheRead: number, cacheWrite = 0): Usage => ({
    buckets: { input, cacheRead, cacheWrite, output: 5 },
    longCacheWrite: 0,
    reasoning: 0,
  });
  const first = [system, ask];
  const second = [
    ...first,
    { role: "assistant", content: "Yes" } as const,
    { role: "user", content: "Go on" } as const,
  ];

  it("is what it was sent, for the next turn and for others with the same instructions", () => {
    const { answer, view } = make();
    answer({ messages: first }, { model, usage: usage(2_000, 0) });
    expect(view({ messages: second })?.cached).toMatchObject([{ hostKey: "maker", tokens: 2_000, trust: 1 }]);
    const other = view({ messages: [system, { role: "user", content: "Quite another question" }] });
    expect(other?.last).toBeNull();
    expect(other?.cached[0]?.tokens).toBeGreaterThan(1_900);
    expect(view({ messages: second, accountId: "b" })?.cached).toEqual([]);
    expect(view({ messages: [{ ...system, content: `${String(system.content)}!` }, ask] })?.cached).toEqual([]);
  });

  it("is found for each of two conversations of one name, and at the host that was left", () => {
    const { answer, view } = make();
    const agent = [{ ...system, content: `${String(system.content)}You are a helper.` }, ask];
    for (const [messages, tokens] of [
      [first, 2_000],
      [agent, 3_000],
    ] as const) {
      answer({ messages, named: "n" }, { model, usage: usage(tokens, 0) });
    }
    expect(view({ messages: second, named: "n" })?.cached).toMatchObject([{ tokens: 2_000 }]);
    expect(view({ messages: [...agent, ...second.slice(2)], named: "n" })?.cached).toMatchObject([{ tokens: 3_000 }]);
    const moved = make();
    moved.answer({ messages: first }, { model, usage: usage(2_000, 0) });
    moved.answer({ messages: second }, { model: makeModel({ id: "other", cache }), usage: usage(2_500, 0) });
    expect(moved.view({ messages: [...second, ask] })?.cached).toMatchObject([
      { hostKey: "other", tokens: 2_500 },
      { hostKey: "maker", tokens: 2_000 },
    ]);
  });

  it("is believed less with each turn in which the host counts nothing, and more when it does", () => {
    const { answer, view } = make();
    answer({ messages: first }, { model, usage: usage(2_000, 0) });
    answer({ messages: second }, { model, usage: usage(2_100, 0) });
    expect(view({ messages: [...second, ask] })?.cached[0]).toMatchObject({ tokens: 2_100, trust: 0.5 });
    answer({ messages: [...second, ask] }, { model, usage: usage(100, 2_100) });
    expect(view({ messages: [...second, ask, ask] })?.cached[0]).toMatchObject({ trust: 0.75 });
  });

  it("is only what it reports, where requests have to mark it", () => {
    const explicit = makeModel({ id: "maker", cache: { ...cache, isExplicit: true } });
    const { answer, view } = make();
    answer({ messages: first }, { model: explicit, usage: usage(2_000, 0) });
    expect(view({ messages: second })?.cached).toMatchObject([{ tokens: 0 }]);
    answer({ messages: first }, { model: explicit, usage: usage(100, 0, 1_900) });
    expect(view({ messages: second })?.cached[0]).toMatchObject({ tokens: 1_900 });
  });

  it("is nothing for short prompts and hosts without a cache", () => {
    const { answer, view } = make();
    answer({ messages: first }, { usage: usage(2_000, 0) });
    answer({ messages: first }, { model, usage: usage(900, 0) });
    expect(view({ messages: second })?.cached).toEqual([]);
  });
});

it("holds no long prompt that was answered", () => {
  const made = make();
  const answerTen = (): void => {
    for (let count = 0; count < 10; count += 1) {
      const content = String(Math.random()).repeat(5_000);
      made.answer({ messages: [{ role: "user", content }, calling("call_x"), { ...result("call_x"), content }] });
    }
  };
  // Of 100 prompts of 90 KB.
  expect(keptOf(10, answerTen)).toBeLessThan(4e6);
});
