// The strips under the top bar, on every page: what makes requests fail now, and the way to fix it.

import { useLoad } from "./api.ts";
import { Connection } from "./kit/connection.tsx";
import { hrefTo } from "./router.ts";
import { isOperator, session } from "./session.ts";
import * as TEXT from "./text.ts";
import type { List, Provider } from "./types.ts";

/** A refused key stays refused until somebody acts. */
const PROVIDERS_EVERY_MS = 15_000;

/** Shows the strips that apply now, one below the other. */
export function Banners({ isBroke }: { readonly isBroke: boolean }) {
  // Only operators may read the health of providers, and only they can replace a key.
  const providers = useLoad<List<Provider>>(isOperator() ? "/api/providers" : null, { everyMs: PROVIDERS_EVERY_MS });
  const refusing = (providers.data?.data ?? []).filter(({ credential }) => (credential?.consecutiveFailures ?? 0) > 0);
  // A new account never had credits. Adding some is a step of its checklist, not an alarm.
  const booked = useLoad<List<unknown>>(isBroke ? "/api/ledger?limit=1" : null).data?.data ?? [];
  return (
    <div class="banners">
      <Connection />
      {isBroke && booked.length > 0 && (
        <p role="alert">
          {TEXT.outOfCredits}{" "}
          {isOperator() ? <a href={hrefTo("/credits", { new: "1" })}>{TEXT.addCredits}</a> : TEXT.askForCredits}
        </p>
      )}
      {refusing.map(({ id, credential }) => (
        <p key={id} role="alert">
          {TEXT.refusesRequests(id, credential?.lastError)} <a href={hrefTo("/providers")}>{TEXT.testTheProvider}</a>
        </p>
      ))}
      {session.value?.untrustedProxy != null && (
        <p role="status">
          {TEXT.untrustedProxy(session.value.untrustedProxy)} <code>server.trustedProxies</code>.
        </p>
      )}
    </div>
  );
}
