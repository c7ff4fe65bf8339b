// Replays conversations under ways to route them, with prompt caches as the catalogue describes them: a lifetime since the
// last use, a least length, prices for reading and writing. The decisions are the router's own.

import { readBuiltin } from "../../src/catalog/builtin.ts";
import type { Catalog } from "../../src/catalog/catalog.ts";
import { load } from "../../src/config/load.ts";
import type { ChatMessage, ChatRequest } from "../../src/core/chat.ts";
import { type Decision, NO_CONSTRAINTS, NO_CONTROLS, type RoutingQuestion } from "../../src/core/decision.ts";
import type { HostedModel } from "../../src/core/model.ts";
import { costNano, type Price, type TokenBuckets } from "../../src/core/money.ts";
import type { CachedPrefix, SessionTurn } from "../../src/core/session.ts";
import { TIERS, type Tier, tierRank } from "../../src/core/tiers.ts";
import { estimateInputTokens } from "../../src/routing/cost.ts";
import { decide } from "../../src/routing/decide.ts";
import { hostedModelsOf } from "../../src/routing/hosts.ts";
import type { Conversation, Turn } from "./conversations.ts";

/** The catalogue that ships, with every vendor switched on. No provider is ever called. */
export function wholeCatalog(): Catalog {
  const env = Object.fromEntries(readBuiltin().providers.map(({ keyVariable }) => [keyVariable, "unused"]));
  const loaded = load({ flags: {}, env, cwd: "." });
  if (!loaded.ok) throw new Error("the catalogue that ships is broken");
  return loaded.settings.catalog;
}

export const WAYS = ["per request", "sticky", "ours", "always large"] as const;
export type Way = (typeof WAYS)[number];

export interface Outcome {
  readonly turns: number;
  readonly costNano: bigint;
  /** Turns of a conversation that another model or host served than the one before. */
  readonly switches: number;
  readonly promptTokens: number;
  readonly cachedTokens: number;
  /** Turns whose model belongs to no chain of the decided tier or above. Must be 0. */
  readonly belowTier: number;
}

export function simulate(conversations: readonly Conversation[], way: Way, catalog: Catalog): Outcome {
  const world: World = { catalog, way, caches: new Map() };
  const requests = conversations.flatMap((conversation) => conversation.turns.map((turn) => ({ conversation, turn })));
  requests.sort((a, b) => a.turn.atMs - b.turn.atMs);
  const lasts = new Map<string, SessionTurn>();
  const sum = { turns: 0, costNano: 0n, switches: 0, promptTokens: 0, cachedTokens: 0, belowTier: 0 };
  for (const { conversation, turn } of requests) {
    const last = lasts.get(conversation.id) ?? null;
    const served = serve(world, { conversation, turn, last });
    lasts.set(conversation.id, served.turn);
    sum.turns += 1;
    sum.costNano += served.costNano;
    sum.switches += last !== null && last.hostKey !== served.turn.hostKey ? 1 : 0;
    sum.promptTokens += served.turn.promptTokens;
    sum.cachedTokens += served.turn.cachedTokens;
    sum.belowTier += isBelow(served.turn, catalog) ? 1 : 0;
  }
  return sum;
}

interface World {
  readonly catalog: Catalog;
  readonly way: Way;
  /** Prompts that hosts have cached: by host key, and by conversation or application. */
  readonly caches: Map<string, { tokens: number; atMs: number }>;
}

interface Asked {
  readonly conversation: Conversation;
  readonly turn: Turn;
  readonly last: SessionTurn | null;
}

function serve(world: World, asked: Asked): { readonly turn: SessionTurn; readonly costNano: bigint } {
  const { catalog, way } = world;
  const { conversation, turn, last } = asked;
  const chat = chatOf(conversation, turn);
  const decision = decide(questionOf(world, asked, chat), catalog);
  const host = hostOf(decision, way, { last, catalog, promptTokens: decision.estimatedTokens.input });
  const promptTokens = decision.estimatedTokens.input;
  const cachedTokens = cachedAt(world, host, asked, promptTokens);
  const buckets = bucketsOf(host, { promptTokens, cachedTokens, outputTokens: turn.outputTokens });
  keep(world, host, asked, promptTokens);
  return {
    costNano: costNano(buckets, host.price as Price, 0),
    turn: {
      session: conversation.id,
      model: host.id,
      hostKey: host.hostKey,
      keyId: null,
      tier: decision.tier,
      promptTokens,
      cachedTokens,
      atMs: turn.atMs,
      escalation: decision.session?.escalation ?? 0,
      task: decision.session?.task ?? 0,
      prefixes: [],
      trust: 1,
      calls: [],
      response: null,
    },
  };
}

