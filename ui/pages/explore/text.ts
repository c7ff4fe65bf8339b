// Texts of the explore page.

export const explore = "Explore";
export const purpose = "Break down any metric by one or two dimensions. The URL saves your chart.";
export const metric = "Metric";
export const by = "By";
export const andBy = "And by";
export const nothingElse = "Nothing else";
export const tagName = "Tag name";
export const tagNameOf = (label: string) => `${label}, tag name`;
export const csv = "CSV";
export const copyLink = "Copy link";
export const none = "(none)";
export const other = (number: number) => `Other (${number})`;
export const noData = "No requests in this range";
export const requests = "Requests";
export const timeIn = (zone: string) => `Time, ${zone}`;
export const title = (metric: string, dimensions: string) => `${metric} by ${dimensions.toLowerCase()}`;
export const trend = (range: string, zone: string, source: string) => `${range}, ${zone}. ${source}`;
export const fromTotals = "From hourly and daily totals.";
export const fromRequests = "From the request log, as far back as it is kept.";
export const METRICS: Readonly<Record<string, string>> = {
  requests: "Requests",
  errors: "Errors",
  cost: "Cost",
  saved: "Saved",
  inputTokens: "Input tokens",
  cachedTokens: "Cached tokens",
  outputTokens: "Output tokens",
  latencyP50: "Latency p50",
  latencyP95: "Latency p95",
  ttftP50: "TTFT p50",
  ttftP95: "TTFT p95",
};
export const DIMENSIONS: Readonly<Record<string, string>> = {
  time: "Time",
  model: "Model",
  provider: "Host",
  tier: "Tier",
  category: "Category",
  key: "Key",
  keyProfile: "Profile",
  team: "Team",
  member: "Member",
  profile: "Routing",
  status: "Status",
  user: "User",
  "tag:": "Tag",
  session: "Session",
  sessionState: "Session state",
};
