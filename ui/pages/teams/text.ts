// Texts of the teams page.

// index.tsx
export const teams = "Teams";
export const purpose = "Groups of keys and people, and what they may use and spend.";
export const createTeam = "Create team";
export const noTeams = "No teams yet";
export const emptyHint = "A team gives its keys a default profile, allowed models, a highest tier and a budget.";
export const edit = "Edit";
export const editNamed = (name: string) => `Edit ${name}`;
export const spentThisMonth = (amount: string) => `${amount} this month`;
export const profileNamed = (name: string) => `profile ${name}`;
export const upTo = (tier: string) => `up to ${tier}`;
export const noBounds = "no limits";

// edit.tsx
export const editTitle = (name: string) => `Edit ${name}`;
export const name = "Name";
export const partOf = "Part of";
export const noTeam = "No other team";
export const hasParts = "This team contains teams, so it can't be inside another one.";
export const profile = "Default profile";
export const profileHint = "For keys without a profile of their own.";
export const noProfile = "None";
export const ceiling = "Highest tier";
export const anyTier = "Any tier";
export const models = "Allowed models";
export const modelsHint = "One per line. Leave empty to allow all.";
export const save = "Save team";
export const saved = (name: string) => `Team “${name}” saved.`;
export const removed = (name: string) => `Team “${name}” deleted.`;
