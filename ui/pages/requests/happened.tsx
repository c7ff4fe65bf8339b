// The explanation of a failed request: the reason in words, the amounts, the next step, and every attempt.

import { Facts } from "../../kit/table.tsx";
import { amountsIn, requestFailure } from "../../parts/failure-text.ts";
import { hrefTo } from "../../router.ts";
import { isOperator } from "../../session.ts";
import type { RequestDetail } from "../../types.ts";
import { Attempts } from "./tabs.tsx";
import * as TEXT from "./text.ts";

export function Happened({ detail }: { readonly detail: RequestDetail }) {
  const amounts = amountsIn(detail.errorMessage);
  const [step, href] = nextStep(detail);
  return (
    <section class="happened notice bad" aria-labelledby="happened">
      <h3 id="happened">{TEXT.whatHappened}</h3>
      <p class="failure">{detail.errorMessage ?? requestFailure(detail)}</p>
      {detail.operatorMessage !== null && <p>{detail.operatorMessage}</p>}
      {amounts !== null && (
        <Facts
          facts={[
            [TEXT.needed, `$${amounts.needed}`],
            [TEXT.available, `$${amounts.available}`],
          ]}
        />
      )}
      <p>
        <b>{TEXT.nextStep}</b> {href === null ? step : <a href={href}>{step}</a>}
      </p>
      {detail.attempts.length === 0 ? <p>{TEXT.noProviderCalled}.</p> : <Attempts detail={detail} />}
    </section>
  );
}

/** Returns the next step after a failure, and the page to take it on where there is one. */
function nextStep({ errorCode, status, attempts, key, ending }: RequestDetail): readonly [string, string | null] {
  if (errorCode === "insufficient_credits") return [TEXT.addCredits, hrefTo("/credits")];
  if (errorCode === "model_not_found") return [TEXT.useListedModel, hrefTo("/models")];
  if (errorCode === "no_capable_model" && attempts.length === 0)
    return isOperator() ? [TEXT.enableCapability, hrefTo("/providers")] : [TEXT.askForModel, null];
  if (errorCode === "credits_on_hold") return [TEXT.retryLater, null];
  if (errorCode === "spend_limit_reached") return [TEXT.raiseLimit, hrefTo(`/keys/${key}`)];
  if (status === 429 && attempts.length === 0) return [TEXT.raiseRate, hrefTo(`/keys/${key}`)];
  if (status === 499 || ending === "client-gone") return [TEXT.checkTimeout, null];
  if (attempts.some(({ outcome }) => outcome === "failed")) return [TEXT.testProviders, hrefTo("/providers")];
  return status < 500 && status >= 400 ? [TEXT.fixRequest, null] : [TEXT.retryRequest, null];
}
