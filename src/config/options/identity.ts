// Options of one identity provider by environment variables. Several are written in the file, under `identityProviders`.

import { GIVEN_ROLES, type GivenRole } from "../../core/people.ts";
import { domainName, issuerUrl, listOf, oneOf, text } from "../readers.ts";
import { option } from "./option.ts";

/** Section `identity` of the settings: the entry `oidc` of `identityProviders`, of which these outweigh the keys. */
export const IDENTITY_OPTIONS = {
  oidcIssuer: option<string | null>({
    env: "SWITCHYARD_OIDC_ISSUER",
    default: null,
    shownDefault: "none: people sign in with a password",
    read: issuerUrl,
    help: "The issuer of an OpenID Connect identity provider, such as https://acme.okta.com. It is the entry oidc of identityProviders.",
  }),
  oidcName: option<string | null>({
    env: "SWITCHYARD_OIDC_NAME",
    default: null,
    shownDefault: "single sign-on",
    read: text(),
    help: "Its name on the button of the sign-in page.",
  }),
  oidcClientId: option<string | null>({
    env: "SWITCHYARD_OIDC_CLIENT_ID",
    default: null,
    shownDefault: "none: people cannot sign in with it",
    read: text(),
    help: "The client that is registered there for the dashboard.",
  }),
  oidcClientSecret: option<string | null>({
    env: "SWITCHYARD_OIDC_CLIENT_SECRET",
    default: null,
    shownDefault: "none, for a public client",
    isSecret: true,
    read: text(),
    help: "The secret of that client.",
  }),
  oidcDeviceClientId: option<string | null>({
    env: "SWITCHYARD_OIDC_DEVICE_CLIENT_ID",
    default: null,
    shownDefault: "none: the command login cannot be used",
    read: text(),
    help: "A public client there that may use the device flow, for the command login.",
  }),
  oidcDomains: option<readonly string[] | null>({
    env: "SWITCHYARD_OIDC_DOMAINS",
    default: null,
    shownDefault: "all",
    read: listOf(domainName),
    help: "Domains of e-mail addresses that may sign in, comma-separated.",
  }),
  oidcDefaultRole: option<GivenRole | null>({
    env: "SWITCHYARD_OIDC_DEFAULT_ROLE",
    default: null,
    shownDefault: "none: only people who have an account may sign in",
    read: oneOf(GIVEN_ROLES),
    help: "The role of people whom no group gives one: operator, admin, billing, member or viewer.",
  }),
  oidcOperatorGroups: option<readonly string[] | null>({
    env: "SWITCHYARD_OIDC_OPERATOR_GROUPS",
    default: null,
    shownDefault: "none",
    read: listOf(text()),
    help: "Values of the claim groups that make somebody an operator, comma-separated. Scopes are set in the file alone.",
  }),
  oidcAudiences: option<readonly string[] | null>({
    env: "SWITCHYARD_OIDC_AUDIENCES",
    default: null,
    shownDefault: "none: API keys only",
    read: listOf(text()),
    help: "Audiences of the identity provider's tokens that programs may bring instead of an API key, comma-separated.",
  }),
  oidcAccount: option<string | null>({
    env: "SWITCHYARD_OIDC_ACCOUNT",
    default: null,
    shownDefault: "default for people, none for programs",
    read: text({ test: (value) => /^[\w.-]{1,200}$/.test(value), expected: "the id of an account" }),
    help: "The account of people and programs that no rule gives one.",
  }),
};
