// Sessions over HTTP: turns stay where their prompt is cached, tiers hold, and the debug endpoint decides the same.
// Behaviour 5.20 to 5.22.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { answers, type FakeProvider, startFakeProvider } from "../../support/providers/fake-provider.ts";

let provider: FakeProvider;
let folder: string;
let gateway: TestGateway;

beforeAll(async () => {
  provider = await startFakeProvider();
  folder = mkdtempSync(join(tmpdir(), "switchyard-sessions-"));
});
afterAll(async () => {
  await provider.close();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  provider.reset();
  provider.on("*", counting(10_000, 0));
  gateway = await startGateway({ yaml: yaml() });
  return () => gateway.stop();
});

const counting = (prompt: number, cached: number) =>
  answers("Fine.", {
    usage: {
      prompt_tokens: prompt,
      completion_tokens: 5,
      total_tokens: prompt + 5,
      prompt_tokens_details: { cached_tokens: cached },
    },
  });

function yaml(more: readonly string[] = []): string {
  const row = (id: string, tier: string, usd: number, output = usd * 3, cacheRead = usd / 10): string =>
    `  - { id: ${id}, provider: lab, tier: ${tier}, price: { input: ${usd}, output: ${output}, cacheRead: ${cacheRead} }, context: 200000, capabilities: [tools] }`;
  return [
    "catalog: none",
    "limits: { requestsPerMinute: 100000 }",
    `providers: { lab: { kind: openai, baseUrl: "${provider.url}", apiKey: lab-secret } }`,
    "models:",
    row("tiny", "NANO", 0.2),
    row("small", "LIGHT", 1),
    row("other", "LIGHT", 1.5),
    // Cached, it costs less than a smaller one that is not, over the whole conversation.
    row("large", "COMPLEX", 2, 3, 0.02),
    "tiers: { NANO: [tiny], SIMPLE: [small, other], LIGHT: [small, other], STANDARD: [small, other], COMPLEX: [large] }",
    ...(more.length === 0 ? ["routing: { baseline: large, markup: 0 }"] : more),
  ].join("\n");
}

const RULES = { role: "system", content: "The harbour opens at dawn and closes at dusk. ".repeat(900) };
const FIRST = { role: "user", content: "Write an email to my boss asking for a day off" };
const NEXT = [
  { role: "assistant", content: "Fine." },
  { role: "user", content: "Write another email to my landlord about the broken heating in my flat" },
];

interface Reply {
  readonly model: string;
  readonly service: { readonly tier: string; readonly model: string; readonly session: string };
}

async function ask(messages: readonly object[], extra: object = {}, at = gateway): Promise<Reply> {
  const response = await at.post("/v1/chat/completions", { model: "auto", messages, ...extra });
  expect(response.status).toBe(200);
  return (await response.json()) as Reply;
}

interface Decided {
  readonly tier: string;
  readonly model: string;
  readonly session: string;
  readonly reasoning: string;
  readonly filteredChain: readonly string[];
}

async function debug(messages: readonly object[], extra: object = {}): Promise<Decided> {
  const response = await gateway.post("/v1/routing/debug", { prompt: " ", messages, ...extra });
  return ((await response.json()) as { decision: Decided }).decision;
}

