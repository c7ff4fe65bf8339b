// Sign-in to AWS: with a Bedrock API key as bearer, else each request is signed with credentials, which are renewed
// before they end. One renewal serves all who wait.

import type { Provider } from "../../core/model.ts";
import type { Auth, AuthHeaders, UnsignedRequest } from "./auth.ts";
import type { EndingCredentials } from "./aws-credentials.ts";
import { type AwsCredentials, signAws } from "./sigv4.ts";
import { FORM } from "./token-fetch.ts";
import { createTokens, type Token } from "./tokens.ts";

/** An access key in place of an API key: its id, its secret, and the token of a session. */
const ACCESS_KEY = /^((?:AKIA|ASIA)[A-Z0-9]{12,124}):([A-Za-z0-9/+=]{16,128})(?::([\x21-\x7e]+))?$/;

export function openAws(provider: Provider, env: Readonly<Record<string, string | undefined>> = process.env): Auth {
  const { apiKey, region = "", auth, signIn = {} } = provider;
  const written = ACCESS_KEY.exec(apiKey ?? "");
  if (apiKey !== null && written === null) {
    return { form: "fixed", headers: { authorization: `Bearer ${apiKey}` } };
  }
  const service = auth.name ?? "";
  const tokens = createTokens(async (signal) => {
    const found = written === null ? await find(signal) : asWritten(written);
    // The cache holds one text, so the credentials are one.
    return { text: JSON.stringify(found), ...endOf(found) };
  });
  const sign = (url: string, body: string, by: AwsCredentials): AuthHeaders => {
    const unsigned = { method: "POST", url, headers: FORM, body: Buffer.from(body) };
    return { ...FORM, ...signAws(unsigned, by, { region, service: "sts", nowMs: Date.now() }) };
  };
  const find = async (signal: AbortSignal): Promise<EndingCredentials> => {
    const { findCredentials } = await import("./aws-credentials.ts");
    const { profile, roleArn, externalId } = signIn;
    return findCredentials({ region, profile, roleArn, externalId, env, signal, sign });
  };
  const current = async (): Promise<AwsCredentials> => JSON.parse(await tokens.current(null)) as AwsCredentials;
  return {
    form: "each",
    // AWS answers 403 to credentials that have ended, and they are renewed before.
    isRenewable: false,
    async headersFor(request: UnsignedRequest) {
      return signAws(request, await current(), { region, service, nowMs: Date.now() });
    },
    state: tokens.state,
    async identify(signal) {
      const { askIdentity } = await import("./aws-credentials.ts");
      return askIdentity({ region, env, signal, sign }, await current());
    },
    secrets: () =>
      tokens.secrets().flatMap((text) => {
        const { secretAccessKey, sessionToken } = JSON.parse(text) as AwsCredentials;
        return [secretAccessKey, ...(sessionToken === undefined ? [] : [sessionToken])];
      }),
  };
}

function endOf({ expiresAtMs, identity, isFixed }: EndingCredentials): Omit<Token, "text"> {
  return { expiresAtMs, identity, isFixed };
}

function asWritten([, accessKeyId = "", secretAccessKey = "", sessionToken]: RegExpExecArray): EndingCredentials {
  const token = sessionToken === undefined ? {} : { sessionToken };
  return { accessKeyId, secretAccessKey, ...token, expiresAtMs: Number.POSITIVE_INFINITY };
}
