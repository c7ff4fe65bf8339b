// The overview before the first request: three steps that tick themselves.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { useLoad } from "../../api.ts";
import { percent, usd } from "../../format.ts";
import { Button } from "../../kit/button.tsx";
import { helloBody, Snippets } from "../../kit/snippets.tsx";
import { hrefTo } from "../../router.ts";
import { session } from "../../session.ts";
import type { Key, List, RequestLine } from "../../types.ts";
import { KeyCreation } from "../keys/create.tsx";

/** A key may also be created elsewhere, such as with the command line. */
const KEYS_EVERY_MS = 10_000;

/** A key that is created here is filled into the programs below, since it is shown only once. */
export function Checklist({ first, onDone }: { readonly first: RequestLine | null; readonly onDone: () => void }) {
  const keys = useLoad<List<Key>>("/api/keys?limit=50", { everyMs: KEYS_EVERY_MS });
  const [isCreating, setCreating] = useState(false);
  const [keyText, setKeyText] = useState<string | null>(null);
  const isSandbox = session.value?.sandbox === true;
  const usable = (keys.data?.data ?? []).filter(({ status }) => status === "active");
  return (
    <section class="card checklist" aria-label="Set-up">
      <h2>Three steps to the first answer</h2>
      <ol>
        <Step title="Connect a provider" isDone>
          {isSandbox
            ? "The built-in sandbox answers for now, so everything works without an account. For real answers set OPENAI_API_KEY, ANTHROPIC_API_KEY or another provider's key and start the gateway again."
            : "Providers are configured."}{" "}
          <a href={hrefTo("/models")}>See the models</a>
        </Step>
        <Step title="Create a key" isDone={usable.length > 0}>
          {usable.length > 0
            ? `There is one: ${usable[0]?.name} (${usable[0]?.prefix}…). Its text was shown when it was made; lost it? `
            : "Callers name themselves with a key. "}
          <Button kind={usable.length > 0 ? "plain" : "primary"} onClick={() => setCreating(true)}>
            Create a key
          </Button>
        </Step>
        <Step title="Send a request" isDone={first !== null}>
          {first === null ? (
            <p class="pulse" role="status">
              Waiting for the first request…
            </p>
          ) : (
            <Received first={first} onDone={onDone} />
          )}
          <Snippets label="First request" call={{ key: keyText, body: helloBody() }} />
        </Step>
      </ol>
      {isCreating && <KeyCreation onClose={() => setCreating(false)} onCreated={({ key }) => setKeyText(key)} />}
    </section>
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

/** The first request: where it went, what it cost, and the way to its reasons. */
function Received({ first, onDone }: { readonly first: RequestLine; readonly onDone: () => void }) {
  const saved = Number(first.savedUsd) / (Number(first.baselineUsd) || 1);
  return (
    <p class="notice good row" role="status">
      <span class="grow">
        Received: {first.tier ?? "–"} → {first.model ?? `status ${first.status}`}, {usd(first.chargeUsd)}
        {first.savedUsd !== null && `, ${percent(saved)} below the baseline`}.{" "}
        <a href={hrefTo(`/requests/${first.id}`)}>See why</a>
      </span>
      <Button onClick={onDone}>To the overview</Button>
    </p>
  );
}
