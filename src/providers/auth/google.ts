// Access tokens of Google Cloud: by the key of a service account, by workload identity federation, or from the metadata
// server of the machine.

import { readFile } from "node:fs/promises";
import type { Provider } from "../../core/model.ts";
import { GOOGLE_HOSTS, isOwnHost } from "./own-hosts.ts";
import { type CloudVariables, fetchJson, type JsonAnswer, tokenOf } from "./token-fetch.ts";
import type { Token } from "./tokens.ts";

const SCOPE = "https://www.googleapis.com/auth/cloud-platform";
const TOKENS = "https://oauth2.googleapis.com/token";
const JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const TOKEN_EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange";
const ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token";
const METADATA_HOST = "metadata.google.internal";

export async function fetchGoogleToken(
  { apiKey, signIn = {} }: Pick<Provider, "apiKey" | "signIn">,
  signal: AbortSignal,
  env: CloudVariables,
): Promise<Token> {
  const path = signIn.credentialsFile ?? env.GOOGLE_APPLICATION_CREDENTIALS;
  const text = apiKey !== null ? Buffer.from(apiKey, "base64").toString() : path ? await readFile(path, "utf8") : null;
  if (text === null) return tokenOf(await askMetadata(env, signal));
  const credentials = readCredentials(text);
  // An apiKey may come over /api, and federation reads files and calls any address.
  const isOwnFile = apiKey === null;
  if (credentials.type === "service_account") {
    if (!isOwnFile) requireGoogle(String(credentials.token_uri ?? TOKENS));
    return { ...tokenOf(await byServiceAccount(credentials, signal)), identity: String(credentials.client_email) };
  }
  if (credentials.type === "external_account") {
    if (!isOwnFile) throw new Error("credentials of type external_account need a file: signIn.credentialsFile");
    return byFederation(credentials, signal);
  }
  throw new Error(
    `credentials of type ${String(credentials.type)} cannot be used; take service_account or external_account`,
  );
}

function requireGoogle(address: string): void {
  if (!isOwnHost(address, GOOGLE_HOSTS)) throw new Error("the token_uri of the credentials is no address of Google");
}

function readCredentials(text: string): JsonAnswer {
  try {
    return JSON.parse(text) as JsonAnswer;
  } catch {
    throw new Error("the Google credentials are no JSON; an apiKey must be the file in base64");
  }
}

function askMetadata(env: CloudVariables, signal: AbortSignal): Promise<JsonAnswer> {
  const url = `http://${env.GCE_METADATA_HOST ?? METADATA_HOST}/computeMetadata/v1/instance/service-accounts/default/token`;
  return fetchJson(url, { headers: { "metadata-flavor": "Google" }, signal });
}

async function byServiceAccount(account: JsonAnswer, signal: AbortSignal): Promise<JsonAnswer> {
  const { importPKCS8, SignJWT } = await import("jose");
  const { client_email: email, private_key: key, private_key_id: keyId, token_uri: uri } = account;
  const url = String(uri ?? TOKENS);
  const assertion = await new SignJWT({ scope: SCOPE })
    .setProtectedHeader({ alg: "RS256", typ: "JWT", ...(keyId === undefined ? {} : { kid: String(keyId) }) })
    .setIssuer(String(email))
    .setAudience(url)
    .setIssuedAt()
    .setExpirationTime("1h")
    .sign(await importPKCS8(String(key), "RS256"));
  const body = new URLSearchParams({ grant_type: JWT_BEARER, assertion });
  return fetchJson(url, { method: "POST", body, signal });
}

/** The token of another identity becomes one of Google, and where asked for, one of a service account. */
async function byFederation(pool: JsonAnswer, signal: AbortSignal): Promise<Token> {
  const asked = {
    grant_type: TOKEN_EXCHANGE,
    requested_token_type: ACCESS_TOKEN,
    audience: String(pool.audience),
    scope: SCOPE,
    subject_token_type: String(pool.subject_token_type),
    subject_token: await subjectToken((pool.credential_source ?? {}) as JsonAnswer, signal),
  };
  const url = String(pool.token_url ?? "https://sts.googleapis.com/v1/token");
  const identity = String(pool.audience);
  const exchanged = tokenOf(await fetchJson(url, { method: "POST", body: new URLSearchParams(asked), signal }));
  const impersonation = pool.service_account_impersonation_url;
  if (impersonation === undefined) return { ...exchanged, identity };
  const headers = { authorization: `Bearer ${exchanged.text}`, "content-type": "application/json" };
  const body = JSON.stringify({ scope: [SCOPE] });
  const { accessToken, expireTime } = await fetchJson(String(impersonation), { method: "POST", headers, body, signal });
  if (typeof accessToken !== "string") throw new Error("the answer holds no token");
  const [, account = identity] = /serviceAccounts\/([^:/]+)/.exec(String(impersonation)) ?? [];
  return { text: accessToken, expiresAtMs: Date.parse(String(expireTime)), identity: account };
}

async function subjectToken(source: JsonAnswer, signal: AbortSignal): Promise<string> {
  const format = (source.format ?? {}) as JsonAnswer;
  const field = format.type === "json" ? String(format.subject_token_field_name) : null;
  if (typeof source.file === "string") {
    const text = (await readFile(source.file, "utf8")).trim();
    return field === null ? text : fieldOf(text, field);
  }
  if (typeof source.url !== "string") throw new Error("the credentials name neither a file nor an address of a token");
  const headers = (source.headers ?? {}) as Record<string, string>;
  const answer = await fetchJson(source.url, { headers, signal, isText: field === null });
  return String(answer[field ?? "text"]).trim();
}

/** The parser's own error would quote the file. */
function fieldOf(text: string, field: string): string {
  try {
    return String((JSON.parse(text) as JsonAnswer)[field]);
  } catch {
    throw new Error("the file with the token of the other identity is no JSON");
  }
}
