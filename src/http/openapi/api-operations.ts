// The operations of /api on what an account has: keys, profiles, credits, and the catalogue.

import { TRANSACTION_KINDS } from "../../core/ledger.ts";
import { account, api, idempotencyKey, idInPath, json, type Operation, page, paging } from "./operation.ts";

const beginning = {
  name: "from",
  in: "query",
  schema: { type: "string" },
  description: "The id of the entry to begin with.",
};

const bookingKind = { name: "kind", in: "query", schema: { type: "string", enum: TRANSACTION_KINDS } };

const bookingMonth = {
  name: "month",
  in: "query",
  schema: { type: "string", pattern: "^\\d{4}-(0[1-9]|1[0-2])$" },
  description: "One month (UTC), such as `2026-01`.",
};

const keysTo = {
  name: "keysTo",
  in: "query",
  schema: { type: "string" },
  description:
    "The profile that its keys have from then on, or `none`. Left out, they keep the deleted one and get 401.",
};

export const API_OPERATIONS: readonly Operation[] = [
  api("createAccount", "post", "/api/accounts", {
    summary: "Make an account",
    body: json("NewAccount"),
    status: "201",
    answer: json("Account"),
  }),
  api("listAccounts", "get", "/api/accounts", { summary: "The accounts", parameters: paging, answer: page("Account") }),
  api("createKey", "post", "/api/keys", {
    summary: "Make an API key; its text is shown this once",
    parameters: [account],
    body: json("NewKey", { name: "production" }),
    status: "201",
    answer: json("CreatedKey"),
  }),
  api("listKeys", "get", "/api/keys", {
    summary: "The keys of an account",
    parameters: [account, ...paging],
    answer: page("Key"),
  }),
  api("changeKey", "patch", "/api/keys/{id}", {
    summary: "Change a key's name, profile or limits; what is left out stays, null takes a limit away",
    parameters: [idInPath, account],
    body: json("KeyChange", { profile: null, requestsPerMinute: 120 }),
    answer: json("Key"),
    errors: ["409"],
  }),
  api("revokeKey", "delete", "/api/keys/{id}", {
    summary: "Revoke a key",
    parameters: [idInPath, account],
    status: "204",
    answer: null,
  }),
  api("rotateKey", "post", "/api/keys/{id}/rotate", {
    summary: "Make a key in the place of another, which expires after the grace",
    parameters: [idInPath, account],
    body: json("Rotation", { graceHours: 24 }),
    status: "201",
    answer: json("CreatedKey"),
    errors: ["409"],
  }),
  api("resetSpend", "post", "/api/keys/{id}/reset-spend", {
    summary: "Count what a key has spent of its limit from nothing again, before the period is over",
    parameters: [idInPath, account],
    answer: json("Key"),
    errors: ["409"],
  }),
  api("createProfile", "post", "/api/profiles", {
    summary: "Save a routing profile",
    parameters: [account],
    body: json("NewProfile", { name: "cheap", tierCeiling: "LIGHT" }),
    status: "201",
    answer: json("Profile"),
  }),
  api("listProfiles", "get", "/api/profiles", {
    summary: "The profiles",
    parameters: [account, ...paging],
    answer: page("Profile"),
  }),
  api("getProfile", "get", "/api/profiles/{id}", {
    summary: "One profile",
    parameters: [idInPath, account],
    answer: json("Profile"),
  }),
  api("replaceProfile", "put", "/api/profiles/{id}", {
    summary: "Replace a profile",
    parameters: [idInPath, account],
    body: json("NewProfile"),
    answer: json("Profile"),
  }),
  api("listProfileKeys", "get", "/api/profiles/{id}/keys", {
    summary: "The keys that have this profile, and would be refused without it",
    parameters: [idInPath, account],
    answer: page("Key"),
  }),
  api("deleteProfile", "delete", "/api/profiles/{id}", {
    summary: "Delete a profile; its keys are refused from then on, unless they are moved in the same step",
    parameters: [idInPath, account, keysTo],
    status: "204",
    answer: null,
  }),
  api("getCredits", "get", "/api/credits", {
    summary: "What an account has, what of it is on hold, and what is available",
    parameters: [account],
    answer: json("Credits"),
  }),
  api("topUp", "post", "/api/credits/topups", {
    summary: "Add credits; the same Idempotency-Key twice adds them once",
    parameters: [account, idempotencyKey],
    body: json("Amount", { amountUsd: "25", note: "January" }),
    status: "201",
    answer: json("Transaction"),
    errors: ["422"],
  }),
  api("adjust", "post", "/api/credits/adjustments", {
    summary: "Correct a balance by a new entry, up or down to what is available",
    parameters: [account, idempotencyKey],
    body: json("Amount", { amountUsd: "-2.50", note: "booked twice" }),
    status: "201",
    answer: json("Transaction"),
    errors: ["422"],
  }),
  api("listLedger", "get", "/api/ledger", {
    summary: "What was booked, newest first",
    parameters: [account, ...paging, beginning, bookingKind, bookingMonth],
    answer: page("LedgerLine"),
    errors: ["400"],
  }),
  api("exportLedger", "get", "/api/ledger/export", {
    summary: "All of it, or all of one kind or month, as CSV; cells that a spreadsheet would run are defused",
    parameters: [
      account,
      bookingKind,
      bookingMonth,
      { name: "format", in: "query", schema: { type: "string", enum: ["csv"] } },
    ],
    answer: { "text/csv": { schema: { type: "string" } } },
    errors: ["400"],
  }),
  api("listLedgerMonths", "get", "/api/ledger/months", {
    summary: "What each month did to the balance, newest first; opening plus the three signed sums is closing",
    parameters: [account, ...paging],
    answer: page("LedgerMonth"),
    errors: ["400"],
  }),
  api("verifyLedger", "get", "/api/ledger/verify", {
    summary: "Compute every wallet and charge again and name what does not fit",
    answer: json("LedgerVerdict"),
  }),
  api("listCatalogModels", "get", "/api/models", {
    summary: "The whole catalogue with health",
    answer: page("CatalogModel"),
  }),
  api("listProviders", "get", "/api/providers", { summary: "Providers and their health", answer: page("Provider") }),
  api("testProvider", "post", "/api/providers/{id}/test", {
    summary: "Ask a provider for one tiny answer and say what is wrong; not charged, six a minute",
    parameters: [idInPath],
    body: json("ProviderTest", {}),
    answer: json("ProviderTested"),
    errors: ["429"],
  }),
];
