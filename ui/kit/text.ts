// Texts of the building blocks.

// connection.tsx
export const reconnecting = "Can't reach the gateway. Reconnecting…";
export const someFailed = (reason: string) => `Some data couldn't be loaded: ${reason}`;

// copy.tsx
export const pressToCopy = "Press Ctrl+C to copy";
export const copy = "Copy";
export const copied = "Copied";

// dialog.tsx
export const close = "Close";
export const discardQuestion = "Discard your changes?";
export const keepEditing = "Keep editing";
export const discard = "Discard";

// page.tsx
export const timeRange = "Time range";
export const customRange = "Custom range";
export const from = "From";
export const to = "To";
export const timesInUtc = "Times in UTC.";
export const choosePastFrom = "Choose a day on or after “From”.";
export const apply = "Apply";
export const documentTitle = (title: string) => `${title} · Switchyard`;

// sheet.tsx
export const closeWithKey = "Close (Escape)";

// snippets.tsx
export const examplePrompt = "What is the capital of France?";

// states.tsx
export const lastUpdated = (time: string) => `Last updated ${time} UTC.`;
export const loading = "Loading…";
export const noAccess = "You don't have access";
export const notLoaded = "Couldn't load this";
export const requestId = "Request id";
export const retry = "Retry";
export const requestNamed = (id: string) => `· request ${id}`;

// tier-ends.ts
export const highestWins = (lowest: string | undefined, highest: string | undefined) =>
  `${lowest} is above ${highest}: the highest tier wins.`;
export const anyTier = "Any tier";
export const onlyTier = (tier: string | undefined) => `${tier} only`;
export const andBelow = (tier: string | undefined) => `${tier} and below`;
export const andAbove = (tier: string | undefined) => `${tier} and above`;
export const tierToTier = (from: string | undefined, to: string | undefined) => `${from} to ${to}`;

// tier-range.tsx
export const tiersAllowed = "Tiers allowed";
export const moveNearerHandle = (tier: string) => `Move the nearer handle to ${tier}`;
export const lowestTier = "Lowest tier";
export const highestTier = "Highest tier";
export const noLimitAt = (tier: string | undefined) => `${tier}, no limit`;

// tier.tsx
export const tierLabel = (tier: string, classified: string) => `Tier ${tier}${classified}`;
export const classifiedAs = (tier: string) => `, classified as ${tier}`;

// task.tsx
export const deleteIt = "Delete";
export const deleteForGood = "Delete for good";
