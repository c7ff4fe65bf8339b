// Replays conversations under ways to route them, with prompt caches as the catalogue describes them: a lifetime since the
// last use, a least length, prices for reading and writing. Thinking costs what the chain's effort usually takes, in every
// way alike, and a prompt has as many tokens as the tokenizer of its model counts. The decisions are the router's own.

import { readBuiltin } from "../../src/catalog/builtin.ts";
import { type Catalog, chainOf } from "../../src/catalog/catalog.ts";
import { catalogAt } from "../../src/catalog/moment.ts";
import { load } from "../../src/config/load.ts";
import type { ChatMessage, ChatRequest } from "../../src/core/chat.ts";
import { type Decision, effortOf, NO_CONSTRAINTS, NO_CONTROLS, type RoutingQuestion } from "../../src/core/decision.ts";
import type { HostedModel, Model } from "../../src/core/model.ts";
import type { TokenBuckets } from "../../src/core/money.ts";
import type { Effort } from "../../src/core/requests/effort.ts";
import type { CachedPrefix, Habit, SessionTurn } from "../../src/core/session.ts";
import { TIERS, type Tier, tierRank } from "../../src/core/tiers.ts";
import { createHabits, type Habits } from "../../src/gateway/sessions/habits.ts";
import { bucketsOf, costAt, estimateInputTokens, thinkingTokens, tokensAt } from "../../src/routing/cost.ts";
import { decide } from "../../src/routing/decide.ts";
import { expectedEffort } from "../../src/routing/effort.ts";
import { hostedModelsOf, usableHosts } from "../../src/routing/hosts.ts";
import { isMarkWorthwhile } from "../../src/routing/sessions/outlook.ts";
import type { Conversation, Turn } from "./conversations.ts";

/** Outside hours with other prices. */
const PRICED_AT_MS = Date.UTC(2026, 10, 19, 12);

/** The catalogue that ships, with every vendor switched on, or with these. No provider is ever called. */
export function wholeCatalog(vendors: readonly string[] | null = null): Catalog {
  const connected = readBuiltin().providers.filter(({ id }) => vendors === null || vendors.includes(id));
  const env = Object.fromEntries(connected.map(({ keyVariable }) => [keyVariable, "unused"]));
  const loaded = load({ flags: {}, env, cwd: "." });
  if (!loaded.ok) throw new Error("the catalogue that ships is broken");
  return catalogAt(loaded.settings.catalog, PRICED_AT_MS).catalog;
}

export const WAYS = ["per request", "sticky", "ours", "always large"] as const;
/** One model for each tier that is decided. */
export type ByTier = ReadonlyMap<Tier, string>;
/** A way by name, one model for everything, or one for each tier. */
export type Way = (typeof WAYS)[number] | `fixed ${string}` | ByTier;

/** Behaviour of the hosts and clients: as the catalogue says, no host ever reads from its cache, or the prompt begins in another way each time. */
export type WorldKind = "usual" | "never hits" | "clock";

export interface Outcome {
  readonly turns: number;
  readonly costNano: bigint;
  /** Turns of a conversation that another model or host served than the one before. */
  readonly switches: number;
  readonly promptTokens: number;
  readonly cachedTokens: number;
  /** Turns whose model belongs to no chain of the decided tier or above. Must be 0. */
  readonly belowTier: number;
  /** Turns by the tier that was decided. */
  readonly tiers: ReadonlyMap<Tier, number>;
  /** In the order of their times. */
  readonly served: readonly ServedTurn[];
}

/** A turn with what it was charged for. */
export interface ServedTurn {
  readonly turn: SessionTurn;
  readonly host: HostedModel;
  readonly buckets: TokenBuckets;
  readonly costNano: bigint;
  /** Length of the prompt in the tokens that most models count. */
  readonly promptTokens: number;
  /** True when it brings the result of a tool. */
  readonly isLoop: boolean;
  /** The turn before in the conversation. */
  readonly last: SessionTurn | null;
}

export function simulate(
  conversations: readonly Conversation[],
  way: Way,
  catalog: Catalog,
  kind: WorldKind = "usual",
): Outcome {
  const world: World = { catalog, way, kind, caches: new Map(), habits: createHabits() };
  const tiers = new Map<Tier, number>();
  const requests = conversations.flatMap((conversation) => conversation.turns.map((turn) => ({ conversation, turn })));
  requests.sort((a, b) => a.turn.atMs - b.turn.atMs);
  const lasts = new Map<string, SessionTurn>();
  const sum = { turns: 0, costNano: 0n, switches: 0, promptTokens: 0, cachedTokens: 0, belowTier: 0 };
  const all: ServedTurn[] = [];
  for (const { conversation, turn } of requests) {
    const last = lasts.get(conversation.id) ?? null;
    const served = serve(world, { conversation, turn, last });
    lasts.set(conversation.id, served.turn);
    all.push(served);
    sum.turns += 1;
    sum.costNano += served.costNano;
    sum.switches += last !== null && last.hostKey !== served.turn.hostKey ? 1 : 0;
    sum.promptTokens += served.promptTokens;
    sum.cachedTokens += served.turn.cachedTokens;
    sum.belowTier += isBelow(served.turn, catalog) ? 1 : 0;
    tiers.set(served.turn.tier, (tiers.get(served.turn.tier) ?? 0) + 1);
    world.habits.note(served.turn, last ?? undefined);
  }
  return { ...sum, tiers, served: all };
}

