// Texts of the request log.

// index.tsx
export const requests = "Requests";
export const purpose = "Every request, with its routing decision and cost.";
export const liveEvery = (seconds: number) => `Live, every ${seconds} s`;
export const csv = "CSV";
export const json = "JSON";
export const emptyHint = "Requests appear here as soon as you use a key.";
export const noRequests = (range: string) => `No requests (${range})`;
export const showLast30Days = "Show last 30 days";
export const viewKeys = "View keys";
export const noRequestsMatch = (filters: string) => `No requests match ${filters}`;
export const clearFilters = "Clear filters";
export const requestPages = "Request pages";
export const newest = "Newest";
export const firstPage = "First page";
export const nextPage = "Next page";
export const older = "Older";
export const live = "Live";
export const newRequest = "new request";
export const thisFilter = "this filter";
export const theseFilters = (count: number) => `these ${count} filters`;

// filter-names.ts
export const outOfCredits402 = "Out of credits (402)";
export const rateLimited429 = "Rate limited (429)";
export const clientError4xx = "Client error (4xx)";
export const serverError5xx = "Server error (5xx)";
export const fixedTier = "Fixed tier";
export const fixedModel = "Fixed model";
export const thirdOrLater = "3rd attempt or later";
export const allAttemptsFailed = "All attempts failed";
export const fallbackOnly = "Fallback only";
export const keysWithoutAProfile = "Keys without a profile";
export const minCost = (usd: string) => `Min cost ${usd}`;
export const maxCost = (usd: string) => `Max cost ${usd}`;
export const failedProvider = (provider: string) => `Failed provider: ${provider}`;
export const routingIs = (how: string) => `Routing: ${how}`;
export const attemptIs = (attempt: string) => `Attempt: ${attempt}`;
export const noFallbacks = "No fallbacks";
export const tierAdjusted = "Tier adjusted";
export const tierNotAdjusted = "Tier not adjusted";
export const errors = "Errors";
export const success = "Success";
export const interrupted = "Interrupted";
export const automatic = "Automatic";
export const firstAttempt = "1st attempt";
export const secondAttempt = "2nd attempt";
export const statusIs = (status: string) => `Status ${status}`;
export const keyNamed = (name: string) => `Key ${name}`;
export const profileNamed = (name: string) => `Profile ${name}`;
export const searchFor = (text: string) => `“${text}”`;
export const noneOf = (name: string) => `No ${name}`;

// filters.tsx
export const anyStatus = "Any status";
export const anyTier = "Any tier";
export const noTier = "No tier";
export const anyModel = "Any model";
export const noModel = "No model";
export const anyKey = "Any key";
export const searchLabel = "Request id or text";
export const searchHint = "Id or text…";
export const tagLabel = "Tag (name=value)";
export const RANGE_NAMES = {
  latencyFrom: "Min latency, ms",
  latencyTo: "Max latency, ms",
  tokensFrom: "Min tokens",
  tokensTo: "Max tokens",
} as const;
export const moreFilters = "More filters";
export const anyCategory = "Any category";
export const anyProvider = "Any provider";
export const profile = "profile";
export const anyProfile = "Any profile";
export const noProfile = "No profile";
export const routing = "routing";
export const anyRouting = "Any routing";
export const minCostLabel = "min cost";
export const minCostHint = "Min cost";
export const maxCostLabel = "max cost";
export const maxCostHint = "Max cost";
export const attempt = "attempt";
export const anyAttempt = "Any attempt";
export const failedProviderLabel = "failed provider";
export const anyFailedProvider = "Any failed provider";
export const failedPrefix = "Failed: ";
export const activeFilters = "Active filters";
export const removeFilter = (filter: string) => `Remove filter: ${filter}`;

// histogram.tsx
export const requestsOverTime = "Requests over time";
export const histogramHint = (range: string, step: string, zone: string, requests: string) =>
  `${range}, by ${step}, ${zone}. ${requests} · Drag to zoom`;
export const histogramCaption = "Successful and failed requests over time";
export const matchingRequest = "matching request";

// sheet.tsx
export const requestIdCopied = "Request id copied.";
export const requestIdIs = (id: string) => `Request id: ${id}`;
export const chargedAmount = (amount: string) => `${amount} charged`;
export const viewLedgerEntry = "View ledger entry";
export const decision = "Decision";
export const notRouted = (endpoint: string): string =>
  `A request for ${endpoint} names its model, so nothing is routed.`;
export const refusedBefore = "Refused before routing:";
export const noRoutingDecision = "No routing decision";
export const cost = "Cost";
export const payload = "Payload";
export const raw = "Raw";
export const requestRecordJson = "Request record, JSON";
export const aboutThisRequest = "About this request";
export const openInPlayground = "Open in playground";
export const copyAsCurl = "Copy as curl";
export const requestsFromThisKey = "Requests from this key";
export const reportWrongTier = "Report wrong tier";
export const reportedTier = (tier: string) => `Reported: ${tier}`;
export const reported = (tier: string) => `Reported: should have been ${tier}.`;
export const feedbackHint = (tier: string | null) => `Routed to ${tier}. Saved as feedback, without the prompt.`;
export const correctTier = "Correct tier";
export const note = "Note";
export const optional = "optional";
export const save = "Save";
export const requestTitle = (id: string) => `Request ${id}`;
export const failedTitle = "Failed";
export const statusCode = (status: number) => `status ${status}`;
export const attemptsTab = (number: number) => `Attempts ${number}`;