describe("a conversation", () => {
  it("stays above its tier while its cached prompt makes that cheaper, and leaves when that is gone", async () => {
    const started = await ask([RULES, FIRST], { service_tier_floor: "COMPLEX" });
    expect(started).toMatchObject({ model: "large", service: { session: "started", tier: "COMPLEX" } });
    const predicted = await debug([RULES, FIRST, ...NEXT]);
    expect(predicted).toMatchObject({ tier: "LIGHT", model: "large", session: "stayed" });
    expect(predicted.filteredChain).toEqual(["large", "small", "other"]);
    expect(predicted.reasoning).toMatch(/stays on large: \d+k cached tokens make it \$0\.00\d+ cheaper than small/);
    provider.on("*", counting(10_100, 0));
    const second = await ask([RULES, FIRST, ...NEXT]);
    expect(second).toMatchObject({ model: "large", service: { session: "stayed", tier: "LIGHT" } });
    // The provider counted nothing as cached, so the next turn does not count on it.
    const third = await ask([RULES, FIRST, ...NEXT, ...NEXT]);
    expect(third).toMatchObject({ model: "small", service: { session: "switched", tier: "LIGHT" } });
  });

  it("is decided by a request's own bounds", async () => {
    await ask([RULES, FIRST], { service_tier_floor: "COMPLEX" });
    const bounds = { service_tier_ceiling: "STANDARD" };
    expect((await ask([RULES, FIRST, ...NEXT], bounds)).service).toMatchObject({ model: "small", session: "switched" });
    const forced = { service_profile: "tier", service_tier: "LIGHT" };
    expect((await ask([RULES, FIRST, ...NEXT], forced)).model).toBe("small");
    expect((await ask([RULES, FIRST, ...NEXT], { service_profile: "direct", model: "tiny" })).model).toBe("tiny");
  });

  it("decides live as the debug endpoint said, over many turns", async () => {
    const messages: object[] = [{ ...RULES, content: `Größe: 大. ${RULES.content}` }, FIRST];
    const asks = [
      "What is 2+2?",
      "Prove that there are infinitely many primes",
      "Thanks!",
      "Translate 'dog' to French",
    ];
    for (let turn = 0; turn < 12; turn++) {
      provider.on("*", counting(10_000 + turn * 50, turn % 3 === 0 ? 0 : 9_900));
      const predicted = await debug(messages);
      const { model, service } = await ask(messages);
      expect({ model, tier: service.tier, session: service.session }).toEqual({
        model: predicted.model,
        tier: predicted.tier,
        session: predicted.session,
      });
      messages.push({ role: "assistant", content: "Fine." }, { role: "user", content: asks[turn % asks.length] });
    }
  });

  it("is named by service_session, and the log has its id and state, not its name", async () => {
    const named = { service_session: "alice@example.com" };
    expect((await ask([FIRST], named)).service.session).toBe("started");
    expect((await ask([{ role: "user", content: "Write an email to my sister" }], named)).service.session).toBe(
      "stayed",
    );
    expect((await ask([FIRST])).service.session).toBe("started");
    const listed = await (await gateway.api("GET", "/api/requests")).text();
    const rows = (JSON.parse(listed) as { data: { session: string; sessionState: string }[] }).data;
    expect(rows.map(({ sessionState }) => sessionState)).toEqual(["started", "stayed", "started"]);
    expect(rows[1]?.session).toBe(rows[2]?.session);
    expect(rows[0]?.session).not.toBe(rows[1]?.session);
    expect(listed).not.toContain("alice");
  });

  it("shares long instructions with other conversations of the account", async () => {
    await ask([RULES, FIRST], { service_profile: "direct", model: "other" });
    const fresh = await debug([RULES, { role: "user", content: "Write an email to my neighbour about the noise" }]);
    expect(fresh).toMatchObject({ model: "other", session: "started" });
    expect(fresh.reasoning).toContain("uses other:");
  });

  it("that is short or new is decided as without sessions", async () => {
    await ask([FIRST], { service_tier_floor: "COMPLEX" });
    expect(await ask([FIRST, ...NEXT])).toMatchObject({ model: "small", service: { session: "switched" } });
  });
});

/** What a client sends with its nth request, and where. `before`: the response to the one before. */
type Client = (
  rules: string,
  said: readonly string[],
  before: { readonly id: string } | null,
) => readonly [path: string, body: object];

const roles = (said: readonly string[], assistant: string): (readonly [role: string, text: string])[] =>
  said.flatMap(
    (text, at) =>
      (at === 0
        ? [["user", text]]
        : [
            [assistant, "Fine."],
            ["user", text],
          ]) as [string, string][],
  );

const CLIENTS: Readonly<Record<string, Client>> = {
  Messages: (system, said) => {
    const messages = roles(said, "assistant").map(([role, content]) => ({ role, content }));
    return ["/v1/messages", { model: "auto", max_tokens: 400, system, messages }];
  },
  Responses: (instructions, said) => {
    const input = roles(said, "assistant").map(([role, content]) => ({ role, content }));
    return ["/v1/responses", { model: "auto", store: false, instructions, input }];
  },
  "Responses by id": (instructions, said, before) => [
    "/v1/responses",
    {
      model: "auto",
      instructions,
      input: said.at(-1),
      ...(before === null ? {} : { previous_response_id: before.id }),
    },
  ],
  Gemini: (text, said) => {
    const contents = roles(said, "model").map(([role, part]) => ({ role, parts: [{ text: part }] }));
    return ["/v1beta/models/auto:generateContent", { systemInstruction: { parts: [{ text }] }, contents }];
  },
};

