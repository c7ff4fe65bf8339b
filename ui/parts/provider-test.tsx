// Testing a provider with one tiny request: the button, and what came of it. Used by the models, the providers and the settings.

import { useState } from "preact/hooks";
import { call } from "../api.ts";
import { duration, usd, utc } from "../format.ts";
import { Button } from "../kit/button.tsx";
import { useTask } from "../kit/task.tsx";
import type { ProviderTested } from "../types.ts";
import * as TEXT from "./text.ts";

/** Button and outcome apart, because each page puts them in different places. */
export function useProviderTest(provider: string, model?: string) {
  const [outcome, setOutcome] = useState<ProviderTested | null>(null);
  const { error, problem, isBusy, run } = useTask();
  const test = (): Promise<void> => {
    const path = `/api/providers/${encodeURIComponent(provider)}/test`;
    // A test that is answered ends the alarm, so the page reads again.
    return run(call<ProviderTested>("POST", path, { body: { model } }), setOutcome);
  };
  return {
    button: (
      <Button
        kind="quiet"
        label={TEXT.testNamed(model ?? provider)}
        title={TEXT.testHint}
        isBusy={isBusy}
        onClick={test}
      >
        {isBusy ? TEXT.testing : TEXT.test}
      </Button>
    ),
    outcome: (
      <div aria-live="polite">{error !== null ? problem : outcome !== null && <TestOutcome outcome={outcome} />}</div>
    ),
  };
}

/** Shows the outcome of a test. Callers have it read out, since the button that asked is elsewhere. */
export function TestOutcome({ outcome }: { readonly outcome: ProviderTested }) {
  const { ok, model, models, durationMs, costUsd, problem, fix } = outcome;
  return (
    <>
      {ok ? (
        <p class="notice good">
          {model === null
            ? TEXT.listedIn(models?.length, duration(durationMs))
            : TEXT.answeredIn(model, duration(durationMs))}
          {costUsd !== null && TEXT.costsYou(usd(costUsd))}
        </p>
      ) : (
        <p class="notice bad">
          {problem} <b>{fix}</b>
        </p>
      )}
      <Found outcome={outcome} />
    </>
  );
}

/** Tells what a cloud says: whom it sees, and what that account may use. The reasons against a model are the cloud's own. */
function Found({ outcome: { signIn, region, enabled } }: { readonly outcome: ProviderTested }) {
  const missing = (enabled ?? []).filter(({ isEnabled }) => !isEnabled);
  const there = (enabled ?? []).filter(({ isEnabled }) => isEnabled);
  return (
    <>
      <SignInLine signIn={signIn} region={region} />
      {there.length > 0 && <p class="faint">{TEXT.enabledModels(there.map(({ model }) => model))}</p>}
      {missing.length > 0 && (
        <>
          <p class="faint">{TEXT.missingModels}</p>
          <ul class="faint">
            {missing.map(({ upstream, problem }) => (
              <li key={upstream} class="wrap">
                <code>{upstream}</code>: {problem ?? TEXT.notListed}
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}

/** The identity that a cloud sees, and how long its credentials last. */
export function SignInLine({
  signIn,
  region = null,
}: Pick<ProviderTested, "signIn"> & { readonly region?: string | null }) {
  const { identity = null, expiresAt = null, problem = null } = signIn ?? {};
  const line = TEXT.signedInAs({ identity, region, until: expiresAt === null ? null : utc(expiresAt) });
  return (
    <>
      {line !== "" && <p class="faint wrap">{line}</p>}
      {problem !== null && <p class="notice bad">{TEXT.cloudRefuses(problem)}</p>}
    </>
  );
}
