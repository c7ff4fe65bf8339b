// The vendors' field `service_tier`: which hosts are asked for a tier, what is held and charged, and what the answer,
// the log and the estimate say, for clients and providers of every format.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { askAs, type ClientName, lastService, WAYS } from "../../support/gateway/every-client.ts";
import { startGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { says as claudeSays, startFakeAnthropic } from "../../support/providers/fake-anthropic.ts";
import { says as gemSays, startFakeGemini, streamsChunks } from "../../support/providers/fake-gemini.ts";
import {
  answers,
  type Behaviour,
  chunk,
  type FakeProvider,
  fails,
  startFakeProvider,
  streams,
} from "../../support/providers/fake-provider.ts";
import { responds, startFakeResponses } from "../../support/providers/fake-responses.ts";
import type { Json } from "../../support/providers/streams.ts";
import { type Bank, bankOf } from "../../support/stores/money.ts";

type Lab = "chat" | "claude" | "gem" | "pro";
let labs: Readonly<Record<Lab, FakeProvider>>;
let gateway: TestGateway;
let bank: Bank;

beforeAll(async () => {
  labs = {
    chat: await startFakeProvider(),
    claude: await startFakeAnthropic(),
    gem: await startFakeGemini(),
    pro: await startFakeResponses(),
  };
  gateway = await startGateway({ yaml: yaml() });
  bank = bankOf(labs.chat, gateway);
});
beforeEach(() => {
  for (const lab of Object.values(labs)) lab.reset();
});
afterAll(async () => {
  await gateway.stop();
  for (const lab of Object.values(labs)) await lab.close();
});

const TIERED = "{ input: 1, output: 4, factors: { batch: 0.5, flex: 0.5, priority: 2 } }";

function yaml(): string {
  const provider = (id: Lab, kind: string) => `  ${id}: { kind: ${kind}, baseUrl: "${labs[id].url}", apiKey: k }`;
  const model = (id: string, lab: Lab, price: string) =>
    `  - { id: ${id}, provider: ${lab}, price: ${price}, capabilities: [tools, json], context: 200000, maxOutput: 1000 }`;
  return [
    "catalog: none",
    "limits: { requestsPerMinute: 100000 }",
    "health: { failuresInRow: 100000, callsMin: 100000 }",
    "providers:",
    ...[provider("chat", "openai"), provider("claude", "anthropic")],
    ...[provider("gem", "gemini"), provider("pro", "responses")],
    "models:",
    ...(["chat", "gem", "pro"] as const).map((lab) => model(lab, lab, TIERED)),
    model("claude", "claude", "{ input: 1, output: 4, factors: { batch: 0.5 } }"),
    model("plain", "chat", "{ input: 1, output: 4 }"),
    "tiers: { NANO: [chat, plain], SIMPLE: [plain], LIGHT: [chat, plain], STANDARD: [plain], COMPLEX: [plain] }",
    "routing: { baseline: plain, markup: 0 }",
  ].join("\n");
}

/** An answer of 1,000 tokens to a prompt of 1,000, by a provider that says which tier it was. */
function reports(lab: Lab, tier: string | null): Behaviour {
  const counts = { prompt_tokens: 1_000, completion_tokens: 1_000, total_tokens: 2_000 };
  const tiered = tier === null ? {} : { service_tier: tier };
  switch (lab) {
    case "chat":
      return (exchange) => {
        const whole = answers("ok", { usage: counts, ...tiered });
        const last = { ...chunk("chat", {}, "stop"), usage: counts, ...tiered };
        const isStream = exchange.request.body.stream === true;
        return (isStream ? streams([chunk("chat", { content: "ok" }), last]) : whole)(exchange);
      };
    case "pro":
      return responds("ok", {
        usage: { input_tokens: 1_000, output_tokens: 1_000, total_tokens: 2_000 },
        extra: tiered,
      });
    case "gem":
      return gemSays("ok", {
        usage: {
          promptTokenCount: 1_000,
          candidatesTokenCount: 1_000,
          ...(tier === null ? {} : { serviceTier: tier }),
        },
      });
    case "claude":
      return claudeSays("ok", { usage: { input_tokens: 1_000, output_tokens: 1_000, ...tiered } });
  }
}

/** 1,000 tokens in and out at 1 and 4 USD per million. */
const USUAL = 5_000_000n;
const PRIORITY = 2n * USUAL;
const FLEX = USUAL / 2n;

interface Asked {
  readonly client?: ClientName;
  readonly model: string;
  readonly isStream?: boolean;
  readonly body?: object;
}

async function ask({ client = "chat", model, isStream = false, body = {} }: Asked) {
  let text = "";
  const spent = await bank.spentBy(async () => {
    const answer = await askAs(gateway, { client, model, isStream }, { service_profile: "direct", ...body });
    text = await answer.text();
  });
  const service = lastService(text) as Json;
  const { notes = [] } = service as { notes?: readonly Json[] };
  return { text, spent, service, notes };
}

const sentTo = (lab: Lab): Json => labs[lab].requests.at(-1)?.body as unknown as Json;

const CLIENTS = ["chat", "responses", "messages", "gemini", "completions"] as const;

describe.each(["chat", "pro", "gem"] as const)("a tier with a price at %s", (lab) => {
  // What a client is told does not depend on who served it.
  const ways = lab === "chat" ? WAYS : WAYS.filter(([client]) => client === "messages");
  it.each(CLIENTS)("is asked for and charged, for a client of %s", async (client) => {
    labs[lab].on("*", reports(lab, "priority"));
    const { spent, service, notes } = await ask({ client, model: lab, body: { service_tier: "priority" } });
    expect(sentTo(lab)).toMatchObject({ service_tier: "priority" });
    expect([spent, service.serviceTier]).toEqual([PRIORITY, "priority"]);
    expect(notes.filter(({ message }) => String(message).includes("tier"))).toEqual([]);
  });

  it("is charged as the provider reports it, not as it was asked for", async () => {
    labs[lab].on("*", reports(lab, "default"));
    const { spent, service } = await ask({ model: lab, body: { service_tier: "priority" } });
    expect(spent).toBe(USUAL);
    expect(service).not.toHaveProperty("serviceTier");
  });

  it.each(ways)(
    "is charged at the dearer one where the provider names none, for %s, stream %s",
    async (client, isStream) => {
      labs[lab].on("*", reports(lab, null));
      for (const [tier, amount, charged] of [
        ["priority", PRIORITY, "priority"],
        ["flex", USUAL, "default"],
      ] as const) {
        const { spent, notes } = await ask({ client, model: lab, isStream, body: { service_tier: tier } });
        expect(spent).toBe(amount);
        const message = `The provider did not say at which service tier it answered. '${charged}' is charged, the dearer of the two.`;
        expect(notes).toEqual([{ code: "service_tier_untold", message }]);
      }
    },
  );

  it.each(ways)("is told where the provider answers at another one, for %s, stream %s", async (client, isStream) => {
    const told = async (tier: string | null, asked: string) => {
      labs[lab].on("*", reports(lab, tier));
      const { spent, notes } = await ask({ client, model: lab, isStream, body: { service_tier: asked } });
      return [spent, notes];
    };
    const note = (served: string, asked: string) => ({
      code: "service_tier_changed",
      message: `The provider answered at the service tier '${served}' instead of '${asked}', and that tier is charged.`,
    });
    expect(await told("default", "priority")).toEqual([USUAL, [note("default", "priority")]]);
    expect(await told("flex", "priority")).toEqual([FLEX, [note("flex", "priority")]]);
    expect(await told("priority", "default")).toEqual([PRIORITY, [note("priority", "default")]]);
    expect(await told("priority", "priority")).toEqual([PRIORITY, []]);
  });

  it("may be the usual one by name, or left to the provider", async () => {
    labs[lab].on("*", reports(lab, null));
    await ask({ model: lab, body: { service_tier: "default" } });
    expect(sentTo(lab).service_tier).toBe(lab === "gem" ? "standard" : "default");
    for (const body of [{}, { service_tier: "auto" }, { service_tier: null }]) {
      const { notes } = await ask({ model: lab, body });
      expect(sentTo(lab)).not.toHaveProperty("service_tier");
      expect(notes).toEqual([]);
    }
  });
});

it("counts the tier that a Gemini stream names before its counts", async () => {
  const part = (more: object) => ({ candidates: [{ content: { parts: [{ text: "ok" }] }, index: 0, ...more }] });
  const counts = { promptTokenCount: 1_000, candidatesTokenCount: 1_000 };
  const first = { ...part({}), usageMetadata: { trafficType: "ON_DEMAND_PRIORITY" } };
  labs.gem.on("*", streamsChunks([first, { ...part({ finishReason: "STOP" }), usageMetadata: counts }]));
  const asked = { model: "gem", isStream: true, body: { service_tier: "priority" } };
  const { spent, service } = await ask(asked);
  expect([spent, service.serviceTier]).toEqual([PRIORITY, "priority"]);
});

it("takes Gemini's field under both its names", async () => {
  labs.gem.on("*", reports("gem", "flex"));
  for (const body of [{ serviceTier: "flex" }, { service_tier: "SERVICE_TIER_FLEX" }]) {
    const { spent } = await ask({ client: "gemini", model: "gem", body });
    expect(sentTo("gem")).toMatchObject({ service_tier: "flex" });
    expect(sentTo("gem")).not.toHaveProperty("serviceTier");
    expect(spent).toBe(FLEX);
  }
});

it("asks Anthropic for the usual tier alone, and says so of another one", async () => {
  labs.claude.on("*", reports("claude", "standard"));
  const usual = await ask({ client: "messages", model: "claude", body: { service_tier: "standard_only" } });
  expect(sentTo("claude")).toMatchObject({ service_tier: "standard_only" });
  expect([usual.spent, usual.notes]).toEqual([USUAL, []]);
  const flex = await ask({ client: "chat", model: "claude", body: { service_tier: "flex" } });
  expect(sentTo("claude")).not.toHaveProperty("service_tier");
  expect(flex.notes).toEqual([expect.objectContaining({ code: "option_dropped" })]);
});

describe("a host without a price for the tier", () => {
  it.each(CLIENTS)("serves it at the usual one with a note, for a client of %s", async (client) => {
    labs.chat.on("*", reports("chat", null));
    const { spent, notes } = await ask({ client, model: "plain", body: { service_tier: "flex" } });
    expect(sentTo("chat")).not.toHaveProperty("service_tier");
    expect(spent).toBe(USUAL);
    const message = "Served at the usual service tier instead of 'flex': its price is not known.";
    expect(notes).toContainEqual({ code: "option_dropped", message });
  });

  it("is one that refuses the field, which is asked once more without it", async () => {
    const error = { message: "Unknown parameter: 'service_tier'.", param: "service_tier", code: "unknown_parameter" };
    labs.chat.once("chat", fails(400, error));
    const { notes, service } = await ask({ model: "chat", body: { service_tier: "flex" } });
    expect(labs.chat.requests.map(({ body }) => (body as unknown as Json).service_tier)).toEqual(["flex", undefined]);
    expect(notes).toHaveLength(1);
    expect(service).not.toHaveProperty("serviceTier");
    expect(notes).toContainEqual(expect.objectContaining({ message: expect.stringContaining("does not take it") }));
  });

  it("is never asked for a tier that nobody has", async () => {
    const { notes } = await ask({ model: "chat", body: { service_tier: "scale" } });
    expect(sentTo("chat")).not.toHaveProperty("service_tier");
    expect(notes).toEqual([expect.objectContaining({ code: "option_dropped" })]);
  });
});

it("a field of ours stays one of ours", async () => {
  const { service } = await ask({ model: "auto", body: { service_profile: "tier", service_tier: "SIMPLE" } });
  expect(service).toMatchObject({ tier: "SIMPLE", model: "plain" });
  expect(sentTo("chat")).not.toHaveProperty("service_tier");
});

describe("the hold", () => {
  it.each([
    ["priority", 2n],
    ["flex", 1n],
    ["auto", 1n],
  ] as const)("covers the dearest tier that %s can reach", async (tier, factor) => {
    let held = 0n;
    const behaves = reports("chat", tier);
    labs.chat.on("*", async (exchange) => {
      held = (await bank.balance()).held;
      await behaves(exchange);
    });
    const body = { max_tokens: 1_000, messages: [{ role: "user", content: "word ".repeat(2_000) }] };
    const { spent } = await ask({ model: "chat", body: { ...body, service_tier: tier } });
    // Two bytes for each token, and a cache write for each.
    expect(held).toBeGreaterThan(factor * 10_000_000n);
    expect(held).toBeLessThan(factor * 12_000_000n);
    expect(held).toBeGreaterThanOrEqual(spent);
  });

  it("is right after a fallback to a host that has the tier at no price", async () => {
    let held = 0n;
    labs.chat.on("chat", fails(500));
    const behaves = reports("chat", null);
    labs.chat.on("plain", async (exchange) => {
      held = (await bank.balance()).held;
      await behaves(exchange);
    });
    const body = { service_profile: "auto", service_tier_ceiling: "NANO", service_tier: "priority", max_tokens: 1_000 };
    const { spent, service, notes } = await ask({ model: "auto", body });
    expect(service).toMatchObject({ tier: "NANO", model: "chat", fallback: true });
    expect(service).not.toHaveProperty("serviceTier");
    expect(notes).toContainEqual(expect.objectContaining({ message: expect.stringContaining("'priority'") }));
    expect(spent).toBe(USUAL);
    // The output alone, at the tier of the host that failed.
    expect(held).toBeGreaterThan(8_000_000n);
  });
});

it("a stream is charged at the tier of its counts, and one that the client leaves at the tier that was asked for", async () => {
  const usage = { prompt_tokens: 1_000, completion_tokens: 1_000, total_tokens: 2_000 };
  const last = { ...chunk("chat", {}, "stop"), usage, service_tier: "priority" };
  labs.chat.on("*", streams([chunk("chat", { content: "fine" }), last]));
  const { spent, service } = await ask({ model: "chat", isStream: true, body: { service_tier: "priority" } });
  expect([spent, service.serviceTier]).toEqual([PRIORITY, "priority"]);

  const left = async (tier: string): Promise<bigint> => {
    labs.chat.on("*", streams([chunk("chat", { content: "word ".repeat(100) })], { ending: "hang" }));
    return bank.spentBy(async () => {
      const leaving = bank.open({ model: "chat", service_profile: "direct", stream: true, service_tier: tier });
      const response = await leaving.response;
      await new Promise((resolve) => response.once("data", resolve));
      leaving.leave();
    });
  };
  const usual = await left("auto");
  expect(usual).toBeGreaterThan(0n);
  expect(await left("priority")).toBe(2n * usual);
});

it("the estimate, the log and the whole answer name the tier", async () => {
  const estimateOf = async (tier: string): Promise<Json> => {
    const body = { prompt: "Hi", profile: "direct", model: "chat", service_tier: tier };
    const { decision } = (await (await gateway.post("/v1/routing/debug", body)).json()) as { decision: Json };
    return decision;
  };
  const [usual, flex] = [await estimateOf("auto"), await estimateOf("flex")];
  expect(usual).not.toHaveProperty("serviceTier");
  expect(flex.serviceTier).toBe("flex");
  expect(flex.costEstimate).toBeCloseTo((usual.costEstimate as number) / 2, 8);

  labs.pro.on("*", reports("pro", "flex"));
  const { text } = await ask({ client: "chat", model: "pro", body: { service_tier: "flex" } });
  expect(JSON.parse(text)).toMatchObject({ service_tier: "flex" });
  labs.chat.on("*", reports("chat", "flex"));
  const responses = await ask({ client: "responses", model: "chat", body: { service_tier: "flex" } });
  expect(JSON.parse(responses.text)).toMatchObject({ service_tier: "flex" });
  const messages = await ask({ client: "messages", model: "chat", body: { service_tier: "flex" } });
  expect(JSON.parse(messages.text)).toMatchObject({
    usage: { service_tier: "flex" },
    service: { serviceTier: "flex" },
  });

  const { data } = (await (await gateway.api("GET", "/api/requests?limit=1")).json()) as { data: readonly Json[] };
  expect(data[0]).toMatchObject({ serviceTier: "flex" });
});
