// The overview before the first answer: steps that tick themselves.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { type ApiError, call, useLoad } from "../../api.ts";
import { percent, usd } from "../../format.ts";
import { Button } from "../../kit/button.tsx";
import { helloBody, Snippets } from "../../kit/snippets.tsx";
import { Problem } from "../../kit/states.tsx";
import { requestFailure } from "../../parts/failure-text.ts";
import { hrefTo } from "../../router.ts";
import { isOperator, session } from "../../session.ts";
import type { Credits, Key, List, RequestDetail, RequestLine } from "../../types.ts";
import { KeyCreation } from "../keys/create.tsx";

/** A key may also be created elsewhere, such as with the command line. */
const KEYS_EVERY_MS = 10_000;

/** The latest request, and the way to the overview. */
interface ChecklistProps {
  readonly latest: RequestLine | null;
  readonly onDone: () => void;
}

/** A key that is created here is filled into the programs below, since it is shown only once. */
export function Checklist({ latest, onDone }: ChecklistProps) {
  const keys = useLoad<List<Key>>("/api/keys?limit=50", { everyMs: KEYS_EVERY_MS });
  const [isCreating, setCreating] = useState(false);
  const [keyText, setKeyText] = useState<string | null>(null);
  const usable = (keys.data?.data ?? []).find(({ status }) => status === "active");
  return (
    <section class="card checklist" aria-label="Get started">
      <h2>Get started</h2>
      <ol>
        <ProviderStep />
        <CreditStep />
        <Step title="Create a key" isDone={usable !== undefined}>
          {usable === undefined
            ? "API keys identify your apps. "
            : `“${usable.name}” (${usable.prefix}…) is ready. Lost it? Create another. `}
          <Button kind={usable === undefined ? "primary" : "plain"} onClick={() => setCreating(true)}>
            Create key
          </Button>
        </Step>
        <Step title="Send a request" isDone={latest !== null && !latest.error}>
          <LatestRequest latest={latest} onDone={onDone} />
          <TestRequest />
          {keyText === null && (
            <p>
              From your app: set your key with <code>export SWITCHYARD_KEY=sk-service-…</code>, then run:
            </p>
          )}
          <Snippets label="First request" call={{ key: keyText, body: helloBody() }} />
        </Step>
      </ol>
      {isCreating && <KeyCreation onClose={() => setCreating(false)} onCreated={({ key }) => setKeyText(key)} />}
    </section>
  );
}

/** Only an admin can reach the server to set a variable. */
function ProviderStep() {
  const isSandbox = session.value?.sandbox === true;
  const how = isOperator()
    ? "Set OPENAI_API_KEY, ANTHROPIC_API_KEY or another provider's key and restart the gateway to get real ones."
    : "Ask your admin to connect a provider.";
  return (
    <Step title="Connect a provider" isDone={!isSandbox}>
      {isSandbox ? `You're on the sandbox: responses are simulated. ${how} ` : "Providers are configured. "}
      <a href={hrefTo("/models")}>View models</a>
    </Step>
  );
}

/** Credits limit spending. A metered account is never refused for lack of them. */
function CreditStep() {
  const credits = useLoad<Credits>("/api/credits").data;
  const isMetered = credits?.billingMode === "metered";
  const hasCredits = Number(credits?.availableUsd ?? 0) > 0;
  return (
    <Step title="Credits" isDone={isMetered || hasCredits}>
      {isMetered
        ? "Billing is metered: spending is recorded, and requests never fail for lack of credits. "
        : hasCredits
          ? `${usd(credits?.availableUsd)} available. Credits are a spending cap: no card is charged. `
          : "You have no credits, so requests fail with 402. "}
      {isOperator() ? (
        <a href={hrefTo("/credits", hasCredits || isMetered ? {} : { new: "1" })}>
          {hasCredits || isMetered ? "View credits" : "Add credits"}
        </a>
      ) : (
        !hasCredits && !isMetered && "Ask your admin to add credits."
      )}
    </Step>
  );
}

/** One step. Screen readers hear whether it is done. */
interface StepProps {
  readonly title: string;
  readonly isDone: boolean;
  readonly children: ComponentChildren;
}

/** A tick, a title and what to do. */
function Step({ title, isDone, children }: StepProps) {
  return (
    <li class={isDone ? "done" : ""}>
      <span class="tick" aria-hidden="true">
        {isDone ? "✓" : ""}
      </span>
      <div>
        <h3>
          {title} <span class="hidden">{isDone ? "(done)" : "(to do)"}</span>
        </h3>
        <div>{children}</div>
      </div>
    </li>
  );
}

/** Waiting, answered or failed. */
function LatestRequest({ latest, onDone }: ChecklistProps) {
  if (latest === null) {
    return (
      <p class="pulse" role="status">
        Waiting for the first request…
      </p>
    );
  }
  return latest.error ? <FailedRequest latest={latest} onDone={onDone} /> : <Received first={latest} onDone={onDone} />;
}

/** The reason is in the record of the request, not in its line of the log. */
function FailedRequest({ latest, onDone }: { readonly latest: RequestLine; readonly onDone: () => void }) {
  const detail = useLoad<RequestDetail>(`/api/requests/${latest.id}`).data;
  return (
    <p class="notice bad row" role="status">
      <span class="grow">
        Your last request failed: {detail === null ? `status ${latest.status}` : requestFailure(detail)}.{" "}
        <a href={hrefTo(`/requests/${latest.id}`)}>View request</a>
      </span>
      <Button onClick={onDone}>Go to overview</Button>
    </p>
  );
}

/** The first answer: where it came from, what it cost, and the way to its reasons. */
function Received({ first, onDone }: { readonly first: RequestLine; readonly onDone: () => void }) {
  const saved = Number(first.savedUsd) / (Number(first.baselineUsd) || 1);
  return (
    <p class="notice good row" role="status">
      <span class="grow">
        Received: {first.tier ?? "–"} → {first.model ?? `status ${first.status}`}, {usd(first.chargeUsd)}
        {first.savedUsd !== null && `, ${percent(saved)} below the baseline`}.{" "}
        <a href={hrefTo(`/requests/${first.id}`)}>See why</a>
      </span>
      <Button onClick={onDone}>Go to overview</Button>
    </p>
  );
}

/** Sent as the playground does, so it needs no key. It is charged like any request. */
function TestRequest() {
  const [error, setError] = useState<ApiError | null>(null);
  const [isBusy, setBusy] = useState(false);
  const send = async (): Promise<void> => {
    setBusy(true);
    setError(null);
    const body = { prompt: "What is the capital of France?" };
    await call("POST", "/api/playground/run", { body }).catch((problem: unknown) => setError(problem as ApiError));
    setBusy(false);
  };
  return (
    <>
      <Button kind="primary" isBusy={isBusy} onClick={send}>
        {isBusy ? "Sending…" : "Send a test request"}
      </Button>
      <Problem error={error} />
    </>
  );
}
