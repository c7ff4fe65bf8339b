// Texts of the overview.

// index.tsx
export const purpose = "Traffic, cost and savings at a glance.";
export const overview = "Overview";
export const noRequests = (range: string) => `No requests (${range})`;
export const showLast30Days = "Show last 30 days";
export const updatedAgo = (time: string) => `Updated ${time} ago`;
export const autoRefresh = "Auto-refresh";
export const youSpentIn = (range: string) => `${range}: you spent`;
export const insteadOf = "instead of";
export const on = "on";
export const moreThanBaseline = (percent: string) => `${percent} more than the baseline`;
export const allKeys = "All keys";
export const someBaseline = "the baseline model";
export const savedShare = (share: string) => `${share} saved`;

// charts.tsx
export const spendVsBaseline = "Spend vs. baseline";
export const spendSummary = (range: string, spend: string, baseline: string, share: string, saved: string) =>
  `${range}. Spent ${spend}, baseline ${baseline}, ${share} ${saved}.`;
export const timeIn = (zone: string) => `Time, ${zone}`;
export const cumulative = "Cumulative";
export const spendCaption = "Spend vs. baseline over time";
export const showAll = "Show all";
export const modelMix = "Model mix";
export const bySpend = "By spend";
export const noModelAnswered = "No model has answered yet";
export const tierMix = "Tier mix";
export const tierCaption = "Share of requests by tier over time";
export const outOfCredits402 = "Out of credits (402)";
export const rateLimited429 = "Rate limited (429)";
export const other4xx = "Other 4xx";
export const serverError5xx = "Server error (5xx)";
export const errors = "Errors";
export const noErrors = "No errors.";
export const errorsCaption = "Errors by kind over time";
export const ttft = "TTFT";
export const total = "Total";
export const gateway = "Gateway";
export const noResponsesYet = "No responses yet.";
export const tooFewRequests = "Too few requests for percentiles.";
export const latency = "Latency";
export const latencyOf = "Latency of";
export const overheadHint = "Gateway overhead until the first token";
export const latencyCaption = "Latency over time";
export const overheadSummary = (own: string, whole: string, share: string) =>
  `Gateway overhead ${own}, providers ${whole} (overhead: ${share} of TTFT)`;
export const spent = "Spent";
export const baseline = "Baseline";
export const saved = "Saved";
export const ofSpend = (model: string | null, share: string) => `${model}: ${share} of spend`;
export const model = "Model";
export const requests = "Requests";
export const spend = "Spend";
export const topTier = (range: string, tier: string | undefined, share: string) =>
  `${range}. Top tier: ${tier} (${share})`;
export const interrupted = "Interrupted";
export const worst = (step: string, time: string) => `Worst ${step}: p95 ${time}`;

// checklist.tsx
export const getStarted = "Get started";
export const dismiss = "Dismiss";
export const createAKey = "Create a key";
export const keysHint = "API keys identify your apps.";
export const keyReady = (name: string, prefix: string) => `“${name}” (${prefix}…) is ready. Lost it? Create another.`;
export const createKey = "Create key";
export const sendARequest = "Send a request";
export const setKeyWith = "From your app: set your key with";
export const thenRun = ", then run:";
export const setKeyCommand = "export SWITCHYARD_KEY=sk-service-…";
export const firstRequest = "First request";
export const pasteProviderKey = "Paste a provider's key to reach real models.";
export const allProviders = "All providers";
export const provider = "Provider";
export const otherServer = "Other server";
export const askForProvider = "Ask your admin to connect a provider.";
export const connectAProvider = "Connect a provider";
export const onSandbox = (how: string) => `You're on the sandbox: responses are simulated. ${how}`;
export const providersAreConfigured = "Providers are configured.";
export const viewModels = "View models";
export const credits = "Credits";
export const meteredHint = "Billing is metered: no request fails for lack of credits.";
export const creditsAvailable = (amount: string) =>
  `${amount} available. Credits are a spending cap: no card is charged.`;
export const noCredits = "You have no credits, so requests fail with 402.";
export const viewCredits = "View credits";
export const addCredits = "Add credits";
export const askForCredits = "Ask your admin to add credits.";
export const waiting = "Waiting for the first request…";
export const lastFailed = (reason: string) => `Your last request failed: ${reason}.`;
export const viewRequest = "View request";
export const goToOverview = "Go to overview";
export const received = "Received:";
export const seeWhy = "See why";
export const examplePrompt = "What is the capital of France?";
export const sendTest = "Send a test request";
export const stepToDo = "(to do)";
export const statusIs = (status: number) => `status ${status}`;
export const belowBaseline = (share: string) => `, ${share} below the baseline`;
export const sending = "Sending…";

// attempt-stacks.ts
export const allFailed = "All failed";
export const noProviderWasCalled = "No provider was called.";
export const allFirst = "All answered on the first attempt.";
export const answeredFirst = (share: string) => `${share} answered on the first attempt.`;
export const countsForBoth = "A request that failed at two providers counts for both.";
export const noProviderFailures = "No provider failures.";
export const excludesUncounted = (requests: string) => `Excludes ${requests} without attempt counts.`;
export const failedRequest = "failed request";
export const olderRequest = "older request";

// attempts.tsx
export const byAttempt = "By attempt";
export const byProvider = "By provider";
export const attemptsBy = "Attempts by";
export const attempts = "Attempts";
export const includeFirstAttempts = "Include first attempts";
export const attemptsCaption = "Requests by the attempt that answered, over time";
export const laterCaption = "Requests that needed more than one attempt, over time";
export const providersCaption = "Failed requests by provider, over time";

// lists.tsx
export const topKeysBySpend = "Top keys by spend";
export const noKeyActivity = "No key activity";
export const recentErrors = "Recent errors";
export const viewAll = "View all";
export const noErrorsInRange = "No errors in this range";

// tiles.tsx
export const requestsHint = "All authenticated requests, including failed ones.";
export const spendHint = "Token cost on the model that answered, plus markup.";
export const savedHint = "Baseline cost minus what you paid. Can be negative.";
export const ttftHint = "Time to first token: 95% of requests were faster than this.";
export const errorRate = "Error rate";
export const errorRateHint = "Share of requests that failed.";
export const fallbackRate = "Fallback rate";
export const fallbackRateHint = "Share of requests answered by a fallback model.";
export const keyNumbers = "Key numbers";
export const noPrevious = "No data in the previous period";
export const previously = (value: string) => `${value} in the previous period`;
export const aboutTile = (name: string) => `About ${name}`;

// drill-down.ts
export const rangeByStep = (range: string, since: string, step: string) => `${range} (since ${since}), by ${step}`;
export const slowestOf = (count: number) => `slowest of ${count}`;
