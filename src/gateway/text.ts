// Sentences of the gateway for clients and operators: refusals, failures, advice and verdicts. Log lines stay where they
// are written, beside their event. A sentence for clients names no provider and no command: those are the operator's.

import type { Retirement } from "../catalog/retirement.ts";
import { command } from "../config/package.ts";
import type { CascadeCheck } from "../core/requests/cascade.ts";
import type { Tier } from "../core/tiers.ts";

// admit.ts
export const profileDeleted = "The routing profile of this key was deleted. Use another key.";
export const missingKey = "The request has no API key. Send 'Authorization: Bearer sk-service-…'.";
export const invalidKey =
  "The API key is not valid: it is malformed, unknown, expired or revoked. Keys of this gateway begin with sk-service-.";
export const tooManyWrongKeys = (seconds: number) => `Too many invalid keys from this address. Wait ${seconds} s.`;
export const rateLimited = (limit: number, seconds: number) =>
  `This key's limit of ${limit} requests per minute is reached. Wait ${seconds} s.`;

// idempotent.ts
export const stillRunning = "A request with this Idempotency-Key is still running.";
export const otherBody = "This Idempotency-Key was used with another body. Use a new key for a new request.";
export const answerLost =
  "The answer to this Idempotency-Key cannot be read any more. It was charged. Use a new key to ask again.";
export const answerNotKept = "Answers of this endpoint are not kept. Send the request without 'Idempotency-Key'.";
export const invalidIdempotencyKey = "'Idempotency-Key' must be 1 to 255 printable ASCII characters.";

// state/storing.ts
export const storedTooMuch = (seconds: number) =>
  `This key has stored too many bytes in the last minute. Wait ${seconds} s, or send 'store: false'.`;

// state/keep-completion.ts
export const notStored = "The completion could not be stored, so it cannot be read again. The answer itself is whole.";

// state/cached.ts
export const cacheNotFound = (name: string) => `'${name}' does not exist. It may have expired.`;

// open-calls.ts
export const shuttingDown = "The server is shutting down. Send the request again.";

// reserve.ts
export const allReserved = "All credits are reserved by requests that are still running. Retry when they are done.";
export const noCreditsLeft = (sums?: string) =>
  `There are no credits left${sums === undefined ? "" : ` (${sums})`}. Requests work again once credits are added.`;
export const noAnswerAfterSearch = "the model did not answer after a search";

/** For the operator. */
export const configureSearch = "To search the web for every model, configure a search provider (`search.provider`).";

/** For the operator. */
export const searchesNowhere =
  "The gateway runs no search and reads no page for requests that require regions or zero retention.";

/** For the operator. */
export const configurePictures = "To make pictures for every model, connect a provider with an image model.";

/** For the operator. */
export const configureFetch = "To read pages of the web for every model, switch that on (`search.fetch: on`).";

/** For the operator. */
export const addCredits = () => `Add credits in the dashboard under Credits or with '${command("credits add 10")}'.`;
export const leftOut = (hosts: readonly string[]) =>
  `left out because the balance does not cover them: ${hosts.join(", ")}`;
export const chainShortened = (model: string) =>
  `The balance does not cover the model '${model}', so a cheaper one of the chain was used. Add credits to use it.`;
export const outputLimited = (tokens: number | undefined) =>
  `output limited to the ${tokens} tokens that the balance covers`;
export const amounts = (needed: string, available: string) => `${needed} USD needed, ${available} USD available`;
export const creditsReserved = (sums: string) =>
  `The credits are reserved by requests that are still running (${sums}). Retry when they are done.`;
export const maxCostReached = (sums: string) =>
  `The batch may cost no more than its service_max_cost_usd, and not enough of it is left (${sums}).`;
export const spendLimitReached = (sums: string, resetsAtMs: number | null) =>
  `This key has reached its spend limit (${sums}).${resetsAtMs === null ? "" : ` It resets on ${dayOf(resetsAtMs)} (00:00 UTC).`}`;
export const notEnoughCredits = (sums: string, outputCapField: string) =>
  `Not enough credits (${sums}). Send a smaller '${outputCapField}', or wait until credits are added.`;

/** `held` is set where running requests have reserved enough. */
export const requests = (count: number | null) => `${count} requests`;
export const tokens = (count: number | null) => `${count} tokens`;
export const budgetRateLimited = (name: string, allowed: string, seconds: number) =>
  `The budget ${name} allows ${allowed} per minute. Wait ${seconds} s.`;