function chatOf({ messages, tools }: Conversation, turn: Turn): ChatRequest {
  return {
    messages: messages.slice(0, turn.messages),
    tools,
    toolChoice: null,
    isStream: true,
    wantsUsage: false,
    maxOutputTokens: null,
    choiceCount: 1,
  };
}

/** A tool loop stays with its model in every way, as it did before sessions. Evidence is left out: it is not about caches. */
function questionOf(world: World, { conversation, turn, last }: Asked, chat: ChatRequest): RoutingQuestion {
  const { decided } = turn;
  const isLoop = decided?.isLoop ?? chat.messages.at(-1)?.role === "tool";
  const question: RoutingQuestion = {
    chat,
    controls: { ...NO_CONTROLS, escalate: "off", tierFloor: decided?.tier ?? null },
    constraints: NO_CONSTRAINTS,
    restingModels: new Map(),
    session: () => conversation.id,
    loopModel: isLoop && last !== null ? last.model : null,
  };
  if (world.way !== "ours") return question;
  const cached = prefixesOf(world, conversation);
  const view = { id: conversation.id, last, loop: isLoop ? last : null, cached, nowMs: turn.atMs };
  return { ...question, sessionView: view };
}

function prefixesOf({ caches }: World, conversation: Conversation): readonly CachedPrefix[] {
  const found: CachedPrefix[] = [];
  for (const [name, { tokens, atMs }] of caches) {
    const [hostKey = "", owner] = name.split("\n");
    if (owner !== conversation.id && owner !== conversation.application) continue;
    const other = found.findIndex((prefix) => prefix.hostKey === hostKey);
    const prefix = { session: conversation.id, hostKey, keyId: null, tokens, trust: 1, atMs };
    if (other < 0) found.push(prefix);
    else if ((found[other]?.tokens ?? 0) < tokens) found[other] = prefix;
  }
  return found;
}

interface Choice {
  readonly last: SessionTurn | null;
  readonly catalog: Catalog;
  readonly promptTokens: number;
}

function hostOf(decision: Decision, way: Way, { last, catalog, promptTokens }: Choice): HostedModel {
  const [first] = hostedModelsOf(decision, catalog);
  if (way === "always large") return catalog.baseline;
  const before = way === "sticky" && last !== null ? catalog.models.get(last.model) : undefined;
  const sticky = before?.hosts.find(({ hostKey, context }) => hostKey === last?.hostKey && promptTokens <= context);
  return sticky ?? (first as HostedModel);
}

function cachedAt({ caches }: World, host: HostedModel, { conversation, turn }: Asked, promptTokens: number): number {
  const { cache } = host;
  if (cache === undefined) return 0;
  const found = [conversation.id, conversation.application].map((owner) => caches.get(`${host.hostKey}\n${owner}`));
  const alive = found.filter((entry) => entry !== undefined && turn.atMs - entry.atMs < cache.seconds * 1000);
  const longest = Math.min(promptTokens, Math.max(0, ...alive.map((entry) => entry?.tokens ?? 0)));
  return longest >= cache.tokensMin ? longest : 0;
}

function bucketsOf(
  { price, cache }: HostedModel,
  sizes: { readonly promptTokens: number; readonly cachedTokens: number; readonly outputTokens: number },
): TokenBuckets {
  const fresh = sizes.promptTokens - sizes.cachedTokens;
  const isWritten = cache !== undefined && sizes.promptTokens >= cache.tokensMin && price?.cacheWrite != null;
  return {
    input: isWritten ? 0 : fresh,
    cacheRead: sizes.cachedTokens,
    cacheWrite: isWritten ? fresh : 0,
    output: sizes.outputTokens,
  };
}

/** The prompt of the conversation, and the instructions that its application shares. */
function keep({ caches }: World, { hostKey, cache }: HostedModel, { conversation, turn }: Asked, tokens: number): void {
  if (cache === undefined) return;
  const { atMs } = turn;
  caches.set(`${hostKey}\n${conversation.id}`, { tokens, atMs });
  caches.set(`${hostKey}\n${conversation.application}`, { tokens: instructionTokens(conversation), atMs });
}

const counted = new WeakMap<Conversation, number>();

function instructionTokens(conversation: Conversation): number {
  const known = counted.get(conversation);
  if (known !== undefined) return known;
  const system = conversation.messages.filter(({ role }: ChatMessage) => role === "system");
  const tokens = estimateInputTokens({ messages: system, tools: conversation.tools });
  counted.set(conversation, tokens);
  return tokens;
}

function isBelow({ model, tier }: SessionTurn, catalog: Catalog): boolean {
  const atLeast: readonly Tier[] = TIERS.slice(tierRank(tier));
  const isInChain = atLeast.some((each) => catalog.chains[each].some(({ id }) => id === model));
  return !isInChain && tierRank(catalog.models.get(model)?.tier ?? "NANO") < tierRank(tier);
}
