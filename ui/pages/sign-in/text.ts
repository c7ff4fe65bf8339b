// Texts of sign-in, set-up and invitations.

// index.tsx
export const signIn = "Sign in";
export const continueWith = (name: string) => `Continue with ${name}`;
export const signInWithPasskey = "Sign in with a passkey";
export const setUpUsed = "This set-up link has already been used. Sign in with your account.";
export const forgotYourPassword = "Forgot your password?";
export const forgotHint = "Ask your admin for a reset link (Settings, Users). If you are the only admin, run";
export const forgotHintEnd = "on the server.";
export const setUpThisGateway = "Set up this gateway";
export const setUpHint = "Open the one-time link that the gateway printed when it started. It ends in";
export const setUpHintEnd = "and lets you create the admin account.";
export const setUpLost = "Lost the link? Restart the gateway to print a new one.";
export const createAdmin = "Create your admin account";
export const createAccount = "Create account";
export const worksOnce = "This link works once.";
export const joinSwitchyard = "Join Switchyard";
export const joinTeam = "Join team";
export const invitation = "Invitation";
export const joinAccount = (account: string) => `Join ${account} on Switchyard`;
export const invitedBy = (email: string) => `${email} invited you.`;
export const joinHint = (email: string) => `Choose a password for ${email}.`;
export const chooseANewPassword = "Choose a new password";
export const saveAndSignIn = "Save and sign in";
export const resetHint = "This link works once. You'll be signed out everywhere else.";
export const email = "E-mail";
export const password = "Password";
export const passwordHint = (characters: number) => `At least ${characters} characters.`;
export const passwordTooShort = (characters: number) => `Use at least ${characters} characters.`;
export const switchyard = "Switchyard";
export const resetCommand = "users reset E-MAIL";
export const documentTitle = (title: string) => `${title} · Switchyard`;
