// A law of charging: hosts and keys decide who answers, never what an answer costs at a given price. And the hold covers
// every host that may answer.

import { expect, it } from "vitest";
import { holdAmounts, quoteChain } from "../../../src/billing/estimate.ts";
import type { Usage } from "../../../src/core/chat.ts";
import type { HostedModel, Model } from "../../../src/core/model.ts";
import { costNano, type NanoUsd, type Price, type TokenBuckets } from "../../../src/core/money.ts";
import { parseBody } from "../../../src/formats/json/parse.ts";
import { openaiChat } from "../../../src/formats/openai-chat/codec.ts";
import type { Call } from "../../../src/gateway/call.ts";
import type { Reservation } from "../../../src/gateway/reserve.ts";
import type { Services } from "../../../src/gateway/services.ts";
import { assess } from "../../../src/gateway/settle.ts";
import { decide } from "../../../src/routing/decide.ts";
import { hostedModelsOf } from "../../../src/routing/hosts.ts";
import { makeCatalog, makeModel, makeProvider, makeQuestion } from "../../support/catalog.ts";
import { fc } from "../../support/property.ts";

const anyPrice = fc.record({
  input: fc.nat(50_000_000),
  output: fc.nat(100_000_000),
  cacheRead: fc.option(fc.nat(5_000_000)),
  cacheWrite: fc.option(fc.nat(60_000_000)),
});
const anyTokens = fc.record({
  input: fc.nat(400),
  cacheRead: fc.nat(100),
  cacheWrite: fc.nat(100),
  output: fc.nat(150),
});

function modelAt(prices: readonly Price[], keyCount: number) {
  const ids = prices.map((_, index) => `p${index}`);
  const hosts = prices.map((price, index): HostedModel => {
    const provider = ids[index] as string;
    const { hosts: _, ...model } = makeModel({
      id: "m",
      provider,
      host: provider,
      hostKey: `m via ${provider}`,
      price,
    });
    return model;
  });
  const model: Model = { ...(hosts[0] as HostedModel), hosts };
  const apiKeys = Array.from({ length: keyCount }, (_, index) => ({ id: `k${index}`, key: `key-${index}`, weight: 1 }));
  const providers = ids.map((id) => makeProvider(keyCount > 1 ? { id, apiKeys } : { id }));
  const all = [model];
  const chains = { NANO: all, SIMPLE: all, LIGHT: all, STANDARD: all, COMPLEX: all };
  return { model, catalog: makeCatalog({ chains, providers }) };
}

const { source, body } = parseBody(
  Buffer.from(JSON.stringify({ messages: [{ role: "user", content: "x".repeat(2000) }] })),
);
const request = openaiChat.readRequest(source, body);

function chargeOf(
  model: HostedModel,
  buckets: TokenBuckets,
  { catalog, decision }: Pick<Services, "catalog"> & Pick<Reservation, "decision">,
): NanoUsd {
  const usage: Usage = { buckets, longCacheWrite: 0, reasoning: 0 };
  const reservation = { decision, outputCaps: new Map() } as unknown as Reservation;
  const call = { requestId: "r", request } as unknown as Call;
  const services = { catalog, usageProblem: () => undefined } as unknown as Services;
  const delivered = { call, reservation, model, usage, askedTier: undefined, outputTokens: 0 };
  return assess({ ...delivered, isCounted: true, outcome: "complete" }, services).charge;
}

it("charges the host's price for the answer's tokens, and holds enough for every host", () => {
  fc.assert(
    fc.property(
      fc.array(anyPrice, { minLength: 1, maxLength: 5 }),
      fc.constantFrom("cheapest", "fastest", "balanced"),
      fc.string(),
      fc.integer({ min: 1, max: 3 }),
      anyTokens,
      (prices, hostOrder, session, keyCount, buckets) => {
        const { model, catalog } = modelAt(prices as readonly Price[], keyCount);
        const question = {
          ...makeQuestion({ prompt: "x".repeat(2000), controls: { hostOrder: hostOrder as "cheapest" } }),
          session: () => session,
        };
        const decision = decide(question, catalog);
        const hosted = hostedModelsOf(decision, catalog);
        expect(hosted.map(({ hostKey }) => hostKey).sort()).toEqual(model.hosts.map(({ hostKey }) => hostKey).sort());
        const quotes = quoteChain({
          models: hosted,
          chat: { ...request.chat, maxOutputTokens: 150 },
          bodyBytes: source.bytes.length,
          expectedOutputTokens: 150,
          markupPpm: catalog.markupPpm,
        });
        const hold = holdAmounts(quotes)[0] as NanoUsd;
        for (const host of hosted) {
          const charge = chargeOf(host, buckets, { catalog, decision });
          expect(charge).toBe(costNano(buckets, host.price as Price, catalog.markupPpm));
          const alone = modelAt([host.price as Price], 1);
          expect(charge).toBe(
            chargeOf(alone.model, buckets, { catalog: alone.catalog, decision: decide(question, alone.catalog) }),
          );
          expect(charge).toBeLessThanOrEqual(hold);
        }
      },
    ),
  );
});
