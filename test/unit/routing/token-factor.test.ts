// A tokenizer that counts more: the estimate, the hold, the check of the window and conversations know it, and the charge does not.

import { expect, it } from "vitest";
import { quoteChain } from "../../../src/billing/estimate.ts";
import { buildCatalog } from "../../../src/catalog/build.ts";
import { readBuiltin } from "../../../src/catalog/builtin.ts";
import type { ChatMessage } from "../../../src/core/chat.ts";
import { TIERS } from "../../../src/core/tiers.ts";
import { estimateCost } from "../../../src/routing/cost.ts";
import { decide } from "../../../src/routing/decide.ts";
import { listNeeds } from "../../../src/routing/needs.ts";
import { makeCatalog, makeModel, makeQuestion } from "../../support/catalog.ts";

const plain = makeModel({ id: "plain" });
const dense = makeModel({ id: "dense", tokenFactor: 1.3 });
const catalog = makeCatalog({ chains: { LIGHT: [plain, dense] } });
const { chat } = makeQuestion({});

it("counts in the estimate", () => {
  const asked = { chat: { ...chat, maxOutputTokens: 1 }, inputTokens: 100_000, tier: "LIGHT", catalog } as const;
  const [usual, more] = [plain, dense].map((model) => Number(estimateCost({ ...asked, model }).cost));
  expect((more as number) / (usual as number)).toBeCloseTo(1.3, 3);
});

it("counts in the hold", () => {
  const rest = { chat: { ...chat, maxOutputTokens: 1 }, bodyBytes: 200_000, expectedOutputTokens: 1, markupPpm: 0 };
  const models = [plain, dense].map((model) => ({ ...model, context: 1_000_000 }));
  const [usual, more] = quoteChain({ ...rest, models }).map(({ inputTokens }) => inputTokens);
  expect(more).toBe(Math.ceil((usual as number) * 1.3));
});

it("counts in the check of the window, and in what is said of it", () => {
  const [need] = listNeeds({ question: makeQuestion({}), catalog, inputTokens: 100_000 });
  const fits = (tokenFactor: number, context: number) => need?.isMetBy({ ...plain, tokenFactor, context });
  expect([fits(1, 100_000), fits(1.3, 100_000), fits(1.3, 130_000)]).toEqual([true, false, true]);
  expect(need?.unmet({ ...dense, context: 100_000 })).toContain("130");
});

it("ships for Claude from 4.7 on, with its source, and stays where a row sets another price", () => {
  const rows = readBuiltin().models.filter(({ tokenizer }) => tokenizer !== undefined);
  expect(rows.length).toBeGreaterThan(5);
  for (const { id, vendor, tokenizer } of rows) {
    expect([id, vendor, tokenizer?.factor]).toEqual([id, "anthropic", 1.3]);
    expect(tokenizer?.source).toContain("platform.claude.com");
  }
  const row = { id: "claude-haiku-5-5", provider: "anthropic", price: { input: 1, output: 2 } };
  const models = [{ ...row, context: 1000, maxOutput: 10, capabilities: [] }];
  expect(buildCatalog({ models }).catalog?.models.get(row.id)?.tokenFactor).toBe(1.3);
  const own = [{ ...models[0]!, tokenizer: { factor: 1 } }];
  expect(buildCatalog({ models: own }).catalog?.models.get(row.id)?.tokenFactor).toBe(1);
});

it("counts where a conversation compares models", () => {
  const messages: readonly ChatMessage[] = [
    { role: "user", content: "Hi" },
    { role: "assistant", content: "Hello. How can I help?" },
    { role: "user", content: "Tell me a joke" },
  ];
  const sessionView = { id: "s", last: null, loop: null, cached: [], nowMs: 0 };
  const chains = Object.fromEntries(TIERS.map((tier) => [tier, [dense, plain]]));
  const decided = decide(
    { ...makeQuestion({ chat: { messages } }), sessionView },
    makeCatalog({ chains, ownChains: [] }),
  );
  expect(decided.model).toBe("plain");
});
