// Texts of the keys page.

// index.tsx
export const keys = "Keys";
export const purpose = "API keys for your apps, with optional profile, limits and expiry.";
export const search = "Search keys";
export const statusNames: Readonly<Record<string, string>> = {
  active: "Active",
  expired: "Expired",
  revoked: "Revoked",
  all: "Any status",
};
export const anyProfile = "Any profile";
export const clear = "Clear";
export const noMatch = "No keys match";
export const pages = "Pages of keys";
export const firstPage = "First page";
export const nextPage = "Next page";
export const chooseAll = "Select all on this page";
export const choose = (name: string) => `Select ${name}`;
export const revokeMany = (keys: string) => `Revoke ${keys}`;
export const createKey = "Create key";
export const emptyHint = "You'll see each key once, when you create it.";
export const noKeys = "No API keys yet";
export const name = "Name";
export const key = "Key";
export const team = "Team";
export const noTeam = "No team";
export const firstTeam = "Your first team";
export const anyTeam = "Any team";
export const member = "Belongs to";
export const aService = "A service";
export const anyMember = "Anybody";
export const profile = "Profile";
export const status = "Status";
export const lastUsed = "Last used";
export const requestsOfMonth = "Requests, 30 days";
export const spendOfMonth = "Spend, 30 days";
export const actions = "Actions";
export const edit = "Edit";
export const revoke = "Revoke";
export const none = "none";
export const deletedProfile = "Deleted profile";
export const deletedProfileHint = "Requests with this key fail with 401 until you change its profile.";
export const editKey = (name: string) => `Edit ${name}`;
export const revokeNamed = (name: string) => `Revoke ${name}`;
export const expiresWhen = (when: string) => `expires ${when}`;
export const createdWhen = (when: string) => `created ${when}`;

// detail.tsx
export const allKeys = "All keys";
export const usage = "Usage";
export const requests = "Requests";
export const spend = "Spend";
export const usageOf = "Show by day";
export const usageSummary = (requests: string, errors: string, spend: string, saved: string) =>
  `Last 30 days: ${requests}, ${errors}, ${spend} spent, ${saved} saved`;
export const dayUtc = "Day (UTC)";
export const explore = "Explore";
export const recentRequests = "Recent requests";
export const viewAll = "View all";
export const noRequests = "No requests yet";
export const limits = "Profile and limits";
export const dangerZone = "Danger zone";

// create.tsx
export const onlyHash = "We only store a hash.";
export const shownOnce = "You won't see this key again.";
export const theKey = "The key";
export const downloadEnv = "Download .env";
export const tryIt = "Try it";
export const exampleCall = "Example call";
export const notCopied = "You haven't copied the key, and it can't be shown again. Close anyway?";
export const goBack = "Go back";
export const closeWithoutCopying = "Close without copying";
export const done = "Done";
export const keyTitle = (name: string) => `Key “${name}”`;

// edit.tsx
export const savedKey = (name: string) => `“${name}” saved. Applies from the next request.`;
export const cancel = "Cancel";
export const save = "Save";
export const unchanged = (when: string) => `Unchanged (${when})`;
export const editTitle = (name: string) => `Edit “${name}”`;

// fields.tsx
export const never = "Never";
export const in30Days = "In 30 days";
export const in90Days = "In 90 days";
export const in1Year = "In 1 year";
export const onADate = "On a date…";
export const daily = "Daily";
export const weeklyMonday = "Weekly (Monday)";
export const monthly1st = "Monthly (1st)";
export const exampleName = "checkout service";
export const expires = "Expires";
export const lastDay = "Last day";
export const lastDayHint = "Works until the end of that day, UTC.";
export const requestsPerMinute = "Requests per minute";
export const defaultLimit = (perMinute: number | null) =>
  perMinute === null ? "Default" : `Default (${perMinute}/min)`;
export const spendLimitUsd = "Spend limit, USD";
export const resets = "Resets";
export const resetsHint = "At 00:00 UTC. Requests over the limit fail with 402.";
export const noProfile = "No profile";

// retire.tsx
export const now = "Now";
export const in1Hour = "In 1 hour";
export const in1Day = "In 1 day";
export const in1Week = "In 1 week";
export const newKeyFor = (name: string) => `New key for “${name}”`;
export const rotationHint = "A new key with the same profile and limits. The old one works until it expires.";
export const oldKeyExpires = "Old key expires";
export const rotateKey = "Rotate key";
export const revocationHint = (when: string, requests: string) =>
  `Last used ${when}, ${requests} in the last 24 hours. Apps using it will get 401 immediately. You can't undo this.`;
export const typeToConfirm = (name: string) => `Type “${name}” to confirm`;
export const revokeKey = "Revoke key";
export const bulkHint = "Apps using these keys will get 401 immediately. You can't undo this.";
export const revokedMany = (keys: string) => `${keys} revoked.`;
export const rotateTitle = (name: string) => `Rotate “${name}”`;
export const revoked = (name: string) => `“${name}” revoked.`;
export const revokeTitle = (name: string) => `Revoke “${name}”`;

// spend.tsx
export const spentOf = (spent: string, limit: string, resets: string) => `Spent ${spent} of ${limit}${resets}`;
export const spendWasReset = (name: string) => `Spend of “${name}” reset to zero.`;
export const resetSpend = "Reset spend";
export const resetsWhen = (when: string) => `, resets ${when}`;
export const spentSince = (when: string) => `, since ${when}`;