export const budgetSpent = (budget: {
  readonly name: string;
  readonly needed: string;
  readonly left: string;
  readonly amount: string;
  readonly held: string | null;
  readonly renewsAtMs: number;
}) => {
  const sums = `${budget.needed} USD needed, ${budget.left} of ${budget.amount} USD left`;
  if (budget.held !== null)
    return `The budget ${budget.name} is reserved by requests that are still running (${sums}). Retry when they are done.`;
  return `The budget ${budget.name} is spent (${sums}). It renews on ${minuteOf(budget.renewsAtMs)} UTC.`;
};
/** `value` is what the budget counts for itself, such as an end user. */
export const budgetName = (name: string, value: string | null) =>
  value === null ? `'${name}'` : `'${name}' of '${value}'`;
export const softBudgetSpent = (name: string, amount: string, period: string) =>
  `The budget '${name}' of ${amount} USD a ${period} is spent. It is a warning: requests go on.`;
export const modelOverBudget = (model: string) =>
  `A budget of the model '${model}' is spent, so another model of the chain was used.`;
export const leftOutByBudget = (model: string) => `left out because a budget of it is spent: ${model}`;

function minuteOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 16).replace("T", " ");
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

// notes.ts
export const outputCapped = (tokens: number) =>
  `The balance covers no more than ${tokens} output tokens, so the answer was limited to them. Add credits for longer answers.`;
export const modelAlias = (asked: string, id: string) => `${JSON.stringify(asked)} is an alias of ${id}.`;
export const modelsIgnored =
  "Ignored 'models': it counts only with 'service_profile' set to 'direct', or with a key that honours the model.";
export const modelLeftOut = (model: string, because: string) => `Left ${model} out of 'models': ${because}.`;
export const pricesTaken = (models: string) => `Prices: ${models}`;
export const provisionalModels = (models: string) => `Provisional models: ${models}`;
export const andMore = (count: number) => ` and ${count} more`;
export const provisional = (model: string) =>
  `${model} is provisional: its provider lists it and a price list prices it, but nobody has proven it yet.`;
export const otherTier = (served = "default", asked: string) =>
  `The provider answered at the service tier '${served}' instead of '${asked}', and that tier is charged.`;
export const untoldTier = (charged = "default") =>
  `The provider did not say at which service tier it answered. '${charged}' is charged, the dearer of the two.`;
