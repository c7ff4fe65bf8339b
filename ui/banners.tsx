// The strips under the top bar, on every page: what makes requests fail now, and the way to fix it.

import { useLoad } from "./api.ts";
import { usd } from "./format.ts";
import { Connection } from "./kit/connection.tsx";
import { amountsIn } from "./parts/failure-text.ts";
import { alarmOf } from "./parts/provider-state.ts";
import { hrefTo } from "./router.ts";
import { isOperator, session } from "./session.ts";
import * as TEXT from "./text.ts";
import type { List, Provider, RequestDetail, RequestLine } from "./types.ts";

/** A refused key stays refused until somebody acts. */
const PROVIDERS_EVERY_MS = 15_000;

/** A balance changes with every request, and refusals come as often. */
const REFUSED_EVERY_MS = 15_000;

interface BannersProps {
  /** Credits that new requests can use; null where they are not limited or not known yet. */
  readonly availableUsd: number | null;
}

/** Shows the strips that apply now, one below the other. */
export function Banners({ availableUsd }: BannersProps) {
  const isBroke = availableUsd !== null && availableUsd <= 0;
  const neededUsd = useNeeded(availableUsd !== null && !isBroke);
  const isShort = !isBroke && neededUsd > (availableUsd ?? 0);
  // Only operators may read the health of providers, and only they can replace a key.
  const providers = useLoad<List<Provider>>(isOperator() ? "/api/providers" : null, { everyMs: PROVIDERS_EVERY_MS });
  const failing = (providers.data?.data ?? []).flatMap((provider) => {
    const alarm = alarmOf(provider);
    return alarm === null ? [] : [{ id: provider.id, ...alarm }];
  });
  // A new account never had credits. Adding some is a step of its checklist, not an alarm.
  const booked = useLoad<List<unknown>>(isBroke ? "/api/ledger?limit=1" : null).data?.data ?? [];
  return (
    <div class="banners">
      <Connection />
      {isBroke && booked.length > 0 && (
        <p role="alert">
          {TEXT.outOfCredits} <AddCredits />
        </p>
      )}
      {isShort && (
        <p role="alert">
          {TEXT.shortOfCredits(usd(neededUsd), usd(availableUsd))} <AddCredits />
        </p>
      )}
      {failing.map(({ id, isOfKey, error }) => (
        <p key={id} role="alert">
          {isOfKey ? TEXT.refusesRequests(id, error) : TEXT.isFailing(id, error)}{" "}
          <a href={hrefTo("/providers")}>{TEXT.testTheProvider}</a>
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

function AddCredits() {
  return isOperator() ? (
    <a href={hrefTo("/credits", { new: "1" })}>{TEXT.addCredits}</a>
  ) : (
    <span>{TEXT.askForCredits}</span>
  );
}

/** The credits that the newest refused request of a day needed; 0 where none was refused for lack of them. */
function useNeeded(isAsked: boolean): number {
  const path = isAsked ? "/api/requests?status=402&from=-24h&limit=1" : null;
  const refused = useLoad<List<RequestLine>>(path, { everyMs: REFUSED_EVERY_MS }).data?.data[0];
  const detail = useLoad<RequestDetail>(refused === undefined ? null : `/api/requests/${refused.id}`).data;
  return Number(amountsIn(detail?.errorMessage ?? null)?.needed ?? 0);
}
