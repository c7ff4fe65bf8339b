// Texts of the providers page.

// index.tsx
export const providers = "Providers";
export const purpose = "Connect providers and order their models. Changes apply at once, without a restart.";
export const chains = "Chains";
export const history = "History";
export const adminsOnly = "Only admins can change providers.";

// list.tsx
export const noneConnected = "No provider connected";
export const noneConnectedHint = "The sandbox answers with simulated text. Connect a provider to reach real models.";
export const lockedBy = (place: string) => `Set by ${place}. Change it there.`;
export const replaceKey = "Replace key";
export const replaceKeyOf = (name: string) => `Replace key of ${name}`;
export const remove = "Remove";
export const removeNamed = (name: string) => `Remove ${name}`;
export const removeHint = "Its models are no longer used. Requests in progress finish. You can undo this in History.";
export const removed = (name: string) => `${name} removed.`;
export const cancel = "Cancel";
export const keyRefused = "Key refused";
export const coolingDown = "Cooling down";
export const healthy = "Healthy";
export const failing = "Failing";
export const unused = "No models";
export const notUsedToday = "not used in the last 24 hours";
export const usedToday = (spent: string, requests: string, median: string) =>
  `${spent} for ${requests} in 24 hours, p50 ${median}`;
export const setByWhen = (author: string, when: string) => `set by ${author} ${when}`;
export const connectAProvider = "Connect a provider";
export const otherServer = "Other server";
export const otherServerHint = "Any compatible address";
export const storedEncrypted = "Keys are stored encrypted and never shown again.";
export const documentation = "Documentation";

// chains.tsx
export const chainOf = (tier: string) => `Chain of ${tier}`;
export const moveUp = (id: string, tier: string) => `Move ${id} up in ${tier}`;
export const moveDown = (id: string, tier: string) => `Move ${id} down in ${tier}`;
export const removeFrom = (id: string, tier: string) => `Remove ${id} from ${tier}`;
export const addTo = (tier: string) => `Add a model to ${tier}`;
export const addModel = "Add a model…";
export const notConfigured = "no provider";
export const unpublished = (tiers: string) => `Unpublished changes: ${tiers}`;
export const undo = "Undo";
export const publish = "Publish";
export const chainsPublished = "Chains published.";

// history.tsx
export const noHistory = "No changes yet";
export const noHistoryHint = "Changes made here, by API or in the terminal are listed with their author.";
export const beforeAll = "Before the first change";
export const inUse = "In use";
export const rollBack = "Roll back";
export const rollBackTo = (number: number) => `Roll back to version ${number}`;
export const rolledBack = (number: number) => `Rolled back to version ${number}.`;
export const allChanges = (count: number) => `All ${count} changes`;