export const usageEstimated = "The provider sent no usable token counts, so the charge is an estimate.";
export const sentence = (words: string) => `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;

// cascade/
export const cascadeUnused = (because: string) => `Answered without a cascade: ${because}.`;
export const cascadeOfStream = "a stream is sent before it can be checked";
export const cascadeOfFixed = (profile: string) => `'service_profile' is '${profile}', which leaves no other tier`;
export const cascadeUnchecked = "nothing can be checked, since the request has no JSON schema, no tools and no pattern";
export const cascadeWithoutTier = "no other tier is cheap enough to begin with, or left to go on with";
export const cascadeTooDear = (usd: number) => `both answers together may cost more than ${usd} USD`;
export const cascadeNotCovered = "the balance does not cover two answers";
export const cascadeUsed = (first: Tier, check: CascadeCheck, reason: string, next: Tier) =>
  `The answer of the ${first} tier failed the check ${check} (${reason}), so the ${next} tier answered. Both are charged.`;
export const cascadeUnmet = (check: CascadeCheck, reason: string, because: string) =>
  `The answer fails the check ${check} (${reason}), and no further tier was asked: ${because}.`;
export const cascadeAtEnd = "a cascade has two answers";
export const cascadeCapReached = (usd: number) => `a second answer may cost more than is left of ${usd} USD`;
export const cascadeNextFailed = "every model of the next tier failed";

// relay.ts
export const streamClosed = "the provider closed the stream";
export const internalInStream = "Internal error. The answer is incomplete.";
export const streamInterrupted = "The provider interrupted the stream. The answer is incomplete.";

// attempt/attempt.ts
export const clientDisconnected = "The client closed the request.";

// attempt/chain-error.ts
export const namedModelFailed = "The requested model failed.";
export const someFailed = (tried: number, all: number, tier: string) =>
  tried === 0
    ? `${all === 1 ? "The only model" : `None of the ${all} models`} in the ${tier} chain could ${all === 1 ? "not " : ""}be tried.`
    : `${tried} of the ${all} models in the ${tier} chain ${tried === 1 ? "was" : "were"} tried and failed.`;
export const allFailed = (tried: number, tier: string) =>
  tried === 1 ? `The only model in the ${tier} chain failed.` : `All ${tried} models in the ${tier} chain failed.`;
export const noneCalled = "No provider could be called in time.";
export const theLast = (what: string) => `The last one ${what}.`;
export const retryIn = (seconds: number) => `Try again in ${seconds} s.`;
export const operatorMustAct = "A retry won't help: only the operator of this gateway can fix it.";
/** For the operator, as is the next one. */
export const lastRefusal = (provider: string, status: number | null, because: string) =>
  `Last error: ${provider} returned ${status} (${because}). Check the provider with '${command("doctor")}'.`;
export const lastError = (provider: string, what: string) => `Last error: ${provider} ${what}.`;
export const returned = (status: number | null) => `returned ${status}`;
export const outOfCredit = "the gateway's account is out of credit";
export const asksForKey = "it asks for an API key";
export const refusedKeyOrRegion = "it refused the gateway's API key or region";
/** A provider's statuses that only the operator can do something about. */
export const refusals: Readonly<Record<number, string>> = {
  401: "it refused the gateway's API key",
  403: "the gateway's API key may not do this",
  404: "it does not know the model or the address",
};
export const failures = {
  connect: "could not be reached",
  timeout: "did not respond in time",
  broken: "closed the connection",
  unreadable: "sent an unusable response",
  unconvertible: "cannot express this request",
  "client-gone": "was cancelled by the client",
} as const;
export const providerRefused = "The provider refused the request.";

// attempt/health-outcome.ts: without commas, because the dashboard shows several in a row
export const interrupted = "the stream was interrupted";
export const creditUsedUp = "API credit used up";
export const keyMissing = "API key missing";
export const keyRefused = "API key refused";
export const status = (code: number | null) => `status ${code}`;
export const unreachable = "cannot be reached";
export const connectionBroke = "the connection broke";
export const errorForAnswer = "an error instead of an answer";

// attempt/try-model.ts
export const answerTooLarge = "the answer is larger than the gateway accepts";
export const streamNeverBegan = "the stream ended without an answer";
export const answerEmpty = "the answer is empty";

// operate/list-models.ts and operate/probe.ts
export const question = "Say ok.";
export const atKey = (provider: string, key: string | undefined, problem: string | null) =>
  `${provider}, key ${key}: ${problem}`;
export const noAnswerWithin = (ms: number) => `no answer within ${ms / 1000} s`;
export const noModelList = "no list of models";
export const listsNoModels = (provider: string, address: string) => `${provider} lists no models at ${address}.`;
export const checkListAddress =
  "Check the address; that of an openai provider usually ends in /v1. If the server has no list, enter its models yourself.";
export const noPricedModel = (provider: string) =>
  `No model with a price uses the provider '${provider}', so it cannot be tested.`;
export const addPricedModel = (provider: string) => `Add one under 'models:' with 'provider: ${provider}' and a price.`;

// operate/local-servers.ts
export const foundLocked = (server: string, address: string) => `${server} at ${address}, which needs a key`;
export const found = (server: string, address: string, models: number) =>
  `${server} at ${address} with ${models} ${models === 1 ? "model" : "models"}`;

// operate/outcomes.ts
export const noneJudged = (samples: number) =>
  `Not enough data yet: none of ${samples} samples could be judged. Longer texts need feedback from your application.`;
export const yourChain = "your chain";
export interface Agreement {
  readonly rate: string;
  readonly low: string;
  readonly high: string;
  readonly judged: number;
  readonly dear: string;
}
export const agreement = ({ rate, low, high, judged, dear }: Agreement) =>
  `${rate} of ${judged} judged answers agree with ${dear} (95% confidence: ${low} to ${high})`;
export const atCost = (share: string) => `, at ${share} of its cost`;
export const holdsUp = (cheap: string, figures: string) => `${capital(cheap)} holds up: ${figures}.`;
export const isWorse = (cheap: string, figures: string, bar: string, cost: string) =>
  `${capital(cheap)} is worse: ${figures}, below ${bar}${cost}.`;
export const notEnoughData = (figures: string, needed: number | null, bar: string) =>
  `Not enough data yet: ${figures}. ${
    needed === null
      ? `The share is too close to ${bar} for a verdict.`
      : `About ${needed.toLocaleString("en-US")} are needed for a verdict.`
  }`;

/** A model's id stays as it is written. */
function capital(subject: string): string {
  return subject === yourChain ? "Your chain" : subject;
}

// operate/probe-advice.ts
export interface Advice {
  readonly problem: string;
  readonly fix: string;
}
export const cannotBeReached = (host: string, reason: string, provider: string): Advice => ({
  problem: `${host} cannot be reached: ${reason}.`,
  fix: `Check that it is running, then the network, the firewall and 'providers.${provider}.baseUrl'.`,
});
export const didNotAnswer = (host: string, reason: string): Advice => ({
  problem: `${host} did not answer in time: ${reason}.`,
  fix: "Try again. If it persists, check the provider's status page and your network.",
});
export const closedConnection = (host: string, reason: string, provider: string): Advice => ({
  problem: `${host} closed the connection: ${reason}.`,
  fix: `Try again. If it persists, check whether 'providers.${provider}.baseUrl' has the right scheme and port.`,
});
export const wrongFormat = (host: string, reason: string, { id, kind }: { id: string; kind: string }): Advice => ({
  problem: `${host} sent a response that is not in ${kind} format: ${reason}.`,
  fix: `Check 'kind' and 'baseUrl' of providers.${id}; the address of an openai provider usually ends in /v1.`,
});
/** `said` ends each problem: what the provider says about it. */
export const keyProblem = (provider: string, what: string, status: number, said: string) =>
  `${provider} ${what} (${status}).${said}`;
export const refusesKey = "refuses the key";
export const asksForAKey = "asks for a key";
export const insufficientCredit = (provider: string, status: number, said: string): Advice => ({
  problem: `${provider} reports insufficient credit (${status}).${said}`,
  fix: "Add credit or raise the limit in your provider account.",
});
export const unknownModel = (provider: string, model: { id: string; upstream: string }, said: string): Advice => ({
  problem: `${provider} does not know the model '${model.upstream}' or the address (404).${said}`,
  fix: `Check that the key may use it, 'upstream' of the model ${model.id}, and the path of 'providers.${provider}.baseUrl'.`,
});
export const rateLimitReached = (provider: string, said: string): Advice => ({
  problem: `${provider} works, but its rate limit is reached (429).${said}`,
  fix: "Wait, or raise the limit at the provider.",
});
export const serverError = (provider: string, status: number, said: string): Advice => ({
  problem: `${provider} has a server error (${status}).${said}`,
  fix: "Try again later. Until then, requests fall back to other models.",
});
export const testRefused = (provider: string, status: number, said: string, model: string | null): Advice => ({
  problem: `${provider} refused the test (${status}).${said}`,
  fix: `Check 'kind' and 'dialect' of providers.${provider}${model === null ? "" : ` and of the model ${model}`}.`,
});
export const itSays = (words: string) => ` It says: ${words}`;
export const replaceKey = (places: string) =>
  `Replace the key where it was set: on the Providers page, or in ${places}, which needs a restart.`;
export const enterKey = (places: string) =>
  `Enter its key on the Providers page of the dashboard. Or set ${places} and restart the gateway.`;

// state/
export const conversationTooLong = (responses: number) =>
  `The conversation has more than ${responses} responses. Compact it with POST /v1/responses/compact.`;
export const invalidCompaction =
  "A compaction item in 'input' cannot be opened. It is damaged or belongs to another account.";
export const responseNotFound = (id: string) => `Previous response with id '${id}' not found.`;
export const callNotFound = (id: string) => `No tool call with id '${id}' was found in the continued response.`;
export const cannotContinue = (id: string, state: string) =>
  `Response '${id}' cannot be continued: its status is ${state}.`;
export const conversationNotFound = (id: string) => `Conversation with id '${id}' not found.`;
export const itemNotFound = (id: string) =>
  `Item with id '${id}' not found. Items are kept only when 'store' is not false.`;
export const conversationTooLarge = (bytes: number, items: number) =>
  `The conversation is longer than ${bytes} bytes or ${items} items. Compact it with POST /v1/responses/compact.`;
export const internal = "Internal error.";
export const backgroundNeedsStore = "'background' needs 'store': a response that is not stored cannot be read later.";
export const notBoth = "Send 'previous_response_id' or 'conversation', not both.";
export const invalidConversation = "'conversation' must be an id, or an object with one.";

export const modelRetires = ({ model, day, state }: Retirement) =>
  state === "retired"
    ? `${model} retired on ${day}, so its provider may stop answering at any time. Ask for another model.`
    : `${model} retires on ${day}. Ask for another model before then.`;

// realtime
export const noRealtimeHost = (problem: string | null) =>
  `No provider opened a session${problem === null ? "" : ` (${problem})`}. Try again shortly.`;
export const noRealtimeAt = (provider: string) => `${provider} has no realtime sessions`;
