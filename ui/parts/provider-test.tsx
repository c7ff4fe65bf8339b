// Testing a provider with one tiny request: the button, and what came of it. Used by the models and the settings.

import { useState } from "preact/hooks";
import { type ApiError, call } from "../api.ts";
import { duration } from "../format.ts";
import { Button } from "../kit/button.tsx";
import { Problem } from "../kit/states.tsx";
import type { ProviderTested } from "../types.ts";

/** Button and outcome apart, because each page puts them in different places. */
export function useProviderTest(provider: string, model?: string) {
  const [outcome, setOutcome] = useState<ProviderTested | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  const [isBusy, setBusy] = useState(false);
  const test = async (): Promise<void> => {
    setBusy(true);
    setError(null);
    const path = `/api/providers/${encodeURIComponent(provider)}/test`;
    const body = model === undefined ? {} : { model };
    // It asks and changes nothing, so nothing on the page is out of date after it.
    await call<ProviderTested>("POST", path, { body, isQuestion: true }).then(setOutcome, (problem: unknown) =>
      setError(problem as ApiError),
    );
    setBusy(false);
  };
  const label = model === undefined ? `Test ${provider}` : `Test ${model}`;
  return {
    button: (
      <Button
        kind="quiet"
        label={label}
        title="Sends one tiny request. Uses no credits; your provider may bill it."
        isBusy={isBusy}
        onClick={test}
      >
        {isBusy ? "Testing…" : "Test"}
      </Button>
    ),
    outcome: (
      <div aria-live="polite">
        {error !== null ? <Problem error={error} /> : outcome !== null && <Outcome outcome={outcome} />}
      </div>
    ),
  };
}

/** Read out when it arrives, since the button that asked is elsewhere. */
function Outcome({ outcome: { ok, model, durationMs, problem, fix } }: { readonly outcome: ProviderTested }) {
  if (ok) {
    return (
      <p class="notice good">
        {model} answered in {duration(durationMs)}.
      </p>
    );
  }
  return (
    <p class="notice bad">
      {problem} <b>{fix}</b>
    </p>
  );
}