it("clients of every format stay over several turns", async () => {
  const asks = [FIRST.content, NEXT[1]?.content as string, "Write an email to my sister about the harvest"];
  for (const [name, client] of Object.entries(CLIENTS)) {
    let before: { readonly id: string } | null = null;
    const states: object[] = [];
    for (const turn of [1, 2, 3]) {
      provider.on("*", counting(10_000 + 50 * turn, turn === 1 ? 0 : 9_900));
      const [path, body] = client(`${name}. ${RULES.content}`, asks.slice(0, turn), before);
      const response = await gateway.post(path, turn === 1 ? { ...body, service_tier_floor: "COMPLEX" } : body);
      const reply = (await response.json()) as Reply & { readonly id: string };
      before = reply;
      const { session, tier, model } = reply.service;
      states.push({ session, tier, model });
    }
    expect([name, ...states]).toEqual([
      name,
      { session: "started", tier: "COMPLEX", model: "large" },
      { session: "stayed", tier: "LIGHT", model: "large" },
      { session: "stayed", tier: "LIGHT", model: "large" },
    ]);
  }
});

it("the timeline compares each turn with the one before in its own conversation", async () => {
  const direct = (model: string) => ({ service_profile: "direct", model });
  const said = (content: string) => [{ role: "assistant", content }, NEXT[1] as object];
  const [one, two] = [said("Dear boss"), said("Hello boss")];
  await ask([FIRST], direct("tiny"));
  await ask([FIRST, ...one], direct("small"));
  await ask([FIRST, ...two], direct("other"));
  await ask([FIRST, ...one, ...one], direct("large"));
  await ask([FIRST, ...two, ...two], direct("other"));
  const { data } = (await (await gateway.api("GET", "/api/sessions")).json()) as { data: { session: string }[] };
  const detail = await gateway.api("GET", `/api/sessions/${data[0]?.session}`);
  const { turnList } = (await detail.json()) as {
    turnList: { model: string; sessionState: string; before: { model: string; provider: string } | null }[];
  };
  expect(turnList.map(({ model, sessionState, before }) => [before?.model ?? null, model, sessionState])).toEqual([
    [null, "tiny", "started"],
    ["tiny", "small", "switched"],
    ["tiny", "other", "switched"],
    ["small", "large", "switched"],
    ["other", "other", "stayed"],
  ]);
  expect(turnList[3]?.before).toEqual({ model: "small", provider: "lab", tier: "LIGHT" });
});

it("a replay knows what conversations have cached, each by itself", async () => {
  const said = (content: string) => [{ role: "assistant", content }, NEXT[1] as object];
  for (const [first, floor] of [
    [said("Dear boss"), "COMPLEX"],
    [said("Hello boss"), "LIGHT"],
  ] as const) {
    const talk = [{ ...RULES, content: `${floor}. ${RULES.content}` }, FIRST, ...first];
    const { model } = await ask(talk, { service_tier_floor: floor });
    for (const turn of [1, 2]) {
      talk.push(...said(`Fine, ${turn}`));
      provider.on("*", counting(10_000, 9_900));
      expect(await ask(talk)).toMatchObject({ model, service: { tier: "LIGHT", session: "stayed" } });
    }
  }
  const replay = async (profile: object) =>
    (await (await gateway.api("POST", "/api/profiles/replay", { profile })).json()) as Record<string, unknown>;
  expect(await replay({})).toMatchObject({ requests: 6, changed: 0 });
  const { changes } = await replay({ tierCeiling: "STANDARD" });
  expect((changes as { after: { model: string } }[]).map(({ after }) => after.model)).toEqual([
    "small",
    "small",
    "small",
  ]);
});

