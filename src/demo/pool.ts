// The pool of requests that the demo repeats: a few thousand questions, each decided once by the real router.

import { holdAmounts, type Quote, quoteChain } from "../billing/estimate.ts";
import { buildCatalog } from "../catalog/build.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { ChatRequest } from "../core/chat.ts";
import { type Constraints, type Decision, NO_CONSTRAINTS, NO_CONTROLS } from "../core/decision.ts";
import type { Model } from "../core/model.ts";
import type { NanoUsd } from "../core/money.ts";
import { EXPECTED_OUTPUT_TOKENS } from "../routing/cost.ts";
import { decide } from "../routing/decide.ts";
import { featuresOf } from "../telemetry/features.ts";
import { demoChat } from "./prompts.ts";
import type { DemoRandom } from "./random.ts";

/** A source of traffic in the demo. */
interface DemoKey {
  readonly id: string;
  readonly name: string;
  /** Its weight among the keys. */
  readonly share: number;
  readonly routes: readonly string[];
  readonly constraints: Constraints;
  readonly profileId: string | null;
}

export const PRODUCTION_ID = "key_demo_production";
export const BUDGET_ID = "profile_demo_budget";

const CHAT = "/v1/chat/completions";

export const BUDGET: Constraints = { ...NO_CONSTRAINTS, tierCeiling: "LIGHT" };

/** The last one is no key: requests of the dashboard's playground are recorded under this name. */
export const DEMO_KEYS: readonly DemoKey[] = [
  {
    ...{ id: PRODUCTION_ID, name: "production", share: 64, profileId: null },
    ...{ routes: [CHAT, CHAT, CHAT, "/v1/messages"], constraints: NO_CONSTRAINTS },
  },
  {
    ...{ id: "key_demo_batch", name: "batch", share: 30, profileId: BUDGET_ID },
    ...{ routes: [CHAT], constraints: BUDGET },
  },
  {
    ...{ id: "playground", name: "playground", share: 6, profileId: null },
    ...{ routes: ["/api/playground/run"], constraints: NO_CONSTRAINTS },
  },
];

/** A request that the traffic repeats, with everything that is the same each time. */
export interface DemoRequest {
  readonly key: DemoKey;
  readonly route: string;
  readonly chat: ChatRequest;
  readonly decision: Decision;
  readonly features: object;
  readonly quotes: readonly Quote[];
  /** The amount that would be held for it. */
  readonly hold: NanoUsd;
}

/** The catalogue of a gateway without providers: the sandbox simulates every model. */
export function demoCatalog(): Catalog {
  const { catalog } = buildCatalog();
  if (catalog === null) throw new Error("the catalogue that ships cannot be built");
  return catalog;
}

/** Deciding a request costs more than writing its record, so a pool is decided once and drawn from. */
export function demoPool(size: number, catalog: Catalog, random: DemoRandom): readonly DemoRequest[] {
  const shares = DEMO_KEYS.map((key) => [key, key.share] as const);
  return Array.from({ length: size }, () => {
    const key = random.pickWeighted(shares);
    return decided({ key, route: random.pick(key.routes), chat: demoChat(random) }, catalog);
  });
}

function decided(asked: Pick<DemoRequest, "key" | "route" | "chat">, catalog: Catalog): DemoRequest {
  const { chat, key } = asked;
  const question = {
    chat,
    controls: NO_CONTROLS,
    constraints: key.constraints,
    restingModels: new Map<string, string>(),
  };
  const decision = decide(question, catalog);
  const quotes = quoteChain({
    models: decision.chain.map((id) => catalog.models.get(id) as Model),
    chat,
    bodyBytes: Buffer.byteLength(JSON.stringify(chat)),
    expectedOutputTokens: EXPECTED_OUTPUT_TOKENS[decision.tier],
    markupPpm: catalog.markupPpm,
  });
  const [hold = 0n] = holdAmounts(quotes);
  return { ...asked, decision, features: featuresOf(chat, decision), quotes, hold };
}
