// `service.notes` and `service.costUsd`: what the gateway did that nobody asked for, and what the answer cost, for clients
// of every format on providers of every format, whole and streamed.

import { afterAll, beforeAll, beforeEach, describe, expect, it, test } from "vitest";
import { NOTE_CODES } from "../../../src/core/requests/notes.ts";
import {
  askAs,
  EVERY_MODEL,
  type EveryFormat,
  lastService,
  servicesIn,
  startEveryFormat,
  WAYS,
} from "../../support/gateway/every-client.ts";
import { completion, fails, sends, streams, textChunks } from "../../support/providers/fake-provider.ts";
import type { Json } from "../../support/providers/streams.ts";
import { type Bank, bankOf, usd } from "../../support/stores/money.ts";

let every: EveryFormat;
let bank: Bank;
beforeAll(async () => {
  every = await startEveryFormat();
  bank = bankOf(every.providers.alpha, every.gateway);
});
beforeEach(() => every.reset());
afterAll(() => every.close());

const DIRECT = { service_profile: "direct" };
const TYPO = { service_teir: "LIGHT", service_tier_flor: "LIGHT" };
const UNKNOWN = [
  { code: "unknown_control", message: "Ignored 'service_teir': there is no such field." },
  { code: "unknown_control", message: "Ignored 'service_tier_flor': there is no such field." },
];

function codesOf(service: Json | undefined): readonly unknown[] {
  return ((service?.notes ?? []) as readonly Json[]).map(({ code }) => code);
}

describe.each(EVERY_MODEL)("on %s", (model) => {
  test.each(WAYS)("%s, stream %s: an unknown control is told, and what it cost", async (client, isStream) => {
    let text = "";
    const spent = await bank.spentBy(async () => {
      const asked = { client, isStream, model };
      text = await (await askAs(every.gateway, asked, { ...DIRECT, ...TYPO })).text();
    });
    const service = lastService(text);
    expect(service?.notes).toEqual(expect.arrayContaining(UNKNOWN));
    expect(String(service?.costUsd)).toMatch(/^0\.0*[1-9]\d*$/);
    expect(usd(spent)).toBe(String(service?.costUsd).padEnd(11, "0"));
    // The first event tells what is known by then. A stream of one event has its cost there.
    const earlier = servicesIn(text).slice(0, -1);
    for (const each of earlier) {
      expect(each).toMatchObject({ notes: expect.arrayContaining(UNKNOWN) });
      expect(each).not.toHaveProperty("costUsd");
    }
  });

  test.each(WAYS)("%s, stream %s: without anything to tell there are no notes", async (client, isStream) => {
    const asked = { client, isStream, model };
    const text = await (await askAs(every.gateway, asked, DIRECT)).text();
    expect(servicesIn(text)).not.toHaveLength(0);
    for (const service of servicesIn(text)) expect(service).not.toHaveProperty("notes");
  });
});

