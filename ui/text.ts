// Texts of the frame around every page: navigation, banners, command palette and shortcuts.

// api.ts
export const unreachable = "Can't reach the gateway.";
export const returnedStatus = (status: number) => `The gateway returned ${status}.`;

// banners.tsx
export const outOfCredits = "You're out of credits. Requests fail with 402 until you add more.";
export const shortOfCredits = (needed: string, left: string) =>
  `A request needed ${needed}, but ${left} is left. Such requests fail with 402 until you add more.`;
export const addCredits = "Add credits";
export const askForCredits = "Ask your admin to add credits.";
export const refusesRequests = (provider: string, error: string | null) => `${provider} refuses requests (${error}).`;
export const isFailing = (provider: string, error: string | null) => `${provider} is failing (${error}).`;
export const testTheProvider = "Test the provider";
export const untrustedProxy = (address: string) =>
  `The proxy at ${address} is not trusted, so its clients share one set of limits. Add it to`;

// palette.tsx
export const goTo = "Go to";
export const paletteHint = "Page, key, model, action or request id";
export const results = "Results";
export const noResults = "No results.";
export const createKey = "Create key";
export const themeIs = (theme: string) => `Theme: ${theme}`;
export const createProfile = "Create profile";

// pages.tsx
export const pageNotLoaded = "This page didn't load";
export const reload = "Reload";

// range.ts
export const lastHour = "Last hour";
export const last24Hours = "Last 24 hours";
export const last7Days = "Last 7 days";
export const last30Days = "Last 30 days";
export const customRange = "Custom range";

// shell.tsx
export const skipToContent = "Skip to content";
export const pages = "Pages";
export const switchyard = "Switchyard";
export const more = "More";
export const documentation = "Documentation";
export const search = "Search or go to…";
export const readOnly = "Read-only";
export const readOnlyHint = "You can view everything. Changes are disabled.";
export const demo = "Demo";
export const demoHint = "Generated data. Providers are simulated, and nothing is charged.";
export const sandbox = "Sandbox";
export const sandboxHint = "Simulated answers. Connect a provider to get real ones.";
export const balance = "Balance";
export const switchTheme = (theme: string) => `Switch theme (now: ${theme})`;
export const meteredHint = "Metered: spending is recorded, and requests never fail for lack of credits.";
export const runwayHint = (days: string) => `, about ${days} at the last 7 days' rate`;
export const account = "Account";
export const signedInAs = (email: string) => `Signed in as ${email}`;
export const settings = "Settings";
export const signOut = "Sign out";
export const paletteKeys = "⌘K or Ctrl+K";
export const copyKeys = "c or ⌘C";
export const openPalette = "Go to a page, key, model or request";
export const focusFilters = "Focus filters";
export const nextOrPreviousRow = "Next · previous row";
export const enterEsc = "Enter · Esc";
export const openOrCloseRow = "Open · close a row";
export const copyRequestId = "Copy the open request's id";
export const createHere = "Create a key or profile, add credits";
export const showShortcuts = "Show shortcuts";
export const keyboardShortcuts = "Keyboard shortcuts";
export const metered = "Metered";
export const chordKeys = (keys: string) => `g then ${keys}`;

export const discardTitle = "Discard changes?";
export const discardHint = "Your changes are not saved.";
export const keepEditing = "Keep editing";
export const discard = "Discard";

// usage.ts
export const otherGroup = "Other";

export const notAllowed = "Your role does not open this page. Ask an admin of your organisation.";
