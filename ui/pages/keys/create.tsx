// Creating a key: what it may do, then its text, shown once. Closing without having copied it asks first.

import { useEffect, useRef, useState } from "preact/hooks";
import { call } from "../../api.ts";
import { Button } from "../../kit/button.tsx";
import { CopyBlock } from "../../kit/copy.tsx";
import { Dialog } from "../../kit/dialog.tsx";
import { helloBody, Snippets } from "../../kit/snippets.tsx";
import { useTask } from "../../kit/task.tsx";
import type { NewKey } from "../../types.ts";
import { EMPTY_KEY, EXPIRIES, type KeyDraft, KeyFields, keyBody } from "./fields.tsx";
import * as TEXT from "./text.ts";

/** Props of the dialog. The checklist of the overview also opens the dialog, and wants the key. */
interface KeyCreationProps {
  readonly onClose: () => void;
  readonly onCreated?: (key: NewKey) => void;
}

/** First the form, then the key. */
export function KeyCreation({ onClose, onCreated }: KeyCreationProps) {
  const [created, setCreated] = useState<NewKey | null>(null);
  if (created !== null) return <KeyShown created={created} title={TEXT.keyTitle(created.name)} onClose={onClose} />;
  const onDone = (key: NewKey): void => {
    setCreated(key);
    onCreated?.(key);
  };
  return (
    <Dialog title={TEXT.createKey} onClose={onClose}>
      <KeyForm onDone={onDone} />
    </Dialog>
  );
}

/** The form of a new key. An error leaves it as it was typed. */
function KeyForm({ onDone }: { readonly onDone: (key: NewKey) => void }) {
  const [draft, setDraft] = useState<KeyDraft>(EMPTY_KEY);
  const { problem, isBusy, run } = useTask();
  const submit = (event: Event): void => {
    event.preventDefault();
    void run(call<NewKey>("POST", "/api/keys", { body: keyBody(draft, true) }), onDone);
  };
  return (
    <form onSubmit={submit}>
      <KeyFields draft={draft} onChange={setDraft} expiries={EXPIRIES} isNew />
      {problem}
      <footer>
        <Button kind="primary" type="submit" isBusy={isBusy} isDisabled={draft.name.trim() === ""}>
          {TEXT.createKey}
        </Button>
      </footer>
    </form>
  );
}

/** A key whose text the gateway has just answered. */
interface KeyShownProps {
  readonly created: NewKey;
  readonly title: string;
  readonly onClose: () => void;
}

/** Shows the text of a new key, for the only time. Leaving takes two steps until the text was copied or saved. */
export function KeyShown({ created, title, onClose }: KeyShownProps) {
  const [isSaved, setSaved] = useState(false);
  const [isAsking, setAsking] = useState(false);
  useEffect(() => {
    if (isSaved) return;
    // Closing the tab would lose the key, too.
    const guard = (event: BeforeUnloadEvent): void => event.preventDefault();
    addEventListener("beforeunload", guard);
    return () => removeEventListener("beforeunload", guard);
  }, [isSaved]);
  const asking = useRef<HTMLDivElement>(null);
  // The question appears below the key: the focus goes to its safe answer.
  useEffect(() => asking.current?.querySelector("button")?.focus(), [isAsking]);
  const leave = (): void => {
    if (isSaved) onClose();
    else setAsking(true);
  };
  // A data address: the key is written into a file without being sent anywhere.
  const env = `data:text/plain;charset=utf-8,${encodeURIComponent(`SWITCHYARD_KEY=${created.key}\n`)}`;
  return (
    <Dialog title={title} onClose={leave} isWide>
      <p>
        <b>{TEXT.shownOnce}</b> {TEXT.onlyHash}
      </p>
      <CopyBlock text={created.key} label={TEXT.theKey} onCopied={() => setSaved(true)} />
      <p class="row">
        <a class="button quiet" href={env} download=".env" onClick={() => setSaved(true)}>
          {TEXT.downloadEnv}
        </a>
      </p>
      <h3>{TEXT.tryIt}</h3>
      <Snippets label={TEXT.exampleCall} call={{ key: created.key, body: helloBody() }} />
      <footer>
        {isAsking ? (
          <div class="notice warn row wrap grow" role="alert" ref={asking}>
            <span class="grow">{TEXT.notCopied}</span>
            <Button onClick={() => setAsking(false)}>{TEXT.goBack}</Button>
            <Button kind="danger" onClick={onClose}>
              {TEXT.closeWithoutCopying}
            </Button>
          </div>
        ) : (
          <Button kind="primary" onClick={leave}>
            {TEXT.done}
          </Button>
        )}
      </footer>
    </Dialog>
  );
}