describe("texts outside of ASCII", () => {
  const rules = (name: string) =>
    `Größe 大 für ${name}. ${"Das Tor öffnet um fünf, 港は夜明けに開きます。 ".repeat(300)}`;
  const asks = ["Schreib eine E-Mail an meine Chefin über drei freie Tage für die 祭り", "Schreib auch eine an Jürgen"];
  const chat: Client = (system, said) => {
    const messages = [["system", system], ...roles(said, "assistant")].map(([role, content]) => ({ role, content }));
    return ["/v1/chat/completions", { model: "auto", messages }];
  };
  const { Messages, Responses, Gemini } = CLIENTS as Record<"Messages" | "Responses" | "Gemini", Client>;
  const escaped = (body: object): string =>
    JSON.stringify(body).replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
  const WRITERS: Readonly<Record<string, readonly [Client, (body: object) => string]>> = {
    chat: [chat, JSON.stringify],
    "chat with escapes": [chat, escaped],
    Messages: [Messages, JSON.stringify],
    "Messages with escapes": [Messages, escaped],
    Responses: [Responses, JSON.stringify],
    Gemini: [Gemini, JSON.stringify],
  };
  const headersOf = (name: string) => (name.startsWith("Messages") ? { "anthropic-version": "2023-06-01" } : {});

  it("are the same conversation in every format, with and without escapes", async () => {
    const names = Object.keys(WRITERS);
    const seen: string[] = [];
    for (const from of names) {
      const [client, write] = WRITERS[from] as (typeof WRITERS)[string];
      const [path, body] = client(rules(from), asks.slice(0, 1), null);
      const first = await gateway.post(path, write({ ...body, service_tier_floor: "COMPLEX" }), headersOf(from));
      expect([from, first.status]).toEqual([from, 200]);
      for (const to of names) {
        const [other, writeOther] = WRITERS[to] as (typeof WRITERS)[string];
        const sent = writeOther({ prompt: "x", ...other(rules(from), asks, null)[1] });
        const { decision } = (await (await gateway.post("/v1/routing/debug", sent, headersOf(to))).json()) as {
          decision: Decided;
        };
        seen.push(
          `${from} to ${to}: ${decision.session} on ${decision.model}, ${/\d+k cached/.exec(decision.reasoning)}`,
        );
      }
    }
    const expected = names.flatMap((from) => names.map((to) => `${from} to ${to}: stayed on large, 5k cached`));
    expect(seen).toEqual(expected);
  });

  const debugged = async (name: string, body: string): Promise<object> => {
    const response = await gateway.post("/v1/routing/debug", body, headersOf(name));
    const { decision } = (await response.json()) as { decision: Decided & { readonly costEstimate: number } };
    const { reasoning, filteredChain, costEstimate } = decision;
    return { reasoning, chain: filteredChain, cost: costEstimate };
  };
  const decidedLive = async (name: string, path: string, body: string): Promise<object> => {
    expect([name, (await gateway.post(path, body, headersOf(name))).status]).toEqual([name, 200]);
    const listed = (await (await gateway.api("GET", "/api/requests?limit=1")).json()) as { data: { id: string }[] };
    const { decision } = (await (await gateway.api("GET", `/api/requests/${listed.data[0]?.id}`)).json()) as {
      decision: { reasoning: string; chain: string[]; costEstimateUsd: string };
    };
    return { reasoning: decision.reasoning, chain: decision.chain, cost: Number(decision.costEstimateUsd) };
  };

  it("are decided live as the debug endpoint says, in every format", async () => {
    for (const [name, [client, write]] of Object.entries(WRITERS)) {
      for (const turn of [1, 2]) {
        const [path, body] = client(rules(`${name} again`), asks.slice(0, turn), null);
        const predicted = await debugged(name, write({ prompt: " ", ...body }));
        expect([name, turn, await decidedLive(name, path, write(body))]).toEqual([name, turn, predicted]);
      }
    }
  });

  it("are decided live as they are when given as prompt and system prompt", async () => {
    for (const [name, [client, write]] of Object.entries(WRITERS)) {
      if (name === "Responses" || name === "Gemini") continue;
      const [path, body] = client(rules(`${name} bare`), asks.slice(0, 1), null);
      const bare = { prompt: asks[0], system_prompt: rules(`${name} bare`), max_tokens: 400 };
      const predicted = await debugged(name, write(bare));
      expect([name, await decidedLive(name, path, write({ ...body, max_tokens: 400 }))]).toEqual([name, predicted]);
    }
  });
});

