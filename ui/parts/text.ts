// Texts of the parts that several pages share.

import type { BaselinePrice } from "../../src/core/requests/records.ts";

// connect/form.tsx
export const connectNamed = (name: string) => `Connect ${name}`;
export const connect = "Connect";
export const connected = (name: string) => `${name} connected.`;
export const id = "Id";
export const idHint = "A short name, such as lab.";
export const idInvalid = "Use lower-case letters, digits and hyphens, such as my-lab.";
export const kind = "API";
export const kindAzure = "Azure OpenAI";

// connect/clouds.ts and connect/cloud-form.tsx
export const bedrock = "Amazon Bedrock";
export const bedrockHint = "Nova, Llama, Mistral and others";
export const vertex = "Google Vertex AI";
export const vertexHint = "Gemini";
export const vertexClaude = "Claude at Vertex AI";
export const vertexClaudeHint = "Claude at Google";
export const foundry = "Claude in Foundry";
export const foundryHint = "Claude at Azure";
export const region = "Region";
export const regionHint = "Such as eu-central-1. At Google also global, eu and us.";
export const cloudKey = "Key";
export const cloudKeyHints: Readonly<Record<string, string>> = {
  aws: "A Bedrock API key, or access key:secret. Leave empty for the identity of this machine.",
  google: "A service account's key file in base64. Leave empty for the identity of this machine.",
  azure: "The resource's key, or a client's secret. Leave empty for the identity of this machine.",
};
export const otherIdentity = "Another identity or address";
export const signInFields: Readonly<Record<string, string>> = {
  profile: "Profile of the shared AWS files",
  roleArn: "ARN of a role",
  externalId: "External id of the role",
  project: "Project",
  credentialsFile: "Credentials file on the gateway",
  method: "Method: entra for Microsoft Entra",
  tenantId: "Tenant id",
  clientId: "Client id",
};
export const cloudAddress = "Address";
export const cloudAddressHint = "Leave empty for the address of the region.";
export const foundryUrlExample = "https://my-resource.services.ai.azure.com/anthropic";
export const foundryDeploymentsHint = "One per line: model = deployment.";
export const foundryDeploymentsExample = "claude-haiku-5-5 = my-haiku";

// connect/form.tsx
export const baseUrl = "Base URL";
export const addressInvalid = "Begin with http:// or https://, such as http://127.0.0.1:8000/v1.";
export const baseUrlExample = "http://127.0.0.1:8000/v1";
export const azureUrlExample = "https://my-resource.openai.azure.com";
export const apiVersion = "API version";
export const apiVersionHint = "Leave empty for the newer address, /openai/v1.";
export const deployments = "Deployments";
export const deploymentsHint = "One per line: model = deployment. Leave empty if they are named like the models.";
export const deploymentsExample = "gpt-4.1 = prod-1";
export const models = "Models";
export const modelsHint = "One per line. Test fills in what the server lists.";
export const inputPrice = "Input price";
export const outputPrice = "Output price";
export const priceHint = "USD per 1M tokens. 0 if it's your hardware.";
export const capabilities = "Capabilities";
export const apiKey = "API key";
export const keyHint = "Stored encrypted. Nothing is saved until you connect.";
export const keyOptional = "Leave empty if the server needs none.";
export const anotherServer = "another server";

// decision.tsx
export const estimates = (cost: string, baseline: string) => `estimated ${cost}, baseline ${baseline}`;
interface Baseline {
  readonly baselineModel: string;
  readonly baselinePrice: BaselinePrice | null;
}

/** The baseline as it is named beside savings. */
export const baselineNamed = (model: string, price: BaselinePrice | null) =>
  price === null ? model : `${model} at $${price.input} / $${price.output} per million tokens (${price.asOf})`;
export const baselineIs = (baseline: string) => `Baseline: ${baseline}`;
/** An exact saving, and what it is counted against. */
export const savedAgainst = (amount: string, { baselineModel, baselinePrice }: Baseline) =>
  `${amount}. ${baselineIs(baselineNamed(baselineModel, baselinePrice))}`;
export const charges = (cost: string, baseline: string) => `charged ${cost}, baseline ${baseline}`;
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

// control-fields.tsx
export const noLimit = "none";
export const asConfigured = "As configured";

// history.tsx
export const noHistory = "No changes yet";
export const beforeAll = "Before the first change";
export const inUse = "In use";
export const rollBack = "Roll back";
export const rollBackTo = (number: number) => `Roll back to version ${number}`;
export const rolledBack = (number: number) => `Rolled back to version ${number}.`;
export const allChanges = (count: number) => `All ${count} changes`;

