// The price an answer is charged by: cache entries kept for an hour cost twice the input.

import { describe, expect, it } from "vitest";
import type { Usage } from "../../../src/core/chat.ts";
import { readUsage } from "../../../src/formats/openai-chat/usage.ts";
import { priceFor } from "../../../src/gateway/settle.ts";

const PRICE = { input: 3_000_000, output: 15_000_000, cacheRead: 300_000, cacheWrite: 3_750_000 };

const usage = (written: number, long: number): Usage => {
  const details = { cached_tokens: 0, cache_write_tokens: written, cache_write_1h_tokens: long };
  const counts = { prompt_tokens: 10 + written, completion_tokens: 1, prompt_tokens_details: details };
  return readUsage({ usage: counts }) as Usage;
};

describe("priceFor", () => {
  it.each([
    ["nothing written", PRICE, 0, 0, 3_750_000],
    ["five minutes", PRICE, 100, 0, 3_750_000],
    ["an hour", PRICE, 100, 100, 6_000_000],
    ["both, rounded up", PRICE, 3, 1, 4_500_000],
    ["more than was written", PRICE, 100, 500, 6_000_000],
    ["no listed price", { ...PRICE, cacheWrite: null }, 100, 100, 6_000_000],
    ["free writes", { ...PRICE, cacheWrite: 0 }, 100, 100, 0],
    ["writes dearer than that", { ...PRICE, cacheWrite: 9_000_000 }, 100, 100, 9_000_000],
  ])("%s", (_name, price, written, long, expected) => {
    expect(priceFor(usage(written, long), price)).toEqual({ ...price, cacheWrite: expected });
  });
});
