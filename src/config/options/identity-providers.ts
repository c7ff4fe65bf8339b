// The section `identityProviders`: one entry for each issuer. Environment variables make or outweigh the entry `oidc`.

import { type ClaimRule, GIVEN_ROLES, givenRole, type IdentityProvider } from "../../core/people.ts";
import { type Located, nodeAt } from "../located.ts";
import { domainName, hidden, issuerUrl, listOf, number, oneOf, reject, shape, text, truth } from "../readers.ts";
import type { Report } from "../report.ts";
import type { OptionValues } from "./table.ts";

/** The entry that environment variables describe. */
const FROM_VARIABLES = "oidc";

/** Asymmetric ones alone: with a symmetric one, anyone who reads the client's secret can sign a token. */
const ALGORITHMS = [
  ...["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519"],
] as const;
const DEFAULT_ALGORITHMS = ["RS256", "PS256", "ES256", "EdDSA"];
const DEFAULT_SCOPES = ["openid", "email", "profile"];

const ID = /^[a-z0-9][a-z0-9-]{0,31}$/;
const id = text({ test: (value) => /^[\w.-]{1,200}$/.test(value), expected: "an id of letters, digits, . _ and -" });

const rule = shape(
  {
    claim: text(),
    value: text(),
    role: oneOf(GIVEN_ROLES),
    account: id,
    team: text(),
    profile: id,
    requestsPerMinute: number({ min: 1, max: 1_000_000, isWhole: true }),
  },
  ["claim", "value"],
);

const ENTRY = shape({
  name: text(),
  issuer: issuerUrl,
  clientId: text(),
  clientSecret: hidden(text()),
  deviceClientId: text(),
  scopes: listOf(text({ test: (value) => /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(value), expected: "a scope" })),
  domains: listOf(domainName),
  trustEmail: truth,
  defaultRole: oneOf(GIVEN_ROLES),
  account: id,
  rules: listOf(rule),
  audiences: listOf(text()),
  algorithms: listOf(oneOf(ALGORITHMS)),
});

type Entry = NonNullable<ReturnType<typeof ENTRY>>;

export function readIdentityProviders(
  file: Located | null,
  { identity }: Pick<OptionValues, "identity">,
  report: Report,
): readonly IdentityProvider[] {
  const entries = new Map<string, ReadEntry>();
  const section = nodeAt(file, "identityProviders");
  if (section?.kind === "mapping") {
    for (const [id, { keyPlace, node }] of section.entries) {
      if (!ID.test(id)) {
        const message = `an identity provider's id is made of a-z, 0-9 and -, got "${id}"`;
        report.problems.push({ place: keyPlace, message, suggestion: null });
      }
      const isIssuerWritten = nodeAt(node, "issuer") !== null;
      entries.set(id, { place: keyPlace, entry: ENTRY(node, report) ?? {}, isIssuerWritten });
    }
  } else if (section !== null) reject(section, report, "a mapping of identity providers by id");
  const given = fromVariables(identity);
  if (Object.keys(given).length > 0) {
    const written = entries.get(FROM_VARIABLES);
    const place = written?.place ?? "environment SWITCHYARD_OIDC_ISSUER";
    const rules = [...(given.rules ?? []), ...(written?.entry.rules ?? [])];
    const isIssuerWritten = written?.isIssuerWritten ?? false;
    entries.set(FROM_VARIABLES, { place, entry: { ...written?.entry, ...given, rules }, isIssuerWritten });
  }
  return [...entries].flatMap(([id, read]) => settled(id, read, report) ?? []);
}

/** Keys of the entry that variables give. */
function fromVariables(values: OptionValues["identity"]): Entry {
  const { oidcIssuer, oidcName, oidcClientId, oidcClientSecret, oidcDomains, oidcDefaultRole } = values;
  const { oidcDeviceClientId, oidcOperatorGroups, oidcAudiences, oidcAccount } = values;
  return {
    ...(oidcIssuer !== null && { issuer: oidcIssuer }),
    ...(oidcName !== null && { name: oidcName }),
    ...(oidcClientId !== null && { clientId: oidcClientId }),
    ...(oidcClientSecret !== null && { clientSecret: oidcClientSecret }),
    ...(oidcDeviceClientId !== null && { deviceClientId: oidcDeviceClientId }),
    ...(oidcDomains !== null && { domains: oidcDomains }),
    ...(oidcDefaultRole !== null && { defaultRole: oidcDefaultRole }),
    ...(oidcAudiences !== null && { audiences: oidcAudiences }),
    ...(oidcAccount !== null && { account: oidcAccount }),
    ...(oidcOperatorGroups !== null && {
      rules: oidcOperatorGroups.map((value) => ({ claim: "groups", value, role: "operator" as const })),
    }),
  };
}

interface ReadEntry {
  readonly place: string;
  readonly entry: Entry;
  /** An issuer that cannot be used was reported already. */
  readonly isIssuerWritten: boolean;
}

/** Issuers with which everybody in the world can get an account, and so a token. */
const PUBLIC_ISSUERS = /^https:\/\/(accounts\.google\.com|token\.actions\.githubusercontent\.com|gitlab\.com)(\/|$)/;

function settled(id: string, { place, entry, isIssuerWritten }: ReadEntry, report: Report): IdentityProvider | null {
  const complain = (message: string) => report.problems.push({ place, message, suggestion: null });
  const { issuer, clientId = null, audiences = [], domains = [], rules = [], defaultRole = null } = entry;
  if (issuer === undefined) {
    if (!isIssuerWritten) complain("an identity provider needs an issuer");
    return null;
  }
  if (clientId === null && audiences.length === 0) {
    complain("write a clientId so that people can sign in, or audiences so that programs can bring tokens");
  }
  const isPublic = PUBLIC_ISSUERS.test(issuer);
  if (isPublic && clientId !== null && domains.length === 0) {
    complain(`everybody can have an account at ${new URL(issuer).host}, so list the domains that may sign in`);
  }
  if (isPublic && audiences.length > 0 && entry.account !== undefined) {
    complain(`everybody can get a token of ${new URL(issuer).host}, so name accounts in rules alone`);
  }
  return {
    ...{ id, issuer, clientId, audiences, domains },
    defaultRole: defaultRole === null ? null : givenRole(defaultRole),
    name: entry.name ?? (id === FROM_VARIABLES ? "single sign-on" : id),
    clientSecret: entry.clientSecret ?? null,
    deviceClientId: entry.deviceClientId ?? null,
    scopes: entry.scopes ?? DEFAULT_SCOPES,
    trustsEmail: entry.trustEmail ?? false,
    account: entry.account ?? null,
    rules: rules.map(({ role, ...rule }) => ({
      ...rule,
      ...(role === undefined ? {} : { role: givenRole(role) }),
    })) as readonly ClaimRule[],
    algorithms: entry.algorithms ?? DEFAULT_ALGORITHMS,
  };
}
