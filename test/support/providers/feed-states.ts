// What feeds said at the last check, and a catalogue to compare it with.

import type { FeedState, PriceCheck } from "../../../src/catalog/prices/check.ts";
import type { FeedId } from "../../../src/catalog/prices/feeds.ts";
import type { ListedRow } from "../../../src/catalog/prices/listed.ts";
import type { RateCard } from "../../../src/core/price.ts";
import { makeCatalog, makeModel, makeProvider } from "../catalog.ts";

export const MICRO = 1e6;
export type Figures = readonly [input: number, output: number, cacheRead?: number];

export function card([input, output, cacheRead]: Figures): RateCard {
  return {
    ...{ input: input * MICRO, output: output * MICRO, cacheWrite: null },
    cacheRead: cacheRead === undefined ? null : cacheRead * MICRO,
  };
}

export function row(upstream: string, price: RateCard, more: Partial<ListedRow> = {}): ListedRow {
  return { upstream, vendor: "openai", price, context: null, maxOutput: null, capabilities: [], ...more };
}

export function feed(name: FeedId, rows: readonly ListedRow[], more: Partial<FeedState> = {}): FeedState {
  const state = { source: name, readAtMs: 1, changedAtMs: 1, digest: "", problem: null, etag: null, modified: null };
  return { feed: name, ...state, vendors: [], refused: [], rows, lost: [], ...more };
}

export function checkOf(feeds: readonly FeedState[], more: Partial<PriceCheck> = {}): PriceCheck {
  return { atMs: 1, feeds, offered: {}, adopted: {}, ...more };
}

/** A catalogue with one model at 2 / 8, cached 0.5. */
export function catalogWith(price: RateCard | null = card([2, 8, 0.5]), more: object = {}) {
  const model = makeModel({ id: "gpt", provider: "openai", upstream: "gpt", price, ...more });
  return makeCatalog({ chains: { LIGHT: [model] }, providers: [makeProvider({ id: "openai" })] });
}
