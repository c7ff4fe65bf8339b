// Texts of the settings page.

// index.tsx
export const settings = "Settings";
export const PURPOSES: Readonly<Record<string, string>> = {
  you: "How the dashboard looks, and how you sign in.",
  users: "Who may sign in, and the accounts they work in.",
  configuration: "The options that the gateway runs with.",
  gateway: "Version, store and uptime of this gateway.",
};
export const openAPI = "OpenAPI";
export const appearance = "Appearance";
export const theme = "Theme";
export const system = "System";
export const light = "Light";
export const dark = "Dark";
export const yourAccount = "Your account";
export const signOut = "Sign out";
export const adminsOnly = "Only admins can see configuration.";
export const passwordChanged = "Password changed. Other sessions are signed out.";
export const changePassword = "Change password";
export const currentPassword = "Current password";
export const newPassword = "New password";
export const passwordHint = "At least 12 characters.";
export const baselineModel = "Baseline model";
export const aboutThisGateway = "About this gateway";
export const downloadDiagnostics = "Download diagnostics";
export const diagnosticsHint = "This page as JSON for bug reports. Contains no secrets.";
export const configuration = "Configuration";
export const general = "General";
export const users = "Users";
export const gateway = "Gateway";
export const searchOptions = "Search options";
export const atStart = "Set at the start";
/** By the first word of an option's path. */
export const SECTIONS: Readonly<Record<string, string>> = {
  routing: "Routing",
  billing: "Billing",
  limits: "Limits",
  logging: "Request log",
  errors: "Errors",
  responses: "Stored responses",
  prices: "Price checks",
  alerts: "Alerts",
};
export const usual = "Default";
export const usualIs = (value: string) => `Default: ${value}.`;
export const changedHere = "Changed here";
export const history = "History of settings";
export const lockedBy = (place: string) => `Locked: set in ${place}`;
export const defaults = "Other options of the start";
export const noOption = "No matching options";
export const option = "Option";
export const value = "Value";
export const source = "Source";
export const notSet = "Not set";
export const version = "Version";
export const node = "Node";
export const store = "Store";
export const started = "Started";
export const markup = "Markup";
export const isSet = "Set";

// access.tsx
export const usersAndAccounts = "Users and accounts";
export const allAccounts = "All accounts";
export const resetLink = "Reset link";
export const resetLinkFor = (email: string) => `Reset link for ${email}`;
export const remove = "Remove";
export const invitedAs = (role: string | undefined) => `Invited as ${role}`;
export const expires = (when: string) => `expires ${when}`;
export const withdraw = "Withdraw";
export const withdrawFor = (email: string) => `Withdraw invitation for ${email}`;
export const invitationWithdrawn = "Invitation withdrawn.";
export const accountCreated = (name: string) => `“${name}” created.`;
export const switchToIt = "Switch to it";
export const createAccount = "Create account";
export const name = "Name";
export const accountHint = "Each account has its own keys, credits and profiles.";
export const ROLES = {
  operator: "Operator",
  admin: "Admin",
  billing: "Billing",
  member: "Member",
  viewer: "Viewer",
};
/** The roles of the invitation, from the least. */
export const ROLE_HINTS = {
  member: "Member (own keys and requests)",
  viewer: "Viewer (reads one account)",
  billing: "Billing (credits and totals)",
  admin: "Admin (one account)",
  operator: "Operator (all accounts)",
};
export const inviteUser = "Invite user";
export const email = "E-mail";
export const role = "Role";
export const teams = "Teams";
export const account = "Account";
export const resetInstead = "Create reset link instead";
export const createInviteLink = "Create invite link";
export const invitationHint = "Send this link. It works once and won't be shown again.";
export const invitationLink = "Invitation link";
export const newPasswordFor = (email: string) => `New password for ${email}`;
export const resetHint = (when: string) =>
  `Send them this link. It works once, expires ${when} and won't be shown again. It signs them out elsewhere.`;
export const done = "Done";
export const removeUser = (email: string) => `Remove ${email}`;
export const userRemoved = (email: string) => `${email} removed.`;

// identities.tsx
export const identities = "Single sign-on";
export const identity = (email: string, subject: string, when: string) => `${email} (${subject}), last used ${when}`;
export const unlink = "Remove";
export const link = (name: string) => `Link ${name}`;

// passkeys.tsx
export const passkeys = "Passkeys";
export const passkeyUsed = (host: string, when: string) => `for ${host}, used ${when}`;
export const removePasskey = (name: string) => `Remove passkey ${name}`;
export const addPasskey = "Add passkey";
