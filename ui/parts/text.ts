// Texts of the parts that several pages share.

// decision.tsx
export const estimates = (cost: string, baseline: string) => `estimated ${cost}, baseline ${baseline}`;
export const saved = (savings: string) => `${savings} saved`;
export const decidedBy = "Decided by";
export const category = "Category";
export const confidence = "Confidence";
export const score = "Score";
export const tokensInOut = (input: number, output: number) => `${input} in / ${output} out`;
export const scoreRange = (tier: string, from: string, to: string) => `${tier}: ${from}–${to}`;
export const estimatedTokens = "Estimated tokens";
export const bfclScore = (scenario: string) => `${scenario}, BFCL score`;
export const tools = "Tools";
export const orHigher = (tier: string) => `${tier} or higher`;
export const conversation = "Conversation";
export const routedIn = "Routed in";
export const signals = "Signals";
export const adjustmentsInOrder = "Adjustments, in order";
export const classifierRules = "Classifier + rules";
export const requestFixedTier = "Request (fixed tier)";
export const requestFixedModel = "Request (fixed model)";
export const fallbackChain = "Fallback chain";
export const answered = "answered";
export const excludedModels = "Excluded models";
export const rules = "Rules";
export const classifier = "Classifier";

// profile-rules.ts
export const upTo = (tier: string) => `Up to ${tier}`;
export const codeQuality = (quality: string | undefined) => `Code: ${quality}`;
export const chatQuality = (quality: string | undefined) => `Chat: ${quality}`;
export const noRules = "No rules";
export const maxCost = (cost: string) => `Max ${cost}`;
export const minScore = (score: number) => `BFCL ≥ ${score}`;
export const needsCapability = (capability: string) => `Needs ${capability}`;
export const modelsAllowed = (models: string) => `${models} allowed`;
export const modelsBlocked = (models: string) => `${models} blocked`;
export const honoursModel = "Named models used";

// provider-test.tsx
export const testHint = "Sends one tiny request. Uses no credits; your provider may bill it.";
export const answeredIn = (model: string | null, duration: string) => `${model} answered in ${duration}.`;
export const testNamed = (name: string) => `Test ${name}`;
export const testing = "Testing…";
export const test = "Test";

// quality.tsx
export const byDefault = "Default";
export const fast = "Fast";
export const balanced = "Balanced";
export const best = "Best";
export const qualityOf = (kind: string) => `${kind} quality`;
