// Texts of the members page.

// index.tsx
export const members = "Members";
export const purpose = "People of this account, with their roles, teams and spend.";
export const allMembers = (team: string) => `In ${team}: show all`;
export const invite = "Invite user";
export const noMembers = "Nobody here yet";
export const invited = "Invited";
export const member = "Member";
export const role = "Role";
export const teams = "Teams";
export const deactivated = "Deactivated";
export const lastSignIn = "Last sign-in";
export const keys = "Keys";
export const showKeys = "Show keys";
export const thisMonth = "This month";
export const actions = "Actions";
export const edit = "Edit";
export const editNamed = (email: string) => `Edit ${email}`;
export const reset = "Reset link";
export const resetNamed = (email: string) => `Reset link for ${email}`;

// edit.tsx
export const save = "Save";
export const saved = (email: string) => `${email} saved.`;
export const removalHint = "Deleting a member ends their sessions and revokes their keys.";
export const removed = (email: string) => `${email} deleted.`;
