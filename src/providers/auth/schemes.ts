// Sign-in to providers: one row for each scheme. A key travels in fixed headers, which are written once. Other
// schemes sign each request, or send a token that they fetch and renew.

import type { Provider } from "../../core/model.ts";
import { createTokens, type Token } from "./tokens.ts";

export type AuthHeaders = Readonly<Record<string, string>>;

/** A request as it is about to be sent, without what the scheme adds. */
export interface UnsignedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | null;
}

export type AuthRow =
  | { readonly form: "fixed"; headers(provider: Provider): AuthHeaders }
  | { readonly form: "signed"; sign(provider: Provider, request: UnsignedRequest): Promise<AuthHeaders> }
  /** Sent as a bearer token. A call to fetch one is given up when the signal says so. */
  | { readonly form: "token"; fetchToken(provider: Provider, signal: AbortSignal): Promise<Token> };

export type AuthRows = Readonly<Record<string, AuthRow>>;

/** A provider that has no key, such as a model on this machine, gets no header. */
export const AUTHS: AuthRows = {
  bearer: {
    form: "fixed",
    headers: ({ apiKey }): AuthHeaders => (apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }),
  },
  header: {
    form: "fixed",
    headers: ({ apiKey, auth: { name = "" } }): AuthHeaders => (apiKey === null ? {} : { [name]: apiKey }),
  },
};

/** The sign-in to one provider. */
export type Auth =
  | { readonly form: "fixed"; readonly headers: AuthHeaders }
  | {
      readonly form: "each";
      /** True if a request that got 401 is worth a retry with other headers. */
      readonly isRenewable: boolean;
      /** `refused`: the headers that just got 401. */
      headersFor(request: UnsignedRequest, refused: AuthHeaders | null): Promise<AuthHeaders>;
      /** Secrets beside those of the configuration that must not appear in an error. */
      secrets(): readonly string[];
    };

export function openAuth(provider: Provider, rows: AuthRows): Auth {
  const row = rows[provider.auth.scheme];
  if (row === undefined) throw new Error(`there is no auth scheme ${provider.auth.scheme}`);
  if (row.form === "fixed") return { form: "fixed", headers: row.headers(provider) };
  if (row.form === "signed") {
    const headersFor = (request: UnsignedRequest) => row.sign(provider, request);
    return { form: "each", isRenewable: false, headersFor, secrets: () => [] };
  }
  const tokens = createTokens((signal) => row.fetchToken(provider, signal));
  return {
    form: "each",
    isRenewable: true,
    async headersFor(_request, refused) {
      const text = await tokens.current(refused?.authorization?.slice(BEARER.length) ?? null);
      return { authorization: `${BEARER}${text}` };
    },
    secrets: tokens.secrets,
  };
}

const BEARER = "Bearer ";
