// Sign-in to providers: one row for each scheme. A key travels in fixed headers, which are written once. Other
// schemes sign each request, or send a token that they fetch and renew.

import type { Provider } from "../../core/model.ts";
import type { Auth, AuthHeaders, UnsignedRequest } from "./auth.ts";
import { openAws } from "./aws.ts";
import { AZURE_HOSTS, GOOGLE_HOSTS, requireOwnHost } from "./own-hosts.ts";
import { createTokens, type Token } from "./tokens.ts";

export type AuthRow =
  | { readonly form: "fixed"; headers(provider: Provider): AuthHeaders }
  | { readonly form: "signed"; sign(provider: Provider, request: UnsignedRequest): Promise<AuthHeaders> }
  /** Each provider's own way, which may depend on what is configured for it. */
  | { readonly form: "own"; open(provider: Provider): Auth }
  /** Sent as a bearer token. A call to fetch one is given up when the signal says so. */
  | { readonly form: "token"; fetchToken: FetchToken };

type FetchToken = (provider: Provider, signal: AbortSignal) => Promise<Token>;

export type AuthRows = Readonly<Record<string, AuthRow>>;

/** A provider that has no key, such as a model on this machine, gets no header. */
export const AUTHS: AuthRows = {
  bearer: {
    form: "fixed",
    headers: ({ apiKey }): AuthHeaders => (apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }),
  },
  azure: {
    form: "own",
    open: (provider) => (provider.signIn === undefined ? fixedHeader(provider) : openToken(provider, ENTRA)),
  },
  google: {
    form: "token",
    async fetchToken(provider, signal) {
      requireOwnHost(provider, GOOGLE_HOSTS);
      const { fetchGoogleToken } = await import("./google.ts");
      return fetchGoogleToken(provider, signal, process.env);
    },
  },
  aws: { form: "own", open: (provider) => openAws(provider) },
  header: { form: "fixed", headers: keyHeader },
};

function keyHeader({ apiKey, auth: { name = "" } }: Provider): AuthHeaders {
  return apiKey === null ? {} : { [name]: apiKey };
}

function fixedHeader(provider: Provider): Auth {
  return { form: "fixed", headers: keyHeader(provider) };
}

const ENTRA: FetchToken = async (provider, signal) => {
  requireOwnHost(provider, AZURE_HOSTS);
  const { fetchEntraToken } = await import("./entra.ts");
  return fetchEntraToken(provider, signal, process.env);
};

export function openAuth(provider: Provider, rows: AuthRows): Auth {
  const row = rows[provider.auth.scheme];
  if (row === undefined) throw new Error(`there is no auth scheme ${provider.auth.scheme}`);
  if (row.form === "fixed") return { form: "fixed", headers: row.headers(provider) };
  if (row.form === "own") return row.open(provider);
  if (row.form === "signed") {
    const headersFor = (request: UnsignedRequest) => row.sign(provider, request);
    return { form: "each", isRenewable: false, headersFor, secrets: () => [], state: () => null };
  }
  return openToken(provider, row.fetchToken);
}

function openToken(provider: Provider, fetchToken: FetchToken): Auth {
  const tokens = createTokens((signal) => fetchToken(provider, signal));
  return {
    form: "each",
    isRenewable: true,
    async headersFor(_request, refused) {
      const text = await tokens.current(refused?.authorization?.slice(BEARER.length) ?? null);
      return { authorization: `${BEARER}${text}` };
    },
    secrets: tokens.secrets,
    state: tokens.state,
  };
}

const BEARER = "Bearer ";
