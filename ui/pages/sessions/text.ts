// Texts of the sessions page.

export const sessions = "Sessions";
export const purpose = "Conversations with their models, cost and switches.";
export const tableCaption = "Sessions, newest activity first";
export const last = "Last activity";
export const turns = "Turns";
export const models = "Models";
export const hosts = "Hosts";
export const user = "User";
export const cost = "Cost";
export const saved = "Saved";
export const cache = "Cache hits";
export const switches = "Switches";
export const noSessions = "No sessions in this range";
export const emptyHint = "Requests of one conversation appear here as one row.";
export const anyState = "All sessions";
export const STATES = [
  ["switched", "Switched model"],
  ["escalated", "Escalated"],
] as const;
export const state = "session state";
export const pages = "Session pages";
export const newest = "Newest";
export const older = "Older";
export const sessionTitle = (id: string) => `Session ${id}`;
export const about = (turns: string, cost: string, cached: string) =>
  `${turns} · ${cost} · ${cached} tokens from cache`;
export const timeline = "Turns, oldest first";
export const FIELDS = { model: "Model", provider: "Host", tier: "Tier" } as const;
export const changed = (field: string, before: string, after: string) => `${field}: ${before} → ${after}`;
export const cached = (tokens: string) => `${tokens} cached`;
export const allRequests = "Requests of this session";
export const unnamed =
  "Known by its first messages: requests that begin alike are turns of one session, unless service_session names it.";
export const newestTurns = (shown: number) => `The newest ${shown} turns are shown.`;
export const STATE_NAMES: Readonly<Record<string, string>> = {
  started: "Started",
  stayed: "Stayed",
  switched: "Switched",
  escalated: "Escalated",
};
