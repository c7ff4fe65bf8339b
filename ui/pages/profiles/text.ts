// Texts of the profiles page.

// index.tsx
export const profiles = "Profiles";
export const purpose = "Reusable routing rules for your keys.";
export const createProfile = "Create profile";
export const emptyHint = "Tier limits, a cost cap and allowed models for the keys that use it.";
export const noProfiles = "No profiles yet";
export const edited = "· edited";
export const last30Days = "Last 30 days:";
export const spentAndSaved = (spent: string, saved: string) => `, ${spent} spent, ${saved} saved`;
export const ofTraffic = (share: string) => `${share} of traffic`;

// deletion.tsx
export const unused = "Not used by any active key.";
export const usedBy = (keys: string) => `${keys} this profile:`;
export const furtherKeys = (count: number) => `and ${count.toLocaleString("en-US")} more`;
export const lastUsed = (when: string) => `last used ${when}`;
export const cancel = "Cancel";
export const moveAndDelete = "Move keys and delete";
export const deleteProfile = "Delete profile";
export const moveKeysTo = "Move keys to";
export const dontMove = "Don't move (keys stop working)";
export const noProfile = "No profile";
export const dontMoveHint = "Keys whose profile is deleted fail with 401, so they can't overspend.";
export const moveHint = "Keys move before the profile is deleted. No request fails.";
export const keysMoved = (keys: string) => ` ${keys} moved.`;
export const profileDeleted = (name: string, moved: string) => `“${name}” deleted.${moved}`;
export const deleteTitle = (name: string) => `Delete “${name}”`;
export const profileRestored = (name: string) => `“${name}” restored with its keys.`;
export const keyUsesOne = "key uses";
export const keysUseMany = "keys use";

// editor.tsx
export const savedProfile = (name: string) => `“${name}” saved. Its keys follow within a second.`;
export const editorPurpose = "Applies to every request from its keys.";
export const allProfiles = "All profiles";
export const deleteIt = "Delete";
export const name = "Name";
export const description = "Description";
export const descriptionHint = "What is it for?";
export const unsavedChanges = "Unsaved changes";
export const undo = "Undo";
export const saveProfile = "Save profile";
export const requiredCapabilities = "Required capabilities";
export const modelRules = "Allowed and blocked models";
export const model = "Model";
export const allowOnly = "Allow only";
export const block = "Block";
export const allowOnlyModel = (model: string) => `Allow only ${model}`;
export const blockModel = (model: string) => `Block ${model}`;
export const namedModels = "Named models";
export const honourModel = "Use the model that a client names";
export const honourModelHint = "For apps with a model picker: “auto” is routed; any other model is used as chosen.";
export const selectedCount = (count: number) => `${count} selected`;

// profile-keys.tsx
export const keys = "Keys";
export const addKey = "Add key";
export const keyName = "Search by name";
export const add = "Add";
export const release = "Remove";
export const noKeyFound = "No other active key found.";
export const keyTied = (name: string) => `${name} now uses this profile.`;
export const keyReleased = (name: string) => `${name} no longer uses this profile.`;
