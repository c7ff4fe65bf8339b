// The upper bound of a request's cost, which its hold must cover. Text counts as one token for every two bytes, which no
// tokenizer in use exceeds for real text. Pictures count as a flat worst case, other files by size.

import { type ChatRequest, type ContentPart, partsOf } from "../core/chat.ts";
import type { HostedModel } from "../core/model.ts";
import { costNano, type NanoUsd, type Price } from "../core/money.ts";
import { dearestPrice, pricedTier, type RateCard, type Rates, type Reach } from "../core/price.ts";
import type { SearchBounds, UseBounds } from "../core/search/web-search.ts";

const BYTES_PER_TOKEN = 2;
/** A large picture at full detail. */
const ATTACHMENT_TOKENS = 4_000;
/** Bytes per token of embedded sound and documents. A page of a document has far more for each token. */
const EMBEDDED_BYTES_PER_TOKEN = 8;
/** Tokens that hosts add around a short prompt. */
const OVERHEAD_TOKENS = 32;
/** A document of many hundred pages behind one URL. */
const ATTACHMENT_TOKENS_POSSIBLE = 500_000;
/** Tokens that hosts may put before a prompt, above all when it offers tools. */
const PREAMBLE_TOKENS_POSSIBLE = 4_000;
/** Text of the pages that a search brings in. */
const SEARCH_TOKENS = 8_000;
/** Bytes of the question and the words around the result of a search of the gateway, or around a page it fetched. */
const AROUND_RESULT_BYTES = 4_000;
/** A response shorter than this share of the usual length is cut off before it is of use. */
const USEFUL_SHARE = 0.5;
/** Some models take no lower output cap. */
const OUTPUT_TOKENS_MIN = 16;

export interface Quote {
  readonly model: HostedModel;
  readonly inputTokens: number;
  /** Output tokens of one choice. */
  readonly outputTokens: number;
  /** The dearest that the request can reach at this host. */
  readonly price: Price;
  readonly amount: NanoUsd;
}

export interface QuoteInput {
  /** Models of the chain, each at every host that may be tried. */
  readonly models: readonly HostedModel[];
  readonly chat: ChatRequest;
  readonly bodyBytes: number;
  /** True if the request has many inputs: each may fill the context window, so the window is no bound. */
  readonly isBatch?: boolean;
  /** The most that the request can use beside tokens; absent for nothing. */
  readonly media?: Pick<Reach, "images" | "counted"> | undefined;
  /** True if the prompt may be cached for an hour, which costs more than a usual cache write. */
  readonly mayCacheLong?: boolean;
  /** Output tokens to assume if the client gave no cap. */
  readonly expectedOutputTokens: number;
  /** Output tokens to assume beside these for each model, because of its effort. */
  readonly effortTokens?: (model: HostedModel) => number;
  readonly markupPpm: number;
}

/** Computes the most that each model of the chain could cost. Models without a price are never in a chain. */
export function quoteChain(input: QuoteInput): readonly Quote[] {
  const { chat, mayCacheLong = false } = input;
  const attachments = attachmentsIn(chat);
  const inputTokensAnywhere = inputTokensMax(attachments, input.bodyBytes);
  const hasMedia = attachments.length > 0 || input.media !== undefined;
  return input.models.map((model) => {
    const searches = searchesAt(model, chat);
    const bare = roundsTokens(inputTokensAnywhere + searches * SEARCH_TOKENS, chat);
    // A factor is an average: below one it says nothing about the text that takes the most tokens.
    const needed = Math.ceil(bare * Math.max(1, model.tokenFactor ?? 1));
    const inputTokens = input.isBatch === true ? needed : Math.min(needed, model.context * roundsOf(chat));
    const usual = input.expectedOutputTokens + (input.effortTokens?.(model) ?? 0);
    const expected = chat.maxOutputTokens ?? usual;
    const outputTokens = Math.min(expected, model.maxOutput);
    const card = model.price as RateCard;
    const serviceTier = pricedTier(card, chat.serviceTier);
    const promptTokens = inputTokens + readAgain(outputTokens, chat);
    const rounds = roundsOf(chat);
    const reach = { promptTokens, serviceTier, mayCacheLong, hasMedia, searches, rounds, ...input.media };
    const price = withOwnSearches(dearestPrice(card, reach), chat);
    return { model, inputTokens, outputTokens, price, amount: amountOf({ inputTokens, price }, outputTokens, input) };
  });
}

/** Calls of the model where the gateway searches between them. */
function roundsOf({ ownSearches }: ChatRequest): number {
  return 1 + (ownSearches?.rounds ?? 0);
}

/** Each round reads the prompt again, and what the rounds before it found. */
function roundsTokens(tokens: number, { ownSearches }: ChatRequest, bytesPerToken = BYTES_PER_TOKEN): number {
  if (ownSearches === undefined) return tokens;
  let sum = tokens;
  for (let round = 1; round <= ownSearches.rounds; round += 1)
    sum += tokens + foundBytes(ownSearches, round) / bytesPerToken;
  return sum;
}

/** All that was found up to this round. */
function foundBytes({ search, fetch, image }: SearchBounds, round: number): number {
  const bytesOf = ({ uses, perRound, bytes }: UseBounds): number =>
    Math.min(uses, round * perRound) * (bytes + AROUND_RESULT_BYTES);
  return [search, fetch, image].reduce((sum, bounds) => (bounds === null ? sum : sum + bytesOf(bounds)), 0);
}

