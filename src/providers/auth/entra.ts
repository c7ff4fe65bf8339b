// Tokens of Microsoft Entra: by a client's secret, by workload identity, or by the managed identity of the machine.

import { readFile } from "node:fs/promises";
import type { Provider } from "../../core/model.ts";
import { type CloudVariables, fetchJson, type JsonAnswer, tokenOf } from "./token-fetch.ts";
import type { Token } from "./tokens.ts";

const USUAL_RESOURCE = "https://cognitiveservices.azure.com";
const AUTHORITY = "https://login.microsoftonline.com";
const MACHINE = "http://169.254.169.254/metadata/identity/oauth2/token";
const ASSERTION = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

export async function fetchEntraToken(
  { apiKey, signIn = {}, auth }: Pick<Provider, "apiKey" | "signIn" | "auth">,
  signal: AbortSignal,
  env: CloudVariables,
): Promise<Token> {
  const tenant = signIn.tenantId ?? env.AZURE_TENANT_ID;
  const client = signIn.clientId ?? env.AZURE_CLIENT_ID;
  const file = env.AZURE_FEDERATED_TOKEN_FILE;
  const { resource = USUAL_RESOURCE } = auth;
  const scope = `${resource}/.default`;
  if (tenant && client && apiKey !== null)
    return byClient({ tenant, client, scope, client_secret: apiKey }, env, signal);
  if (tenant && client && file) {
    const assertion = (await readFile(file, "utf8")).trim();
    const proof = { client_assertion_type: ASSERTION, client_assertion: assertion };
    return byClient({ tenant, client, scope, ...proof }, env, signal);
  }
  return tokenOf(await askMachine({ clientId: signIn.clientId, resource }, env, signal));
}

async function byClient(
  {
    tenant,
    client,
    ...proof
  }: Readonly<Record<"tenant" | "client" | "scope", string>> & Readonly<Record<string, string>>,
  env: CloudVariables,
  signal: AbortSignal,
): Promise<Token> {
  const url = new URL(`/${encodeURIComponent(tenant)}/oauth2/v2.0/token`, env.AZURE_AUTHORITY_HOST ?? AUTHORITY);
  const asked = { grant_type: "client_credentials", client_id: client, ...proof };
  const token = tokenOf(await fetchJson(url.href, { method: "POST", body: new URLSearchParams(asked), signal }));
  return { ...token, identity: `${client} of ${tenant}` };
}

/** App Service and its kin name an address of their own; virtual machines have the metadata service. */
function askMachine(
  { clientId, resource }: { readonly clientId: string | undefined; readonly resource: string },
  env: CloudVariables,
  signal: AbortSignal,
): Promise<JsonAnswer> {
  const { IDENTITY_ENDPOINT: endpoint, IDENTITY_HEADER: secret } = env;
  const isService = Boolean(endpoint && secret);
  const url = new URL(isService ? (endpoint as string) : MACHINE);
  url.searchParams.set("api-version", isService ? "2019-08-01" : "2018-02-01");
  url.searchParams.set("resource", resource);
  if (clientId !== undefined) url.searchParams.set("client_id", clientId);
  const headers: Record<string, string> = isService ? { "x-identity-header": secret as string } : { metadata: "true" };
  return fetchJson(url.href, { headers, signal });
}
