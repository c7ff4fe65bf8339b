// Texts of the models page.

// index.tsx
export const models = "Models";
export const purpose = "Prices per 1M tokens (incl. markup), BFCL scores and health.";
export const searchModels = "Search models";
export const showUnconfigured = "Show unconfigured";
export const unknownModel = (id: string) => `Unknown model “${id}”. Choose one from the list.`;
export const noMatchingModels = "No matching models";
export const clearSearch = "Clear search";
export const providerKeyOf = (provider: string) => `API key of ${provider}`;
export const chartTitle = "Price vs. BFCL score";
export const chartHint = "Output price per 1M tokens (log scale). Cheaper ← · better ↑";
export const outputPrice = "Output price";
export const chartCaption = "Models by output price and BFCL score";
export const provider = (id: string) => `Provider ${id}`;
export const score = "Score";
export const tier = "Tier";
export const pointSummary = (price: string, score: number | undefined, tier: string) =>
  `${price} · BFCL ${score} · ${tier}`;

// comparison.tsx
export const comparison = "Comparison";
export const sideBySide = "Side by side";
export const addToComparison = "Add a model to the comparison";
export const addAModel = "Add a model…";
export const openInPlayground = "Open in playground";
export const allModels = "All models";
export const modelsSideBySide = "Models side by side";
export const best = "best";
export const price = "Price per 1M tokens (incl. markup)";
export const asOf = "As of";
export const routingAndLimits = "Routing and limits";
export const servesOnly = (endpoint: string): string =>
  `Serves ${endpoint} only. Requests name it, and chat is never routed to it.`;
export const fallbackChains = "Fallback chains";
export const outputLimit = "Output limit";
export const capabilities = "Capabilities";
export const no = "no";
export const bfclScore = "BFCL score";
export const last24Hours = "Last 24 hours";
export const shareOfTraffic = "Share of traffic";
export const errorRate = "Error rate";
export const selectAnotherToCompare = "Select another to compare";
export const clear = "Clear";
export const compareSideBySide = "Compare side by side";
export const removeModel = (id: string) => `Remove ${id}`;
export const tokens = (tokens: number) => `${tokens} tokens`;
export const input = "Input";
export const output = "Output";
export const requests = "Requests";
export const totalP50 = "Total (p50)";
export const spend = "Spend";
export const compareModel = (id: string) => `Compare ${id}`;
export const shareOf = (count: number, total: number) => `${count} of ${total}`;

// facts.tsx
export const noProviderKey = "No provider key";
export const coolingDown = "Cooling down";
export const testing = "Testing";
export const healthy = "Healthy";
export const failedTimes = (times: number) => `${times} failed`;
export const nextIsTest = "the next request is a test";
export const rateLimitedByProvider = "Rate-limited by provider";
export const lastErrorWas = (when: string, error: string) => `; last error ${when}: ${error}`;
export const retryWhen = (when: string) => `retry ${when}`;
export const consecutiveFailure = "consecutive failure";
export const healthSummary = (why: string, since: string, next: string, error: string) =>
  `${why}, since ${since}, ${next}${error}`;

// sheet.tsx
export const servedBy = (name: string, owner: string, provider: string) => `${name} by ${owner}, served by ${provider}`;
export const hosts = "Hosts";
export const host = "Host";
export const speed = "TTFT";
export const perSecond = (tokens: number) => `${tokens} tokens/s`;
export const viewRequests = "View requests";
export const functionCalling = "Function calling (BFCL)";
export const callDirectly = "Call this model directly";
export const directCall = "Direct call";
export const priceAsOf = "Price as of";
export const textOnly = "Text only";
export const inNoChain = "Not in any fallback chain. Call it directly.";
export const chainHint = "As configured. With tools, by BFCL score. Models that are cooling down come last.";
export const validityHint =
  "Valid calls parse, name an offered tool and have its required arguments. Invalid ones lower the score.";
export const noScore = "No BFCL score. Excluded when a minimum is set.";
export const modelNamed = (id: string) => `Model ${id}`;
export const exampleHello = "Hello";
export const longPrompts = (tokens: string) => `Above ${tokens} tokens`;
export const priceFrom = (day: string) => `From ${day}`;
export const per1mTokens = (prompt: string) => `${prompt} per 1M tokens`;
export const contextAndOutput = (context: string, output: string) => `${context} tokens, ${output} out`;
export const trafficOfDay = "Traffic, 24 h";
export const placeOf = (place: number, of: number) => `#${place} of ${of}`;
export const chainOf = (tier: string) => `${tier} chain`;

// table.tsx
export const model = "Model";
export const priceInOut = "Price in / out";
export const context = "Context";
export const health = "Health";
export const ttftOfDay = "TTFT, 24 h";
export const errorsOfDay = "Errors, 24 h";
export const asOfDay = (day: string) => `as of ${day}`;

// words.ts
export const directOnly = "None (direct calls only)";
export const noCalls = "No calls from this account";
export const noScoreToAdjust = "no score to adjust";
export const noChangeBelow = (calls: number) => `no change below ${calls} calls`;
export const placeInTier = (place: number, of: number, tier: string, effort: string | null) =>
  `#${place} of ${of} in ${tier}${effort === null ? "" : `, effort ${effort}`}`;
export const unknownTool = "unknown tool";
export const validOf = (calls: string, valid: string | number) => `${calls}, ${valid} valid`;
export const fromSeveralAccounts = ", from several accounts";
export const scoreLowered = (before: string, after: string, share: string, whose: string) =>
  `score ${before} → ${after} (−${share}${whose})`;
export const scoreUnchanged = "score unchanged";

export const medianOf = (requests: number) => `Median of ${requests}`;
export const slowestOf = (requests: number) => `slowest of ${requests}`;
export const provisional = "provisional";
export const provisionalHint = "Its provider lists it and a price feed prices it, but nobody has proven it yet.";
