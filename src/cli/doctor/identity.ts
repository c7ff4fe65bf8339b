// Checks of identity providers: each is discovered as a sign-in would do it.

import { createIssuer } from "../../accounts/identity/issuer.ts";
import type { Check } from "../../config/doctor.ts";
import type { Settings } from "../../config/settings.ts";
import type { IdentityProvider } from "../../core/people.ts";
import * as TEXT from "../command/text.ts";
import { reasonOf } from "../command/usage.ts";

/** One line for each identity provider, and one where its callback would follow the address of each request. */
export async function identityChecks({
  identityProviders,
  server,
}: Pick<Settings, "identityProviders" | "server">): Promise<readonly Check[]> {
  const checks = await Promise.all(identityProviders.map(checkOf));
  const people = identityProviders.filter(({ clientId }) => clientId !== null);
  if (people.length === 0) return checks;
  const callbacks = people
    .map(({ id }) => `${server.publicUrl ?? "http://HOST"}/api/sign-in/${id}/callback`)
    .join(", ");
  if (server.publicUrl !== null) return [...checks, { state: "ok", what: TEXT.callbacks(callbacks), fix: null }];
  return [...checks, { state: "warn", what: TEXT.callbackUnknown(callbacks), fix: TEXT.setPublicUrl }];
}

async function checkOf(provider: IdentityProvider): Promise<Check> {
  const { name, issuer, clientId, deviceClientId } = provider;
  try {
    const metadata = (await createIssuer(provider).configuration()).serverMetadata();
    const missing = [
      ...(metadata.jwks_uri === undefined ? ["jwks_uri"] : []),
      ...(clientId !== null && metadata.authorization_endpoint === undefined ? ["authorization_endpoint"] : []),
      ...(deviceClientId !== null && metadata.device_authorization_endpoint === undefined
        ? ["device_authorization_endpoint"]
        : []),
    ];
    if (missing.length === 0) return { state: "ok", what: TEXT.issuerFine(name, issuer), fix: null };
    return { state: "fail", what: TEXT.issuerLacks(name, missing.join(", ")), fix: TEXT.checkIssuer };
  } catch (error) {
    const reason = reasonOf((error as Error).cause ?? error);
    return { state: "fail", what: TEXT.issuerUnreachable(name, issuer, reason), fix: TEXT.checkIssuer };
  }
}