/** Each round reads what the model said in the rounds before. */
function readAgain(outputTokens: number, chat: ChatRequest): number {
  const rounds = roundsOf(chat);
  return (outputTokens * rounds * (rounds - 1)) / 2;
}

function withOwnSearches(price: Price, { ownSearches, pictures }: ChatRequest): Price {
  const lines = [...(price.lines ?? [])];
  for (const unit of ["search", "fetch"] as const) {
    const bounds = ownSearches?.[unit] ?? null;
    if (bounds !== null && bounds.rate > 0) lines.push({ unit, count: bounds.uses, rate: bounds.rate });
  }
  if (pictures !== undefined) lines.push({ unit: "image", ...pictures });
  return lines.length === 0 ? price : { ...price, lines };
}

/** Lists possible amounts of the hold, largest first. Each covers the models that cost at most as much. */
export function holdAmounts(quotes: readonly Quote[]): readonly NanoUsd[] {
  const amounts: NanoUsd[] = [];
  for (const { amount } of quotes) {
    const place = amounts.findIndex((other) => other <= amount);
    if (place < 0) amounts.push(amount);
    else if (amounts[place] !== amount) amounts.splice(place, 0, amount);
  }
  return amounts;
}

/** Computes the lowest amount that buys a useful response from some model; null if the client set the length. */
export function leastUseful(quotes: readonly Quote[], input: QuoteInput): NanoUsd | null {
  if (input.chat.maxOutputTokens !== null) return null;
  const amounts = quotes.map((quote) => amountOf(quote, usefulOutput(quote.model, input), input));
  return amounts.reduce((least, amount) => (amount < least ? amount : least));
}

/** Finds the largest output cap per choice that the amount covers; null if it covers no useful response. */
export function affordableOutput(quote: Quote, amount: NanoUsd, input: QuoteInput): number | null {
  const { model } = quote;
  let low = usefulOutput(model, input);
  let high = model.maxOutput;
  const fits = (outputTokens: number): boolean => amountOf(quote, outputTokens, input) <= amount;
  if (!fits(low)) return null;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fits(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Computes the tokens of the shortest useful response. */
function usefulOutput({ maxOutput }: HostedModel, { expectedOutputTokens }: QuoteInput): number {
  return Math.min(Math.max(OUTPUT_TOKENS_MIN, Math.ceil(expectedOutputTokens * USEFUL_SHARE)), maxOutput);
}

/** Bounds the prompt tokens that a provider can report truthfully: one per byte, and a long document per attachment. */
export function inputTokensPossible(chat: ChatRequest, bodyBytes: number): number {
  const large = attachmentsIn(chat).length + (chat.searches ?? 0);
  return roundsTokens(bodyBytes + large * ATTACHMENT_TOKENS_POSSIBLE + PREAMBLE_TOKENS_POSSIBLE, chat, 1);
}

function inputTokensMax(attachments: readonly ContentPart[], bodyBytes: number): number {
  let textBytes = bodyBytes;
  let attachedTokens = 0;
  for (const part of attachments) {
    const bytes = isReadAsText(part) ? 0 : embeddedBytes(part);
    textBytes -= bytes;
    attachedTokens += PICTURE.test(part.type)
      ? ATTACHMENT_TOKENS
      : Math.max(ATTACHMENT_TOKENS, Math.ceil(bytes / EMBEDDED_BYTES_PER_TOKEN));
  }
  return Math.ceil(Math.max(0, textBytes) / BYTES_PER_TOKEN) + attachedTokens + OVERHEAD_TOKENS;
}

function amountOf(
  { inputTokens, price }: Pick<Quote, "inputTokens" | "price">,
  outputTokens: number,
  { chat, markupPpm }: QuoteInput,
): NanoUsd {
  const input = inputTokens + readAgain(outputTokens, chat);
  const output = outputTokens * chat.choiceCount * roundsOf(chat);
  const buckets = { input, cacheRead: 0, cacheWrite: 0, output };
  return costNano(buckets, price, markupPpm);
}

/** Only hosts that charge for searches run them. */
function searchesAt({ price }: HostedModel, { searches = 0 }: ChatRequest): number {
  if (searches === 0 || price === null) return 0;
  const cards = [price, ...Object.values(price.tiers ?? {})];
  const hasFee = ({ own }: Rates): boolean => (own?.search ?? 0) + (own?.searchedPrompt ?? 0) > 0;
  return cards.some((card) => hasFee(card) || card.bands?.some(hasFee) === true) ? searches : 0;
}

function attachmentsIn({ messages }: ChatRequest): readonly ContentPart[] {
  const attachments: ContentPart[] = [];
  for (const message of messages) {
    for (const part of partsOf(message)) if (part.type !== "text") attachments.push(part);
  }
  return attachments;
}

const PICTURE = /image/;
const MEDIA = /image|audio|video|file|document/;
const TEXT = /^(data:)?text\b/;

/** True for plain text, and for data of unknown type: both cost as much as text. */
function isReadAsText(part: ContentPart): boolean {
  return !MEDIA.test(part.type) || (!PICTURE.test(part.type) && embeddedStrings(part).some((text) => TEXT.test(text)));
}

function embeddedBytes(part: ContentPart): number {
  return embeddedStrings(part).reduce((sum, text) => sum + text.length, 0);
}

function embeddedStrings(part: ContentPart): readonly string[] {
  const inner = Object.values(part).filter((value) => typeof value === "object" && value !== null);
  return inner.flatMap((value) => Object.values(value as object).filter((text) => typeof text === "string"));
}
