// The strips under the top bar, on every page: what makes requests fail now, and the way to fix it.

import { useLoad } from "./api.ts";
import { hrefTo } from "./router.ts";
import { isOperator, session } from "./session.ts";
import type { List, Provider } from "./types.ts";

/** A refused key stays refused until somebody acts. */
const PROVIDERS_EVERY_MS = 15_000;

/** Those that apply, one below the other. */
export function Banners({ isBroke }: { readonly isBroke: boolean }) {
  // Only operators may read the health of providers, and only they can replace a key.
  const providers = useLoad<List<Provider>>(isOperator() ? "/api/providers" : null, { everyMs: PROVIDERS_EVERY_MS });
  const refusing = (providers.data?.data ?? []).filter(({ credential }) => (credential?.consecutiveFailures ?? 0) > 0);
  return (
    <div class="banners">
      {isBroke && (
        <p role="alert">
          You're out of credits. Requests fail with 402 until you add more.{" "}
          {isOperator() ? <a href={hrefTo("/credits", { new: "1" })}>Add credits</a> : "Ask your admin to add credits."}
        </p>
      )}
      {refusing.map(({ id, credential }) => (
        <p key={id} role="alert">
          {id} refuses its API key ({credential?.lastError}). Replace the key and restart the gateway.{" "}
          <a href={hrefTo("/settings")}>Test the provider</a>
        </p>
      ))}
      {session.value?.untrustedProxy != null && (
        <p role="status">
          The proxy at {session.value.untrustedProxy} is not trusted, so all its clients share one address and one set
          of limits. Add it to <code>server.trustedProxies</code>.
        </p>
      )}
    </div>
  );
}
