// The pool of requests that the demo repeats: a few thousand questions of two teams, each decided once by the real
// router.

import { DEFAULT_ACCOUNT } from "../accounts/accounts.ts";
import { holdAmounts, type Quote, quoteChain } from "../billing/estimate.ts";
import { buildCatalog, DEFAULT_TIMEOUTS } from "../catalog/build.ts";
import { readBuiltin } from "../catalog/builtin.ts";
import type { Catalog } from "../catalog/catalog.ts";
import { providerKind } from "../catalog/provider-kinds.ts";
import type { ChatRequest } from "../core/chat.ts";
import { type Constraints, type Decision, NO_CONSTRAINTS, NO_CONTROLS } from "../core/decision.ts";
import type { Model } from "../core/model.ts";
import type { NanoUsd } from "../core/money.ts";
import type { NewContent } from "../core/requests/records.ts";
import { EXPECTED_OUTPUT_TOKENS } from "../routing/cost.ts";
import { decide } from "../routing/decide.ts";
import { featuresOf } from "../telemetry/features.ts";
import { demoChat } from "./prompts.ts";
import type { DemoRandom } from "./random.ts";

/** A source of traffic in the demo. */
interface DemoKey {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  /** Its weight among the keys. */
  readonly share: number;
  readonly routes: readonly string[];
  readonly constraints: Constraints;
  readonly profileId: string | null;
}

/** The accounts of the demo, by id. */
export const DEMO_TEAMS: ReadonlyMap<string, string> = new Map([
  [DEFAULT_ACCOUNT, "Product team"],
  ["account_demo_support", "Support team"],
]);
const SUPPORT = "account_demo_support";

export const PRODUCTION_ID = "key_demo_production";
/** Requests of the dashboard's playground are recorded under this name; it is no key. */
export const PLAYGROUND_ID = "playground";
export const BUDGET_ID = "profile_demo_budget";

const CHAT = "/v1/chat/completions";

export const BUDGET: Constraints = { ...NO_CONSTRAINTS, tierCeiling: "LIGHT" };

/** All sources of traffic. */
export const DEMO_KEYS: readonly DemoKey[] = [
  {
    ...{ id: PRODUCTION_ID, accountId: DEFAULT_ACCOUNT, name: "production", share: 52, profileId: null },
    ...{ routes: [CHAT, CHAT, CHAT, "/v1/messages"], constraints: NO_CONSTRAINTS },
  },
  {
    ...{ id: "key_demo_batch", accountId: DEFAULT_ACCOUNT, name: "batch", share: 24, profileId: BUDGET_ID },
    ...{ routes: [CHAT], constraints: BUDGET },
  },
  {
    ...{ id: "key_demo_helpdesk", accountId: SUPPORT, name: "helpdesk", share: 18, profileId: null },
    ...{ routes: ["/v1/messages"], constraints: NO_CONSTRAINTS },
  },
  {
    ...{ id: PLAYGROUND_ID, accountId: DEFAULT_ACCOUNT, name: "playground", share: 6, profileId: null },
    ...{ routes: ["/api/playground/run"], constraints: NO_CONSTRAINTS },
  },
];

/** A request that the traffic repeats, with everything that is the same each time. */
export interface DemoRequest {
  readonly key: DemoKey;
  readonly route: string;
  readonly chat: ChatRequest;
  readonly content: NewContent;
  readonly decision: Decision;
  readonly features: object;
  readonly quotes: readonly Quote[];
  /** The amount that would be held for it. */
  readonly hold: NanoUsd;
}

/** The catalogue that ships with every vendor switched on under its own name. All of them are simulated by the sandbox. */
export function demoCatalog(): Catalog {
  const simulated = { ...providerKind("sandbox"), baseUrl: "", apiKey: null, headers: {}, timeouts: DEFAULT_TIMEOUTS };
  const providers = readBuiltin().providers.map(({ id }) => ({ provider: { id, ...simulated } }));
  const { catalog } = buildCatalog({ providers });
  if (catalog === null) throw new Error("the catalogue that ships cannot be built");
  return catalog;
}

/** Deciding a request costs more than writing its record, so a pool is decided once and drawn from. */
export function demoPool(size: number, catalog: Catalog, random: DemoRandom): readonly DemoRequest[] {
  const shares = DEMO_KEYS.map((key) => [key, key.share] as const);
  return Array.from({ length: size }, () => {
    const key = random.pickWeighted(shares);
    return decided({ key, route: random.pick(key.routes), ...demoChat(random) }, catalog);
  });
}

function decided(asked: Pick<DemoRequest, "key" | "route" | "chat" | "content">, catalog: Catalog): DemoRequest {
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
