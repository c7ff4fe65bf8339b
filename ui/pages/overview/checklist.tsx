// The first steps, which tick themselves: shown in place of the overview until a real provider is connected.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { call, useLoad } from "../../api.ts";
import { percent, usd } from "../../format.ts";
import { Button } from "../../kit/button.tsx";
import { SelectField } from "../../kit/field.tsx";
import { helloBody, Snippets } from "../../kit/snippets.tsx";
import { useTask } from "../../kit/task.tsx";
import { ConnectForm } from "../../parts/connect/form.tsx";
import { requestFailure } from "../../parts/failure-text.ts";
import { hrefTo } from "../../router.ts";
import { isOperator, session } from "../../session.ts";
import type { Credits, Key, List, RequestDetail, RequestLine, Vendor } from "../../types.ts";
import { KeyCreation } from "../keys/create.tsx";
import * as TEXT from "./text.ts";

/** A key may also be created elsewhere, such as with the command line. */
const KEYS_EVERY_MS = 10_000;

/** The latest request, and the way to the overview. */
interface LatestProps {
  readonly latest: RequestLine | null;
  readonly onDone: () => void;
}

interface ChecklistProps extends LatestProps {
  /** Called when the user does not want to see it again. */
  readonly onDismiss: () => void;
}

/** A key that is created here is filled into the programs below, since it is shown only once. */
export function Checklist({ latest, onDone, onDismiss }: ChecklistProps) {
  const keys = useLoad<List<Key>>("/api/keys?limit=50", { everyMs: KEYS_EVERY_MS });
  const [isCreating, setCreating] = useState(false);
  const [keyText, setKeyText] = useState<string | null>(null);
  const usable = (keys.data?.data ?? []).find(({ status }) => status === "active");
  return (
    <section class="card checklist" aria-label={TEXT.getStarted}>
      <div class="head-row">
        <h2>{TEXT.getStarted}</h2>
        <Button kind="quiet" onClick={onDismiss}>
          {TEXT.dismiss}
        </Button>
      </div>
      <ol>
        <ProviderStep />
        <CreditStep />
        <Step title={TEXT.createAKey} isDone={usable !== undefined}>
          {usable === undefined ? TEXT.keysHint : TEXT.keyReady(usable.name, usable.prefix)}{" "}
          <Button kind={usable === undefined ? "primary" : "plain"} onClick={() => setCreating(true)}>
            {TEXT.createKey}
          </Button>
        </Step>
        <Step title={TEXT.sendARequest} isDone={latest !== null && !latest.error}>
          <LatestRequest latest={latest} onDone={onDone} />
          <TestRequest />
          {keyText === null && (
            <p>
              {TEXT.setKeyWith} <code>{TEXT.setKeyCommand}</code>
              {TEXT.thenRun}
            </p>
          )}
          <Snippets label={TEXT.firstRequest} call={{ key: keyText, body: helloBody() }} />
        </Step>
      </ol>
      {isCreating && <KeyCreation onClose={() => setCreating(false)} onCreated={({ key }) => setKeyText(key)} />}
    </section>
  );
}

/** Only an admin can connect a provider. Until then the sandbox answers. */
function ProviderStep() {
  const isSandbox = session.value?.sandbox === true;
  if (!isSandbox || !isOperator()) {
    return (
      <Step title={TEXT.connectAProvider} isDone={!isSandbox}>
        {isSandbox ? TEXT.onSandbox(TEXT.askForProvider) : TEXT.providersAreConfigured}{" "}
        <a href={hrefTo("/models")}>{TEXT.viewModels}</a>
      </Step>
    );
  }
  return (
    <Step title={TEXT.connectAProvider} isDone={false}>
      {TEXT.onSandbox(TEXT.pasteProviderKey)} <a href={hrefTo("/providers")}>{TEXT.allProviders}</a>
      <VendorForm />
    </Step>
  );
}

/** Any vendor of the catalogue, and its key. */
function VendorForm() {
  const vendors = useLoad<List<Vendor>>("/api/vendors").data?.data ?? [];
  const [chosen, setChosen] = useState("openai");
  const vendor = vendors.find(({ id }) => id === chosen);
  if (vendors.length === 0) return null;
  return (
    <div class="vendor-form">
      <SelectField
        label={TEXT.provider}
        value={chosen}
        options={[
          ...vendors.map(({ id, name }) => ({ value: id, label: name })),
          { value: "", label: TEXT.otherServer },
        ]}
        onChange={setChosen}
      />
      <ConnectForm key={chosen} what={vendor ?? "openai"} onDone={() => undefined} />
    </div>
  );
}

/** Credits limit spending. A metered account is never refused for lack of them. */
function CreditStep() {
  const credits = useLoad<Credits>("/api/credits").data;
  const isMetered = credits?.billingMode === "metered";
  const hasCredits = Number(credits?.availableUsd ?? 0) > 0;
  return (
    <Step title={TEXT.credits} isDone={isMetered || hasCredits}>
      {isMetered ? TEXT.meteredHint : hasCredits ? TEXT.creditsAvailable(usd(credits?.availableUsd)) : TEXT.noCredits}{" "}
      {isOperator() ? (
        <a href={hrefTo("/credits", hasCredits || isMetered ? {} : { new: "1" })}>
          {hasCredits || isMetered ? TEXT.viewCredits : TEXT.addCredits}
        </a>
      ) : (
        !hasCredits && !isMetered && TEXT.askForCredits
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
          {title} <span class="hidden">{isDone ? "(done)" : TEXT.stepToDo}</span>
        </h3>
        <div>{children}</div>
      </div>
    </li>
  );
}

/** Waiting, answered or failed. */
function LatestRequest({ latest, onDone }: LatestProps) {
  if (latest === null) {
    return (
      <p class="pulse" role="status">
        {TEXT.waiting}
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
        {TEXT.lastFailed(detail === null ? TEXT.statusIs(latest.status) : requestFailure(detail))}{" "}
        <a href={hrefTo(`/requests/${latest.id}`)}>{TEXT.viewRequest}</a>
      </span>
      <Button onClick={onDone}>{TEXT.goToOverview}</Button>
    </p>
  );
}

/** The first answer: where it came from, what it cost, and the way to its reasons. */
function Received({ first, onDone }: { readonly first: RequestLine; readonly onDone: () => void }) {
  const saved = Number(first.savedUsd) / (Number(first.baselineUsd) || 1);
  return (
    <p class="notice good row" role="status">
      <span class="grow">
        {TEXT.received} {first.tier ?? "–"} → {first.model ?? TEXT.statusIs(first.status)}, {usd(first.chargeUsd)}
        {first.savedUsd !== null && TEXT.belowBaseline(percent(saved))}.{" "}
        <a href={hrefTo(`/requests/${first.id}`)}>{TEXT.seeWhy}</a>
      </span>
      <Button onClick={onDone}>{TEXT.goToOverview}</Button>
    </p>
  );
}

/** Sends a request as the playground does, without a key. The request is charged like any other. */
function TestRequest() {
  const { problem, isBusy, run } = useTask();
  const send = (): Promise<void> => run(call("POST", "/api/playground/run", { body: { prompt: TEXT.examplePrompt } }));
  return (
    <>
      <Button kind="primary" isBusy={isBusy} onClick={send}>
        {isBusy ? TEXT.sending : TEXT.sendTest}
      </Button>
      {problem}
    </>
  );
}
