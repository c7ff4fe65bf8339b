// Texts of the Outcomes page.

export const outcomes = "Outcomes";
export const purpose = "Whether the cheaper answers are good enough, measured on your own traffic.";
export const noSamples = "No samples yet";
export const howToBegin =
  "Send a share of a profile's requests to a second model and compare. Clients don't wait for it.";
export const profile = "Profile";
export const createProfile = "Create profile";
export const caption = "Agreement, cost and latency by category and tier";
export const COLUMNS = [
  "Samples",
  "Judged",
  "Agreement",
  "Cost, yours",
  "Cost, second",
  "Median, yours",
  "Median, second",
];
export const category = "Category";
export const tier = "Tier";
export const STATES: Readonly<Record<string, string>> = { holds_up: "Holds up", worse: "Worse", too_few: "Too few" };
export const verdict = "Verdict";
export const bounds = (low: string, high: string) => `(${low} to ${high})`;
export const none = "–";
export const differing = "Newest that differ";
export const sampling = (name: string, model: string, share: string, spent: string, budget: string) =>
  `Profile “${name}”: ${share} of requests also go to ${model}. ${spent} of ${budget} spent today (UTC).`;
export const period = "Period";
export const DAYS = { "7": "7 days", "30": "30 days", "90": "90 days" };
export const bar = "Must agree";
export const BARS = { "0.8": "80%", "0.9": "90%", "0.95": "95%" };
