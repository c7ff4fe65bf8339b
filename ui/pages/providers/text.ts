// Texts of the providers page.

// index.tsx
export const providers = "Providers";
export const purpose = "Connect providers and order their models. Changes apply without a restart.";
export const chains = "Chains";
export const history = "History";
export const adminsOnly = "Only admins can change providers.";

// list.tsx
export const noneConnected = "No provider connected";
export const noneConnectedHint = "The sandbox answers with simulated text.";
export const lockedBy = (place: string) => `Set by ${place}, so it can't be changed here.`;
export const remove = "Remove";
export const removeNamed = (name: string) => `Remove ${name}`;
export const removeHint = "Its models go too. Requests in progress finish. You can undo this in History.";
export const removed = (name: string) => `${name} removed.`;
export const cancel = "Cancel";
export const coolingDown = "Cooling down";
export const healthy = "Healthy";
export const failing = "Failing";
export const unused = "No models";
export const inNoChain = "No request is routed here until you add its models in";
export const policy = (region: string | null, data: string | null) =>
  region === null && data === null
    ? "Region and data retention unknown"
    : [region === null ? null : `Region: ${region}.`, data === null ? null : `Data: ${data}`].filter(Boolean).join(" ");
export const notUsedToday = "not used in the last 24 hours";
export const usedToday = (spent: string, requests: string, median: string) =>
  `${spent} for ${requests} in 24 hours, p50 ${median}`;
export const azure = "Azure OpenAI";
export const azureHint = "Your resource and deployments";
export const setByWhen = (author: string, when: string) => `set by ${author} ${when}`;
export const connectAProvider = "Connect a provider";
export const otherServer = "Other server";
export const otherServerHint = "Any compatible address";
export const documentation = "Documentation";

export const lookForServers = "Look for local servers";

// edit.tsx
export const edit = "Edit";
export const editNamed = (name: string) => `Edit ${name}`;
export const edited = (name: string) => `${name} changed.`;
export const baseUrl = "Base URL";
export const upstream = "Name at the server";
export const inputPrice = "Input price";
export const outputPrice = "Output price";
export const capabilitiesOf = (model: string) => `Capabilities of ${model}`;
export const addServed = "Add model";
export const removeServed = (model: string) => `Remove ${model}`;
export const editHint = "Prices in USD per 1M tokens. Running requests keep the old ones.";

// keys.tsx
export const keys = "Keys";
export const keysOf = (name: string) => `Keys of ${name}`;
export const keysSaved = "Keys saved.";
export const addKey = "Add key";
export const weightHint = "Weight is a key's share of the conversations. 0 switches it off.";
export const lastKey = "Keep one, or remove the provider.";
export const withoutKey = "Requests are sent without a key.";
export const testNewest = "Test last key";
export const save = "Save";
export const keyNumber = (number: number) => `Key ${number}`;
export const pasteKey = "Paste a key";
export const weightOf = (number: number) => `Weight of key ${number}`;
export const removeKey = (number: number) => `Remove key ${number}`;

// local.tsx
export const inUse = "In use";
export const localServers = "Local servers";
export const noServer = "No model server answers. Start one, or enter its address.";
export const address = "Address";
export const addressHint = "Leave empty for this machine.";
export const look = "Look";
export const needsKey = "It needs a key. Connect it as another server.";
export const useFree = (models: string) => `Use ${models} at $0`;
export const serverUsed = (name: string) => `${name} connected.`;

// prices.tsx
export const prices = "Prices";
export const compared = (when: string) => `Checked ${when}. USD per 1M tokens.`;
export const byItself = (hours: number) => `Prices are checked every ${hours === 1 ? "hour" : `${hours} hours`}.`;
export const checksOff = "Price checks are off: set prices.check to daily.";
export const oldest = (model: string, when: string) => `The oldest price in use is ${model}'s, confirmed ${when}.`;
export const feedRead = (models: string, when: string) => `${models}, read ${when}`;
export const feedStale = (when: string) =>
  `changed ${when} for the last time. It has no vote on prices until it changes.`;
export const feedLost = (names: string) => `no longer lists ${names}`;
export const feeds = "Feeds";
export const standings = {
  agreed: "feeds agree; the next check takes it over",
  single: "only one feed has it",
  disputed: "the feeds disagree",
  implausible: "implausible",
  large: "a large change",
  drifted: "too far from the confirmed price",
  timed: "depends on the hour",
  undone: "you undid it",
  details: "service tiers or units of one feed",
} as const;
export const feedSays = (feed: string, price: string) => `${feed} ${price}`;
export const startsOn = (day: string) => `from ${day}`;
export const adoptFrom = (model: string, feed: string) => `Adopt ${model} from ${feed}`;
export const provisional = "Provisional models";
export const provisionalHint =
  "Your providers list these, and a feed prices them. They are callable by name. Add them to a chain once you trust them.";
export const abovePrompt = (tokens: string, price: string) => `above ${tokens} tokens ${price}`;
export const confirmedPrice = (price: string, day: string) => `confirmed ${price}, ${day}`;
export const ownPrice = (day: string) => `your price, ${day}`;
export const checkNow = "Check now";
export const differ = "Prices that differ";
export const notChecked = "Not checked yet.";
export const noneDiffer = "Your prices match the feeds.";
export const model = "Model";
export const now = "Now";
export const inList = "Feeds";
export const change = "Change";
export const newPrice = "new";
export const adopt = "Adopt";
export const adoptNamed = (name: string) => `Adopt ${name}`;
export const adoptAll = (count: number) => `Adopt all ${count}`;
export const adopted = "Adopted.";
export const unpriced = "Unpriced, not routable";
export const noneUnpriced = "Every model that your providers list has a price.";
export const unpricedHint = "Your providers offer these. Adopt a feed's price, or type one.";
export const priceOf = (side: string, model: string) => `Price of ${side} of ${model}`;
export const searchModels = "Search models";
export const andMore = (count: number) => `and ${count} more`;

// rules.tsx
export const rules = "Routing rules";
export const ruleOf = (name: string) => name.replace("routing.", "");

// chains.tsx
export const chainOf = (tier: string) => `Chain of ${tier}`;
export const effort = (effort: string) => `effort ${effort}`;
export const effortOf = (id: string, tier: string) => `Effort of ${id} in ${tier}`;
export const effortOfModel = "effort as usual";
export const moveUp = (id: string, tier: string) => `Move ${id} up in ${tier}`;
export const moveDown = (id: string, tier: string) => `Move ${id} down in ${tier}`;
export const removeFrom = (id: string, tier: string) => `Remove ${id} from ${tier}`;
export const addTo = (tier: string) => `Add a model to ${tier}`;
export const withTools = (tier: string) => `${tier} with tools`;
export const requestsWithTools = "Requests with tools";
export const separate = "Separate chain for tools";
export const separateFor = (tier: string) => `Separate chain for tools in ${tier}`;
export const oneChain = "One chain for all";
export const oneChainFor = (tier: string) => `One chain for all requests in ${tier}`;
export const emptyTier = (tier: string) => `Empty: ${tier} is used.`;
export const noneRoutable = "Empty: connect a provider first.";
export const addModel = "Add a model…";
export const notConfigured = "no provider";
export const unpublished = (tiers: string) => `Unpublished changes: ${tiers}`;
export const undo = "Undo";
export const publish = "Publish";
export const chainsPublished = "Published.";