describe("a conversion", () => {
  const wish = { seed: 7, logit_bias: { 50256: -100 } };

  it.each([false, true])("is told for the model that answered alone, stream %s", async (isStream) => {
    const asked = { client: "chat", isStream } as const;
    const dropped = (name: string, format: string) => ({
      code: "option_dropped",
      message: `Dropped '${name}': the ${format} format has no counterpart.`,
    });
    const text = await (await askAs(every.gateway, { ...asked, model: "claude" }, { ...DIRECT, ...wish })).text();
    expect(lastService(text)?.notes).toEqual([dropped("seed", "Messages"), dropped("logit_bias", "Messages")]);
    // alpha takes all of it.
    const untouched = await (await askAs(every.gateway, asked, wish)).text();
    expect(lastService(untouched)).not.toHaveProperty("notes");
  });

  it.each([false, true])("of an attempt that failed is not told, stream %s", async (isStream) => {
    every.providers.alpha.on("*", fails(500));
    every.providers.claude.on("*", fails(500));
    const answer = await askAs(every.gateway, { client: "chat", isStream }, { logit_bias: wish.logit_bias });
    const text = await answer.text();
    expect(lastService(text)).toMatchObject({ model: "alpha", fallback: true });
    expect(every.providers.claude.requests).not.toHaveLength(0);
    expect(lastService(text)?.notes).toEqual([
      { code: "option_dropped", message: "Dropped 'logit_bias': the Gemini format has no counterpart." },
    ]);
  });

  test("tools, options, content and reasoning have codes of their own", async () => {
    const messages = [
      { role: "user", content: "Go." },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "Hm.", signature: "c2ln" },
          { type: "text", text: "So." },
        ],
      },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "lost", content: "42" }] },
    ];
    const tools = [
      { name: "weather", input_schema: { type: "object" } },
      { type: "web_search_20250305", name: "web_search" },
    ];
    const extra = {
      ...DIRECT,
      messages,
      tools,
      top_k: 3,
      thinking: { type: "enabled", budget_tokens: 1024 },
      max_tokens: 4096,
    };
    const text = await (
      await askAs(every.gateway, { client: "messages", isStream: false, model: "alpha" }, extra)
    ).text();
    const codes = codesOf(lastService(text));
    for (const code of ["tool_dropped", "content_converted", "reasoning_dropped", "option_dropped"])
      expect(codes).toContain(code);
    for (const code of codes) expect(Object.keys(NOTE_CODES)).toContain(code);
  });

  test("a vendor's own service_tier is told, and its usual values are not", async () => {
    const asked = { client: "chat", isStream: false } as const;
    const noteOn = async (tier: string) =>
      lastService(await (await askAs(every.gateway, asked, { service_tier: tier })).text())?.notes;
    const unpriced = "Served at the usual service tier instead of 'flex': its price is not known.";
    expect(await noteOn("flex")).toEqual([{ code: "option_dropped", message: unpriced }]);
    const unknown = "Dropped 'service_tier': it counts only with 'service_profile' set to 'tier'.";
    expect(await noteOn("scale")).toEqual([{ code: "option_dropped", message: unknown }]);
    for (const usual of ["auto", "default", null]) {
      const service = lastService(await (await askAs(every.gateway, asked, { service_tier: usual })).text());
      expect(service).not.toHaveProperty("notes");
    }
  });
});

const LONG = "A long answer without any count.";

describe("usage that a provider does not count", () => {
  test.each(WAYS)("%s, stream %s", async (client, isStream) => {
    const uncounted = completion(LONG, "alpha", { usage: undefined });
    every.providers.alpha.on("*", isStream ? streams(textChunks(LONG, "alpha")) : sends(200, uncounted));
    const text = await (await askAs(every.gateway, { client, isStream, model: "alpha" }, DIRECT)).text();
    const service = lastService(text);
    expect(service).toMatchObject({ usageEstimated: true, notes: [{ code: "usage_estimated" }] });
    for (const earlier of servicesIn(text).slice(0, -1)) expect(earlier).not.toHaveProperty("notes");
  });
});

describe("a repeated request", () => {
  test.each(WAYS)("%s, stream %s: gets the same notes and the same cost", async (client, isStream) => {
    const headers = { "idempotency-key": `${client}-${isStream}`.replaceAll(" ", "-") };
    const ask = async (): Promise<string> => {
      const asked = { client, isStream, model: "alpha" };
      return (await askAs(every.gateway, asked, { ...DIRECT, ...TYPO }, headers)).text();
    };
    const first = await ask();
    expect(lastService(first)).toMatchObject({ notes: UNKNOWN, costUsd: expect.any(String) });
    expect(await ask()).toBe(first);
  });
});

test("a stored response keeps its notes", async () => {
  const made = await askAs(every.gateway, { client: "responses", isStream: false }, TYPO);
  const { id, service } = (await made.json()) as Json;
  const kept = (await (await every.gateway.get(`/v1/responses/${String(id)}`)).json()) as Json;
  expect(kept.service).toEqual(service);
  expect(kept.service).toMatchObject({ notes: UNKNOWN });
});
