// The rounds of a call whose model searches or makes pictures: what each round used, what was run between them, and the next question to the
// same host. Everything is charged in one settlement, so a process that dies in between costs the client nothing.

import { type OwnSearches, promptTokens, type Usage } from "../../core/chat.ts";
import { type ChargedLine, costNano } from "../../core/money.ts";
import { priceOf, type RateCard } from "../../core/price.ts";
import type {
  FoundPage,
  SearchBounds,
  SearchOutcome,
  SearchStep,
  StepKind,
  UseBounds,
  WebTools,
} from "../../core/search/web-search.ts";
import { type EndedRound, type SearchCall, turnsOf } from "../../formats/tools/search-rounds.ts";
import { isNamed, type OwnTool, pagesOf, queryIn } from "../../formats/tools/searches.ts";
import { type Answered, type Attempted, attempt } from "../attempt/attempt.ts";
import type { Received } from "../attempt/verdict.ts";
import type { Call } from "../call.ts";
import { constraintsOf } from "../constraints.ts";
import type { Reservation } from "../reserve.ts";
import type { Services } from "../services.ts";
import { makePicture, planPictures } from "./pictures.ts";

export interface SearchedCall {
  readonly call: Call;
  readonly reservation: Reservation;
  readonly answered: Answered;
}

const LAST_ROUND_SHARE = 2n;