interface World {
  readonly catalog: Catalog;
  readonly way: Way;
  readonly kind: WorldKind;
  /** Learned from the turns so far, as a gateway does. */
  readonly habits: Habits;
  /** Prompts that hosts have cached: by host key, and by conversation or application. */
  readonly caches: Map<string, { tokens: number; atMs: number }>;
}

interface Asked {
  readonly conversation: Conversation;
  readonly turn: Turn;
  readonly last: SessionTurn | null;
}

function serve(world: World, asked: Asked): ServedTurn {
  const { catalog, way } = world;
  const { conversation, turn, last } = asked;
  const chat = chatOf(conversation, turn);
  const question = questionOf(world, asked, chat);
  const isFixed = typeof way !== "string" || way.startsWith("fixed");
  const decided = isFixed ? decidedAlone(world, asked, chat) : decide(question, catalog);
  const promptTokens = decided.estimatedTokens.input;
  const host = isFixed
    ? fixedHost(fixedModel(way, decided.tier), catalog)
    : hostOf(decided as Decision, way, { last, catalog, promptTokens });
  const sentTokens = tokensAt(host, promptTokens);
  const cachedTokens = cachedAt(world, host, asked, sentTokens);
  const expectedTokens = expectedAt(world, host, asked);
  const habit = habitOf(world, asked);
  const isMarked = isFixed || isMarkWorthwhile(host, promptTokens, habit);
  const effort = effortAt(host, decided, { question, catalog });
  const thinking = Math.round(thinkingTokens(host, effort) * (turn.thinkingShare ?? 0));
  const outputTokens = Math.min(tokensAt(host, turn.outputTokens) + thinking, host.maxOutput);
  const buckets = bucketsOf(host, { prompt: sentTokens, cached: cachedTokens, output: outputTokens, isMarked });
  if (host.cache?.isExplicit !== true || isMarked) keep(world, host, asked, sentTokens);
  return {
    host,
    buckets,
    last,
    promptTokens,
    isLoop: isLoopTurn(conversation, turn),
    costNano: costAt(host, buckets, 0),
    turn: {
      session: conversation.id,
      model: host.id,
      hostKey: host.hostKey,
      keyId: null,
      tier: decided.tier,
      promptTokens: sentTokens,
      cachedTokens,
      atMs: turn.atMs,
      escalation: decided.session?.escalation ?? 0,
      task: decided.session?.task ?? 0,
      prefixes: [],
      trust: 1,
      calls: [],
      response: null,
      output: outputTokens,
      thought: Math.min(thinking, outputTokens),
      ...(effort === null ? {} : { effort }),
      ...observed(world, asked, { cachedTokens, expectedTokens: Math.min(sentTokens, expectedTokens) }),
    },
  };
}

/** A client with one model for each tier asks it for the effort that the chain of the tier does. */
function effortAt(
  host: HostedModel,
  decided: DecidedAlone | Decision,
  asked: { readonly question: RoutingQuestion; readonly catalog: Catalog },
): Effort | null {
  const isDecided = "model" in decided && decided.model === host.id;
  return isDecided ? effortOf(decided, host.id) : expectedEffort(host, { ...asked, tier: decided.tier });
}

type DecidedAlone = Pick<Decision, "tier" | "estimatedTokens" | "session">;

/** Tiers and lengths do not depend on who served the turns before, so each is decided once. */
const DECIDED = new WeakMap<Catalog, WeakMap<Turn, DecidedAlone>>();

function decidedAlone(world: World, asked: Asked, chat: ChatRequest): DecidedAlone {
  const { catalog } = world;
  const known = DECIDED.get(catalog) ?? new WeakMap<Turn, DecidedAlone>();
  DECIDED.set(catalog, known);
  const decided = known.get(asked.turn) ?? decide(questionOf(world, { ...asked, last: null }, chat), catalog);
  known.set(asked.turn, decided);
  return decided;
}

function fixedModel(way: Way, tier: Tier): string {
  return typeof way === "string" ? way.slice("fixed ".length) : (way.get(tier) ?? "");
}

function isLoopTurn({ messages }: Conversation, { decided, messages: sent }: Turn): boolean {
  return decided?.isLoop ?? messages[sent - 1]?.role === "tool";
}

function appOf({ application }: Conversation): number {
  let hash = 0;
  for (const character of application) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) >>> 0;
  return hash;
}

