// The operations on who may sign in: sessions, set-up, users, invitations; and the settings, which are for operators too.

import { api, idInPath, json, type Operation, page, paging } from "./operation.ts";

const EMAIL = "ada@example.com";
const PASSWORD = "correct horse battery staple";
const TOKEN = "x".repeat(43);

export const PEOPLE_OPERATIONS: readonly Operation[] = [
  everybody("getSession", "get", "/api/session", {
    summary: "Who is signed in, and whether the first operator is still to be made",
    answer: json("Session"),
  }),
  everybody("signIn", "post", "/api/session", {
    summary: "Sign in: sets the session cookie",
    body: json("Credentials", { email: EMAIL, password: PASSWORD }),
    status: "204",
    errors: ["401", "403", "429"],
  }),
  everybody("signOut", "delete", "/api/session", {
    summary: "Sign out: ends the session",
    status: "204",
    errors: ["403"],
  }),
  api("changePassword", "post", "/api/session/password", {
    summary: "Change one's own password; ends all other sessions of the user",
    body: json("PasswordChange", { current: PASSWORD, next: `${PASSWORD} 2` }),
    status: "204",
    errors: ["429"],
  }),
  everybody("setUp", "post", "/api/setup", {
    summary: "Make the first operator with the token of the set-up link, and sign in",
    body: json("SetUp", { token: TOKEN, email: EMAIL, password: PASSWORD }),
    status: "201",
    answer: json("Welcome"),
    errors: ["403", "409"],
  }),
  everybody("acceptInvitation", "post", "/api/invitations/accept", {
    summary: "Become a user with the token of an invitation, and sign in",
    body: json("Acceptance", { token: TOKEN, password: PASSWORD }),
    status: "201",
    answer: json("Welcome"),
    errors: ["403", "409"],
  }),
  everybody("resetPassword", "post", "/api/password-reset", {
    summary: "Choose a new password with the token of a reset link: ends every session of the user, and signs in",
    body: json("Acceptance", { token: TOKEN, password: PASSWORD }),
    status: "201",
    answer: json("Welcome"),
    errors: ["403"],
  }),
  api("invite", "post", "/api/invitations", {
    summary: "Make a link that lets one person in, good for seven days; it is shown this once, and ends an earlier one",
    body: json("NewInvitation", { email: EMAIL, role: "owner", accountId: "default" }),
    status: "201",
    answer: json("CreatedInvitation"),
    errors: ["409"],
  }),
  api("listInvitations", "get", "/api/invitations", {
    summary: "Invitations that nobody has accepted yet",
    parameters: paging,
    answer: page("Invitation"),
  }),
  api("withdrawInvitation", "delete", "/api/invitations/{id}", {
    summary: "Withdraw an invitation",
    parameters: [idInPath],
    status: "204",
  }),
  api("listUsers", "get", "/api/users", { summary: "Who may sign in", parameters: paging, answer: page("User") }),
  api("makeResetLink", "post", "/api/users/{id}/reset", {
    summary: "Make a link with which a user chooses a new password, good once and for a day; it is shown this once",
    parameters: [idInPath],
    status: "201",
    answer: json("ResetLink"),
  }),
  api("deleteUser", "delete", "/api/users/{id}", {
    summary: "Delete a user and end their sessions; the last operator stays",
    parameters: [idInPath],
    status: "204",
    errors: ["409"],
  }),
  api("getSettings", "get", "/api/settings", {
    summary: "What the process runs with and where each value came from, without secrets",
    answer: json("Settings"),
  }),
];

type Details = Parameters<typeof api>[3];

/** Open to those who are not signed in. */
function everybody(id: string, method: Operation["method"], path: string, details: Details): Operation {
  const errors = [...(details.body === undefined ? [] : ["400", "413", "415"]), ...(details.errors ?? []), "500"];
  return { ...api(id, method, path, details), security: null, errors: errors.sort() };
}
