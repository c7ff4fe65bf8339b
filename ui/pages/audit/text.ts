// Texts of the audit page.

export const audit = "Audit";
export const purpose = "Who changed what, when and from where.";
export const caption = "Audit log, newest first";
export const time = "Time";
export const who = "Who";
export const action = "Action";
export const object = "Object";
export const outcome = "Outcome";
export const address = "Address";
export const account = "Account";
export const requestId = "Request id";
export const hash = "Hash";
export const field = "Field";
export const before = "Before";
export const after = "After";
export const changes = "Changes";
export const differences = "Changed fields";
export const nothingMore = "The entry has no fields.";
export const noEntries = "No entries in this range";
export const emptyHint = "Choose a longer range, or fewer filters.";
export const searchWho = "Who";
export const searchAction = "Action";
export const searchObject = "Object or id";
export const exportNdjson = "Export NDJSON";
export const pages = "Audit pages";
export const newest = "Newest";
export const older = "Older";
export const notHere = "The entry is not on this page of the list.";
export const done = "done";
export const refused = "refused";
export const entryTitle = (action: string, object: string) => `${action}, ${object}`;
export const KINDS: Readonly<Record<string, string>> = {
  user: "user",
  token: "token",
  admin_token: "admin token",
  command_line: "command line",
  feed: "price feed",
  system: "gateway",
  anonymous: "not signed in",
};
