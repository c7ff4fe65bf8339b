// Texts of the playground.

// index.tsx
export const playground = "Playground";
export const purpose = "Preview routing for any prompt. Free, no provider call.";
export const compare = "Compare";
export const copyAs = "Copy as…";
export const share = "Share";
export const saveAsProfile = "Save as profile";
export const openedFromRequest = "Opened from request";
export const promptNotLogged = ". The original prompt wasn't logged.";
export const decision = "Decision";
export const copyAsTitle = "Copy as";
export const thisRequest = "This request";
export const linkCopied = "Link copied. The prompt is in the link only.";
export const copyAddress = "Copy the address from your browser.";

// compare.tsx
export const oneBaseline = (tokens: number, usd: string, baseline: string) =>
  `For answers of ${tokens} tokens; the baseline costs ${usd}: ${baseline}.`;
export const currentSettings = "Current settings";
export const comparison = "Comparison";
export const runAllFor = (cost: string) => `Run all for about ${cost}`;
export const runAll = "Run all";
export const noProfile = "No profile";
export const comparedWith = "With";
export const tier = "Tier";
export const model = "Model";
export const estimate = "Estimate";
export const saved = "Saved";
export const refused = "Refused";
export const compareWithNumber = (number: number) => `Compare with, ${number}`;
export const remove = "Remove";
export const addToComparison = "Add to comparison";
export const profiles = "Profiles";
export const tiers = "Tiers";
export const models = "Models";
export const anotherProfile = "another profile";
export const profileNamed = (id: string) => `Profile ${id}`;
export const tierNamed = (id: string) => `Tier ${id}`;
export const modelNamed = (id: string) => `Model ${id}`;
export const removeNamed = (name: number) => `Remove ${name}`;

// form.tsx
export const prompt = "Prompt";
export const conversation = "System prompt and conversation";
export const systemPrompt = "System prompt";
export const earlierMessageNumber = (number: number, role: string) => `Earlier message ${number}, ${role}`;
export const addEarlierMessage = "Add earlier message";
export const removeLastMessage = "Remove last message";
export const tools = "Tools";
export const toolsJson = "Tools, JSON";
export const invalidJson = "Invalid JSON. Routed without tools.";
export const weatherTools = "weather";
export const searchTools = "search and read";
export const fileTools = "files and shell";
export const weatherInACity = "Weather in a city";
export const searchTheWeb = "Search the web";
export const readAPage = "Read a page";
export const readAFile = "Read a file";
export const writeAFile = "Write a file";
export const runACommand = "Run a command";
export const nanoExample = "Hi! How are you today?";
export const simpleExample = "What is the capital of France?";
export const lightExample = "Summarise the First World War in three bullet points.";
export const standardExample =
  "Refactor this function to be iterative and add unit tests:\ndef fib(n): return n if n < 2 else fib(n-1) + fib(n-2)";
export const complexExample =
  "Design a multi-region, strongly consistent ledger that survives the loss of a region, and prove that no money can be lost.";
export const examples = "Examples";
export const profile = "Profile";
export const routing = "Routing";
export const automatic = "Automatic";
export const outputTokens = "Output tokens";
export const auto = "auto";

// outcome.tsx
export const emptyHint = "The routing decision appears here as you type.";
export const typeAPrompt = "Type a prompt";
export const adapted = (changes: string) => `Adapted for this model: ${changes}`;
export const cascadeOf = (answers: readonly string[], checks: readonly string[]) =>
  `Cascade: ${answers.join(", then ")} if the check fails (${checks.map((check) => check.replaceAll("_", " ")).join(", ")})`;
export const noCascade = (because: string) => `No cascade: ${because}.`;
export const drops = (field: string) => `drops ${field}`;

// run.tsx
export const run = "Run";
export const stop = "Stop";
export const runFor = (cost: string) => `Run for about ${cost}`;
export const runHint = "Calls the provider and charges this account.";
export const response = "Response";
export const answerSummary = (model: string | null, time: string, charged: string, estimated: string) =>
  `${model} answered in ${time}: ${charged} charged, ${estimated} estimated.`;
export const viewRequest = "View request";
export const interrupted = "Interrupted";
