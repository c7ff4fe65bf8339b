// How a provider is signed in to: the headers its key travels in, by the scheme of the provider's kind.

import type { Provider } from "../core/model.ts";

/** Nothing for a provider that has no key, such as a model on this machine. */
export function credentials({ apiKey, auth }: Pick<Provider, "apiKey" | "auth">): Readonly<Record<string, string>> {
  if (apiKey === null) return {};
  return auth.scheme === "bearer" ? { authorization: `Bearer ${apiKey}` } : { [auth.name]: apiKey };
}
