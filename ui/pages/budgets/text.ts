// Texts of the budgets page.

// index.tsx
export const budgets = "Budgets";
export const purpose = "Limits on what may be spent.";
export const setBudget = "Set budget";
export const noBudgets = "No budgets yet";
export const emptyHint =
  "Limit what the account, a team, a member, a key or an end user may spend in a day, week or month.";
export const edit = "Edit";
export const editNamed = (name: string) => `Edit ${name}`;
export const warnsOnly = "warns only";
export const setByOperator = "set by an admin";
export const eachOne = (scope: string) => `each ${scope}`;
export const eachValue = (scope: string, value: string) => `each value of ${scope} ${value}`;
export const noneYet = "Nothing spent in this period.";
export const wholeAccount = "all requests";
export const scopeOf = (scope: string, value: string) => `${scope} ${value}`;

// bar.tsx
export const spentOf = (spent: string, amount: string) => `${spent} of ${amount}`;
export const barLabel = (name: string, spent: string, amount: string) => `${name}: ${spent} of ${amount} spent`;
export const left = (amount: string) => `${amount} left`;
export const over = (amount: string) => `over by ${amount}`;
export const reserved = (amount: string) => `${amount} reserved`;
export const renews = (when: string) => `renews ${when}`;
export const forecast = (amount: string) => `Forecast: ${amount} at the end of the period.`;
export const spentBy = (when: string) => `At this rate, the budget runs out ${when}.`;
export const isSpent = "Budget spent. Requests fail with 402.";
export const isSpentSoftly = "Budget spent. Requests continue.";

// edit.tsx
export const editBudget = "Edit budget";
export const name = "Name";
export const appliesTo = "Applies to";
export const scopes: Readonly<Record<string, string>> = {
  account: "All requests of the account",
  team: "Team",
  member: "Member",
  key: "API key",
  tag: "Tag",
  endUser: "End user",
  model: "Model",
  tier: "Tier",
};
export const value = "Value";
export const valueHints: Readonly<Record<string, string>> = {
  tag: "team=search, or team for each of its values",
  endUser: "Leave empty for each end user",
  model: "Leave empty for each model",
};
export const eachOf: Readonly<Record<string, string>> = {
  team: "Each team",
  member: "Each member",
  key: "Each key",
  tier: "Each tier",
};
export const amountUsd = "Amount in USD";
export const per = "Period";
export const periods: Readonly<Record<string, string>> = {
  day: "Day",
  week: "Week, from Monday",
  month: "Month",
  "rolling-day": "Last 24 hours",
  "rolling-week": "Last 7 days",
  "rolling-month": "Last 30 days",
};
export const timeZone = "Time zone";
export const timeZoneHint = "Decides when a day begins";
export const whenSpent = "When spent";
export const refuse = "Refuse requests with 402";
export const warn = "Only warn";
export const requestsPerMinute = "Requests per minute";
export const tokensPerMinute = "Tokens per minute";
export const noLimit = "none";
export const save = "Save budget";
export const saved = (budget: string) => `Budget “${budget}” saved.`;
export const removed = (budget: string) => `Budget “${budget}” deleted.`;