function habitOf({ habits, kind }: World, { conversation, turn, last }: Asked): Habit {
  const isContinued = turn.messages > 2;
  const hasTools = conversation.tools.length > 0;
  const known = kind === "clock" ? null : last;
  return habits.of({ app: appOf(conversation), hasTools, isContinued, last: known, nowMs: turn.atMs });
}

/** The facts that the gateway remembers of a turn. */
function observed(
  { kind }: World,
  { conversation, turn, last }: Asked,
  { cachedTokens, expectedTokens }: { readonly cachedTokens: number; readonly expectedTokens: number },
): Partial<SessionTurn> {
  const app = appOf(conversation);
  const isContinued = turn.messages > 2;
  if (kind === "clock") return { app, number: 1, gaps: [], ...(isContinued ? { isSteady: false } : {}) };
  const number = (last?.number ?? 0) + 1;
  if (last === null) return { app, number, gaps: [] };
  const gap = Math.round((turn.atMs - last.atMs) / 1000);
  const gaps = [...(last.gaps ?? []), gap].slice(-4);
  const share = expectedTokens > 0 ? { share: Math.min(1, cachedTokens / expectedTokens) } : {};
  return { app, number, gaps, ...share, ...(isContinued ? { isSteady: true } : {}) };
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
  const isLoop = isLoopTurn(conversation, turn);
  const question: RoutingQuestion = {
    chat,
    controls: { ...NO_CONTROLS, escalate: "off", tierFloor: decided?.tier ?? null },
    constraints: NO_CONSTRAINTS,
    restingModels: new Map(),
    session: () => conversation.id,
    loopModel: isLoop && last !== null ? last.model : null,
  };
  if (world.way !== "ours") return question;
  const cached = world.kind === "clock" ? [] : prefixesOf(world, conversation, last);
  const habit = habitOf(world, { conversation, turn, last });
  const known = world.kind === "clock" && !isLoop ? null : last;
  const view = { id: conversation.id, last: known, loop: isLoop ? last : null, cached, habit, nowMs: turn.atMs };
  return { ...question, sessionView: view };
}

function prefixesOf({ caches }: World, conversation: Conversation, last: SessionTurn | null): readonly CachedPrefix[] {
  const found: CachedPrefix[] = [];
  for (const [name, { tokens, atMs }] of caches) {
    const [hostKey = "", owner] = name.split("\n");
    if (owner !== conversation.id && owner !== conversation.application) continue;
    const other = found.findIndex((prefix) => prefix.hostKey === hostKey);
    const prefix = { session: conversation.id, hostKey, keyId: null, tokens, trust: trustOf(hostKey, last), atMs };
    if (other < 0) found.push(prefix);
    else if ((found[other]?.tokens ?? 0) < tokens) found[other] = prefix;
  }
  return found;
}

/** Trust of a session in a host, as its last turn showed it. */
function trustOf(hostKey: string, last: SessionTurn | null): number {
  return last?.hostKey === hostKey ? (last.share ?? 1) : 1;
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

/** A client with one model takes it from the vendor, or the first that serves it. */
function fixedHost(id: string, catalog: Catalog): HostedModel {
  return usableHosts(catalog.models.get(id) as Model, catalog)[0] as HostedModel;
}

function cachedAt(
  { caches, kind }: World,
  host: HostedModel,
  { conversation, turn }: Asked,
  promptTokens: number,
): number {
  const { cache } = host;
  if (cache === undefined || kind !== "usual") return 0;
  const found = [conversation.id, conversation.application].map((owner) => caches.get(`${host.hostKey}\n${owner}`));
  const alive = found.filter((entry) => entry !== undefined && turn.atMs - entry.atMs < cache.seconds * 1000);
  const longest = Math.min(promptTokens, Math.max(0, ...alive.map((entry) => entry?.tokens ?? 0)));
  return longest >= cache.tokensMin ? longest : 0;
}

/** Tokens that the host should have of the conversation, if it caches what it was sent. */
function expectedAt({ caches }: World, { hostKey, cache }: HostedModel, { conversation, turn }: Asked): number {
  const sent = caches.get(`${hostKey}\n${conversation.id}`);
  if (cache === undefined || sent === undefined || turn.atMs - sent.atMs >= cache.seconds * 1000) return 0;
  return sent.tokens >= cache.tokensMin ? sent.tokens : 0;
}

/** The prompt of the conversation, and the instructions that its application shares. */
function keep({ caches }: World, host: HostedModel, { conversation, turn }: Asked, tokens: number): void {
  if (host.cache === undefined) return;
  const { hostKey } = host;
  const { atMs } = turn;
  caches.set(`${hostKey}\n${conversation.id}`, { tokens, atMs });
  caches.set(`${hostKey}\n${conversation.application}`, {
    tokens: tokensAt(host, instructionTokens(conversation)),
    atMs,
  });
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
  const isInChain = atLeast.some((each) =>
    [true, false].some((hasTools) => chainOf(catalog, each, hasTools).some(({ id }) => id === model)),
  );
  return !isInChain && tierRank(catalog.models.get(model)?.tier ?? "NANO") < tierRank(tier);
}
