// Takes secrets and control characters out of what a provider says of an error: some repeat the key they were sent, and
// that text goes to clients, the log and the store.

import type { Provider } from "../core/model.ts";

export type Redact = (text: string) => string;

const MASK = "•••";
/** Shorter ones would blot out ordinary words. */
const SECRET_LENGTH_MIN = 6;

/** Patterns of texts that look like a key. */
const KEY_LIKE = [
  /\b(?:sk|pk|rk|gsk|xai|key|api|token|pplx|r8|hf)[-_][A-Za-z0-9_-]{12,}/g,
  /\bAIza[A-Za-z0-9_-]{20,}/g,
  /\bBearer +[^\s"',;]{8,}/gi,
  /(?<=[?&](?:key|api_key|apikey|token|access_token)=)[^\s&"']+/gi,
  // Name and password in an address.
  /(?<=:\/\/)[^\s/@"']+(?=@)/g,
] as const;

/** For one provider: its own keys and headers are cut out first, and what it is called with at the time. */
export function createRedact(
  { apiKey, apiKeys = [], headers }: Pick<Provider, "apiKey" | "apiKeys" | "headers">,
  currentSecrets: () => readonly string[] = () => [],
): Redact {
  const values = [...(apiKey === null ? [] : [apiKey]), ...apiKeys.map(({ key }) => key), ...Object.values(headers)];
  const secrets = values.filter((value) => value.length >= SECRET_LENGTH_MIN).sort((a, b) => b.length - a.length);
  return (text) => {
    let clean = text;
    for (const secret of [...currentSecrets(), ...secrets]) clean = clean.replaceAll(secret, MASK);
    for (const pattern of KEY_LIKE) clean = clean.replace(pattern, MASK);
    return withoutControls(clean);
  };
}

/** For names that callers choose: what looks like a key and has a digit, so that `api-gateway-production` stays. */
export function maskKeys(text: string): string {
  let clean = text;
  for (const pattern of KEY_LIKE) clean = clean.replace(pattern, (found) => (/\d/.test(found) ? MASK : found));
  return clean;
}

/** A terminal that shows the log would obey them. */
export function withoutControls(text: string): string {
  return text.replace(/\p{Cc}+/gu, " ");
}
