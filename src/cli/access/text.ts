// Texts of `switchyard teams` and `switchyard members`.

export const needsChange = (what: string, flags: readonly string[]) =>
  `${what} needs something to change, one or more of ${flags.map((flag) => `--${flag}`).join(", ")}.`;

// teams.ts
export const noTeam = (name: string, call: string) => `No team '${name}'. See: ${call}\n`;
export const noTeams = (call: string) => `No teams yet. Create one: ${call}\n`;
export const teamGone = "The team has been deleted.";
export const needsName = (name: string) => `teams create needs --name, such as --name ${name}.`;
export const needsTeam = (kind: string, call: string) => `teams ${kind} needs the name or id of a team. See: ${call}`;

// members.ts
export const needsEmail = (kind: string) => `members ${kind} needs an e-mail address, such as ada@example.com.`;
export const noMember = (email: string, call: string) =>
  `Nobody with the address '${email}' can sign in. Invited people can once they accept. See: ${call}\n`;
export const invited = (email: string, role: string, account: string) =>
  `Invited ${email} as ${role} of ${account}. The link works once, for seven days.\n`;
export const noMembers = (call: string) => `No members yet. Invite somebody: ${call}\n`;
export const removeQuestion = (email: string) => `Remove ${email}? Sign-ins end, and their keys are revoked.`;
export const isInvited = "invited";
export const memberGone = "The user has been deleted.";