// happened.tsx
export const whatHappened = "What happened";
export const needed = "Needed";
export const available = "Available";
export const nextStep = "Next step:";
export const addCredits = "Add credits";
export const retryLater = "Retry when running requests are done.";
export const raiseLimit = "Raise the key's spend limit";
export const raiseRate = "Raise the key's rate limit, or send more slowly";
export const checkTimeout = "The client disconnected. Check its timeout.";
export const testProviders = "Test the provider";
export const useListedModel = "Use a listed model, or “auto”";
export const enableCapability = "Add a model that can take it, or enable the capability on a model";
export const askForModel = "Ask your admin to add a model that can take it.";
export const fixRequest = "Fix the request and send it again.";
export const retryRequest = "Send the request again.";

// table.tsx
export const tableCaption = "Requests";
export const timeIn = (zone: string) => `Time, ${zone}`;
export const prompt = "Prompt";
export const host = "Host";
export const tags = "Tags";
export const columns = "Columns";
export const utcTimes = "Times in UTC";
export const costOf = (amount: string) => `${amount} cost`;
export const tokensOf = (tokens: string) => `${tokens} tokens`;
export const status = "Status";
export const tier = "Tier";
export const model = "Model";
export const key = "Key";
export const tokens = "Tokens";
export const saved = "Saved";
export const ttft = "TTFT";
export const total = "Total";
export const fallbackAttempt = (attempt: number) => `Fallback (attempt ${attempt})`;
export const countedHint = "Counted by the provider";
export const rowLabel = (time: string, id: string) => `${time}, request ${id}`;
export const estimated = "Estimated";

// tabs.tsx
export const noProviderCalled = "No provider was called";
export const firstToken = "First token";
export const gatewayOverhead = "Gateway overhead";
export const readFromCache = "Read from cache";
export const writtenToCache = "Written to cache";
export const notCharged = "Nothing was charged";
export const notReserved = "No credits were reserved.";
export const reservedAndReleased = (amount: string) => `${amount} reserved and released.`;
export const chargeCaption = "How the charge was computed";
export const providerCost = "Provider cost";
export const chargedTotal = "Charged";
export const earlierAnswer = (model: string) => `Earlier answer of the cascade, ${model}`;
export const cascadeCaption = "Answers of the cascade";
export const check = "Check";
export const charge = "Charge";
export const passed = "Passed";
export const failedCheck = (check: string | null) => `Failed: ${check?.replaceAll("_", " ")}`;
export const baselineOn = (baseline: string) => `Baseline: the same tokens on ${baseline}`;
export const reservedDuring = (amount: string) => `${amount} reserved during the request.`;
export const tokensEstimated = "Token counts are estimated: the provider sent none.";
export const ledgerEntry = "Ledger entry";
export const contentOff = "Not stored: content logging was off";
export const askForContent = "Ask your admin to turn on content logging.";
export const request = "Request";
export const truncated = "(truncated)";
export const response = "Response";
export const secondOf = (model: string) => `Second response, ${model}`;
export const dropped = (field: string) => `dropped ${field}`;
export const input = "Input";
export const output = "Output";
export const bucketPrice = (name: string, count: string, price: number) =>
  `${name}: ${count} tokens × $${price} per million`;
const UNIT_NAMES: Readonly<Record<string, string>> = {
  cacheWriteLong: "Tokens written to cache for an hour",
  audioCacheRead: "Audio tokens read from cache",
  imageCacheRead: "Image tokens read from cache",
  audioInput: "Audio tokens of input",
  imageInput: "Image tokens of input",
  videoInput: "Video tokens of input",
  audioOutput: "Audio tokens of output",
  imageOutput: "Image tokens of output",
  reasoning: "Reasoning tokens",
  characters: "Characters",
  minute: "Milliseconds",
  request: "Requests",
  search: "Searches",
  image: "Images",
};
export const unitCount = (unit: string, count: string) => `${UNIT_NAMES[unit] ?? unit}: ${count}`;
export const markupOf = (share: string) => `Markup ${share}`;
export const savedShare = (share: string) => `Saved (${share})`;
export const savedAmount = (amount: string, share: string) => `${amount} saved (${share})`;

// views.tsx
export const viewsHint = "Save filters and time range as a view.";
export const deleteView = (name: string) => `Delete view ${name}`;
export const viewSaved = (name: string) => `View “${name}” saved in this browser.`;
export const viewDeleted = (name: string) => `View “${name}” deleted.`;
export const undo = "Undo";
export const viewName = "View name";
export const saveView = "Save view";
export const views = "Views";
export const viewNamed = (name: string) => `View: ${name}`;