// options.tsx
export const undo = "Undo";
export const undone = (path: string) => `${path} is as it was.`;
export const reset = "Reset";
export const resetTo = (path: string) => `Reset ${path} to its default`;
export const on = "On";
export const notSet = "Not set";
export const off = "Off";
export const save = "Save";
export const optionSaved = (path: string) => `${path} changed. All processes follow within five seconds.`;
export const contentIsOn = "Prompts and answers of new requests are stored.";
export const contentFromNow = "It is on now. Prompts and answers of new requests are stored.";
export const contentLocked = (place: string) => `${place} turns it off. Change logging.content there.`;
export const contentHint = "Turn it on to see prompts and answers of new requests. History can take it back.";
export const storeContent = "Turn on content logging";

// profile-rules.ts
export const noRules = "No rules";

// provider-test.tsx
export const testHint = "Sends one tiny request. Uses no credits; your provider may bill it.";
export const listedIn = (models: number | undefined, duration: string) =>
  models === undefined
    ? `Connected (${duration}).`
    : `Connected: ${models} ${models === 1 ? "model" : "models"} found (${duration}).`;
interface ShownSignIn {
  readonly identity: string | null;
  readonly region: string | null;
  readonly until: string | null;
}

export const signedInAs = ({ identity, region, until }: ShownSignIn) =>
  [
    identity === null ? null : `Signed in as ${identity}.`,
    region === null ? null : `Region ${region}.`,
    until === null ? null : `Credentials until ${until}.`,
  ]
    .filter(Boolean)
    .join(" ");
export const cloudRefuses = (problem: string) => `Sign-in failed: ${problem}`;
export const enabledModels = (models: readonly string[]) => `Available to this account: ${models.join(", ")}.`;
export const missingModels = "Not available:";
export const notListed = "not listed for this account and region";
export const answeredIn = (model: string, duration: string) => `${model} answered in ${duration}.`;
export const costsYou = (cost: string) => ` Your provider bills ${cost}.`;
export const testNamed = (name: string) => `Test ${name}`;
export const testing = "Testing…";
export const test = "Test";

// quality.tsx
export const byDefault = "Default";
export const fast = "Fast";
export const balanced = "Balanced";
export const best = "Best";
export const qualityOf = (kind: string) => `${kind} quality`;

// replay.tsx
export const replay = "Replay";
export const replayTitle = "Preview on your last requests";
export const replayUntouched = "Change something to see its effect on your last requests.";
export const notAnswered = "failed, no cost";
export const replayEmptyHint = "Send some requests to see what this would change.";
export const replayEmpty = "No requests to replay";
export const lastRequests = (requests: string) => `Last ${requests}:`;
export const noneWouldMove = "none would move to another tier";
export const replayCosts = (before: string, after: string) =>
  `${before} charged, ${after} with these changes. From the log; no requests sent.`;
export const andMore = (number: number) => `and ${number} more`;
export const refused = "refused";
export const wouldMoveUp = (number: number) => `${number} would move up`;
export const wouldMoveDown = (number: number) => `${number} would move down`;
export const wouldBeRefused = (number: number) => `${number} would be refused`;

// shadow.tsx
export const secondAnswers = "Second answers";
export const shadowHint = "Some requests are sent to a second model too, after the client has its answer.";
export const shadowModel = "Second model";
export const shadowShare = "Share of requests (%)";
export const shadowBudget = "At most per day (USD)";
export const startShadow = "Start samples";
export const stopShadow = "Stop samples";
export const shadowStarted = "Samples started. Outcomes shows them within seconds.";
export const shadowStopped = (name: string) => `No more samples of “${name}”. Those that were made stay.`;
export const shadowOf = (share: string, model: string, budget: string) =>
  `${share} of requests also go to ${model}, at most ${budget} a day.`;
export const shadowByAdmins = "Second answers aren't charged to your credits, so only an admin can start samples.";

// key-picker.tsx
export const key = "Key";
export const searchKeys = "Search keys";
export const moreKeys = (shown: number, all: number) => `${shown} of ${all} keys. Type to find others.`;

// sign-in-problem.ts
export const signInFailed = "The sign-in failed. Try again, or sign in with your password.";
export const SIGN_IN_PROBLEMS: Readonly<Record<string, string>> = {
  domain_not_allowed: "Your e-mail domain may not sign in here.",
  email_not_verified: "The identity provider does not say that your e-mail address is verified. Ask your admin.",
  identity_provider_down: "The identity provider does not answer. Sign in with your password, or try again later.",
  identity_taken: "This identity is linked to another user. Ask your admin.",
  no_access: "You have no access yet. Ask your admin.",
  no_account: "Your account is missing here. Ask your admin.",
  no_email: "The identity provider sent no e-mail address. Ask your admin.",
  setup_needed: "The first admin must set up this gateway before.",
  sign_in_expired: "This sign-in has expired or was used already. Begin again.",
  sign_in_refused: "The identity provider refused the sign-in, or you cancelled it.",
};

// people/passkeys.ts
export const passkeyKnown = "This device has one already.";
export const passkeyCancelled = "No passkey was used.";