export class SearchRounds {
  /** The names of the functions that are answered here. */
  readonly toolNames: ReadonlySet<unknown>;
  #call: Call;
  readonly #searched: SearchedCall;
  readonly #services: Services;
  readonly #tools: readonly OwnTool[];
  readonly #web: WebTools;
  readonly #bounds: SearchBounds;
  #usage: Usage | null = null;
  #rounds = 0;
  #asked = 0;
  readonly #counts: Readonly<Record<StepKind, UseCounts>> = {
    search: newCounts(),
    fetch: newCounts(),
    image: newCounts(),
  };
  /** The charges of the pictures that were made. */
  readonly #pictures: ChargedLine[] = [];
  /** Pages that were found or read so far. */
  readonly #pages: FoundPage[] = [];

  constructor(searched: SearchedCall, services: Services) {
    const { request } = searched.call;
    this.#searched = searched;
    this.#call = searched.call;
    this.#services = services;
    this.#web = services.webTools;
    this.#bounds = request.chat.ownSearches as SearchBounds;
    this.#tools = request.searching?.tools ?? [];
    this.toolNames = new Set(this.#tools.map(({ name }) => name));
  }

  /** Says that the model may not search any more: a call of the function is not answered. */
  get isOver(): boolean {
    return this.#call.request.searching?.state === "last";
  }

  get hasPaid(): boolean {
    return Object.values(this.#counts).some(({ paid }) => paid > 0);
  }

  /** The searches of a round as they begin. */
  begin(calls: readonly SearchCall[]): readonly SearchStep[] {
    for (const counts of Object.values(this.#counts)) counts.inRound = 0;
    return calls.map(({ name, arguments: text }) => {
      this.#asked += 1;
      const id = `${this.#call.requestId}${this.#asked}`.replace(/[^A-Za-z0-9]/g, "");
      const kind = this.#tools.find((tool) => tool.name === name)?.kind ?? "search";
      return { kind, id, query: queryIn(text, kind), outcome: null };
    });
  }

  /** Ends with the step that is done. Those before it bring beginnings of its picture. */
  async *run(step: SearchStep): AsyncGenerator<SearchStep> {
    const { kind, query } = step;
    const bounds = this.#bounds[kind] as UseBounds;
    const counts = this.#counts[kind];
    if (query === "") return yield { ...step, outcome: { ok: false, fault: "invalid_tool_input" } };
    if (counts.run >= bounds.uses) return yield { ...step, outcome: { ok: false, fault: "max_uses_exceeded" } };
    if (counts.inRound >= bounds.perRound) return yield { ...step, outcome: { ok: false, fault: "too_many_requests" } };
    counts.run += 1;
    counts.inRound += 1;
    if (kind === "image") return yield* this.#draw(step);
    const outcome = kind === "search" ? await this.#search(query) : await this.#read(query);
    if (outcome.ok) counts.paid += 1;
    const done = { ...step, outcome };
    this.#pages.push(...pagesOf([done]));
    yield done;
  }

  async *#draw(step: SearchStep): AsyncGenerator<SearchStep> {
    const { call, reservation } = this.#searched;
    const { imageAsk: ask } = call.request;
    const constraints = constraintsOf(call.caller, this.#services.catalog);
    const { catalog } = this.#services;
    const plan = ask === undefined ? null : planPictures(call.request, ask, { constraints, catalog });
    if (ask === undefined || plan === null) return yield { ...step, outcome: { ok: false, fault: "unavailable" } };
    for await (const event of makePicture({ call, reservation, plan, ask, prompt: step.query }, this.#services)) {
      if (event.partial !== null) {
        yield { ...step, partial: event.partial };
        continue;
      }
      const { picture, line } = event;
      if (line !== null) this.#pictures.push(line);
      if (picture !== null) this.#counts.image.paid += 1;
      yield {
        ...step,
        outcome: picture === null ? { ok: false, fault: "unavailable" } : { ok: true, pages: [], picture },
      };
    }
  }

  async #search(query: string): Promise<SearchOutcome> {
    const { searchAsk } = this.#call.request;
    if (searchAsk === undefined || this.#web.search === null) return { ok: false, fault: "unavailable" };
    return this.#web.search.search(query, searchAsk.domains, this.#call.signal);
  }

  /** A model that made an address up could tell a stranger what it read. */
  async #read(url: string): Promise<SearchOutcome> {
    const { fetchAsk, chat } = this.#call.request;
    if (fetchAsk === undefined || this.#web.fetch === null) return { ok: false, fault: "unavailable" };
    if (!isNamed(url, chat.messages, [...fetchAsk.found, ...this.#pages.flatMap((page) => [page.url, page.text])]))
      return { ok: false, fault: "url_not_in_prior_context" };
    return this.#web.fetch.read(url, fetchAsk, this.#call.signal);
  }

  /** Asks the same host again, with what was found. */
  async next(round: EndedRound): Promise<Attempted> {
    const { reservation, answered } = this.#searched;
    this.#usage = this.usageWith(round);
    this.#rounds += 1;
    const { request } = this.#call;
    const { searching } = request;
    if (searching === undefined) throw new Error("the request has no search");
    const turns = [...searching.turns, ...turnsOf(round)];
    const state = this.#mayGoOn() ? "again" : "last";
    this.#call = { ...this.#call, request: { ...request, searching: { ...searching, turns, state } } };
    return attempt(this.#call, { ...reservation, models: [answered.model] }, this.#services);
  }

  /** Tells what the rounds used that have ended, with the beginning of one that was asked for and not heard out. */
  usage(begun: Received | null): Usage | null {
    return begun === null ? this.#usage : this.usageWith(begun);
  }

  /** Adds up what all rounds used, with one that has not ended or was not counted. */
  usageWith({ usage, outputTokens, isCounted }: Received): Usage {
    const input = this.#usage?.longestPrompt ?? this.#searched.reservation.decision.estimatedTokens.input;
    const estimate = { buckets: { input, cacheRead: 0, cacheWrite: 0, output: outputTokens }, longCacheWrite: 0 };
    const more = withOutput(usage ?? { ...estimate, reasoning: 0 }, isCounted ? 0 : outputTokens);
    const longestPrompt = Math.max(this.#usage?.longestPrompt ?? 0, promptTokens(more.buckets));
    const all = { ...added(this.#usage, more), longestPrompt, ownSearches: this.#ownSearches() };
    return this.#pictures.length === 0 ? all : { ...all, pictures: [...this.#pictures] };
  }

  #ownSearches(): OwnSearches {
    const { search, fetch } = this.#bounds;
    const own = { count: this.#counts.search.paid, rate: search?.rate ?? 0, rounds: this.#rounds + 1 };
    return fetch === null ? own : { ...own, fetched: { count: this.#counts.fetch.paid, rate: fetch.rate } };
  }

  /** Says that some use of a tool is left. */
  get #mayUse(): boolean {
    return this.#tools.some(({ kind }) => this.#counts[kind].run < (this.#bounds[kind]?.uses ?? 0));
  }

  /** Bounds rounds and money: what is on hold has to cover another round like the ones before, and the answer. */
  #mayGoOn(): boolean {
    if (this.#rounds >= this.#bounds.rounds || !this.#mayUse) return false;
    const { answered, reservation } = this.#searched;
    const { pictures = [], ...rest } = this.#usage as Usage;
    const costOf = (usage: Usage): bigint =>
      costNano(usage.buckets, priceOf(answered.model.price as RateCard, usage), this.#services.catalog.markupPpm);
    // Pictures have a limit of their own, and the hold covers all of them.
    const share = costOf(rest);
    const spent = pictures.length === 0 ? share : costOf({ ...rest, pictures });
    return spent + (LAST_ROUND_SHARE * share) / BigInt(this.#rounds) <= reservation.amount;
  }
}

/** Uses of a tool: those that were run, paid or not, and those that were paid. */
interface UseCounts {
  run: number;
  inRound: number;
  paid: number;
}

function newCounts(): UseCounts {
  return { run: 0, inRound: 0, paid: 0 };
}

/** With at least this output. Counts from the beginning of a round lag behind what was sent. */
function withOutput(usage: Usage, tokens: number): Usage {
  const { buckets } = usage;
  return buckets.output >= tokens ? usage : { ...usage, buckets: { ...buckets, output: tokens } };
}

/**
 * The tier is that of the first round, for which one price is booked: each round asks the same host for the same tier. One
 * that changes its mind in between is charged at the tier that it began with.
 */
function added(one: Usage | null, other: Usage): Usage {
  if (one === null) return { ...other, ...(other.reported === undefined ? {} : { reported: undefined }) } as Usage;
  const { input, cacheRead, cacheWrite, output } = other.buckets;
  const { buckets } = one;
  return {
    ...one,
    buckets: {
      input: buckets.input + input,
      cacheRead: buckets.cacheRead + cacheRead,
      cacheWrite: buckets.cacheWrite + cacheWrite,
      output: buckets.output + output,
    },
    longCacheWrite: one.longCacheWrite + other.longCacheWrite,
    reasoning: one.reasoning + other.reasoning,
    parts: addedParts(one.parts, other.parts),
  };
}

function addedParts(one: Usage["parts"] = {}, other: Usage["parts"] = {}): NonNullable<Usage["parts"]> {
  const sums: Record<string, number> = { ...one };
  for (const [unit, count] of Object.entries(other)) sums[unit] = (sums[unit] ?? 0) + count;
  return sums;
}