describe("a tool loop", () => {
  const tools = [{ type: "function", function: { name: "run", parameters: { type: "object", properties: {} } } }];
  const called = (id: string, command: string) => ({
    role: "assistant",
    content: null,
    tool_calls: [{ id, type: "function", function: { name: "run", arguments: JSON.stringify({ command }) } }],
  });
  const result = (id: string, content: string) => ({ role: "tool", tool_call_id: id, content });
  const task = { role: "user", content: "Write an email to my boss with the list of files" };

  it("goes up by evidence of failure, one tier for two signs, unless that is off", async () => {
    const failing = [
      ...[called("call_a", "./deploy"), result("call_a", "Error: no such folder")],
      ...[called("call_b", "./deploy a"), result("call_b", "Error: no such folder")],
      ...[called("call_c", "./deploy b"), result("call_c", "Error: no such folder")],
    ];
    expect((await debug([task], { tools })).tier).toBe("LIGHT");
    const raised = await debug([task, ...failing], { tools });
    expect(raised).toMatchObject({ tier: "STANDARD", session: "escalated" });
    expect(raised.reasoning).toContain("raised from LIGHT to STANDARD: 3 tool calls failed in a row");
    expect(raised.reasoning).toMatch(/which costs about \$0\.\d+ more for this request/);
    const third = [
      ...[called("call_d", "./deploy c"), result("call_d", "Error: no such command")],
      ...[called("call_e", "./deploy d"), result("call_e", "Error: no such command")],
    ];
    expect((await debug([task, ...failing, ...third], { tools })).tier).toBe("COMPLEX");
    expect((await debug([task, ...failing, ...third], { tools, service_tier_ceiling: "STANDARD" })).tier).toBe(
      "STANDARD",
    );
    expect((await debug([task, ...failing, ...third], { tools, service_escalate: "off" })).tier).toBe("LIGHT");
    const profile = (await (await gateway.api("POST", "/api/profiles", { name: "calm", escalate: "off" })).json()) as {
      id: string;
    };
    const made = (await (await gateway.api("POST", "/api/keys", { name: "k", profile: profile.id })).json()) as {
      key: string;
    };
    const calm = await gateway.post(
      "/v1/routing/debug",
      { prompt: task.content, messages: [task, ...failing, ...third], tools },
      { authorization: `Bearer ${made.key}` },
    );
    expect(((await calm.json()) as { decision: Decided }).decision.tier).toBe("LIGHT");
  });

  it("says escalated once, then stays, and goes down with a new task", async () => {
    const failing = [
      ...["a", "b", "c", "d", "e"].flatMap((name) => [
        called(`call_${name}`, `./deploy ${name}`),
        result(`call_${name}`, "Error: no such host"),
      ]),
    ];
    expect((await ask([task, ...failing], { tools })).service).toMatchObject({ session: "escalated", tier: "COMPLEX" });
    const on = [...failing, called("call_f", "pwd"), result("call_f", "/home")];
    expect((await ask([task, ...on], { tools })).service).toMatchObject({ session: "stayed", tier: "COMPLEX" });
    const done = [...on, { role: "assistant", content: "Done." }, NEXT[1] as object];
    expect((await ask([task, ...done], { tools })).service).toMatchObject({ session: "switched", tier: "LIGHT" });
  });
});

describe("the state of sessions", () => {
  it("survives a restart, and losing it changes no answer", async () => {
    const database = `sqlite:${join(folder, "restart.db")}`;
    const first = await startGateway({ yaml: yaml(), database });
    const { key } = first;
    await ask([RULES, FIRST], { service_tier_floor: "COMPLEX" }, first);
    await first.stop();
    const again = await startGateway({ yaml: yaml(), database });
    const asked = { model: "auto", messages: [RULES, FIRST, ...NEXT] };
    const authorization = { authorization: `Bearer ${key}` };
    const kept = (await (await again.post("/v1/chat/completions", asked, authorization)).json()) as Reply;
    expect(kept).toMatchObject({ model: "large", service: { session: "stayed", tier: "LIGHT" } });
    await again.stop();
    const off = await startGateway({ yaml: yaml(["routing: { baseline: large, sessionMinutes: 0 }"]), database });
    const alone = (await (await off.post("/v1/chat/completions", asked, authorization)).json()) as Reply;
    expect(alone).toMatchObject({ model: "small", service: { tier: "LIGHT" } });
    expect(alone.service.session).toBeUndefined();
    await off.stop();
  });
});
