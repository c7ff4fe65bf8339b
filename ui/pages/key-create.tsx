// Making a key: what it may do, then its text, this once. Closing without having copied it asks first.

import { useEffect, useState } from "preact/hooks";
import { type ApiError, call, useLoad } from "../api.ts";
import { Button } from "../kit/button.tsx";
import { CopyBlock } from "../kit/copy.tsx";
import { Dialog } from "../kit/dialog.tsx";
import { SelectField, TextField } from "../kit/field.tsx";
import { helloBody, Snippets } from "../kit/snippets.tsx";
import { Problem } from "../kit/states.tsx";
import type { List, NewKey, Profile } from "../types.ts";

const DAY_MS = 86_400_000;
const EXPIRIES = [
  { value: "", label: "never" },
  { value: "30", label: "in 30 days" },
  { value: "90", label: "in 90 days" },
  { value: "365", label: "in a year" },
];

export function KeyCreation({
  onClose,
  onCreated,
}: {
  readonly onClose: () => void;
  readonly onCreated?: (key: NewKey) => void;
}) {
  const [created, setCreated] = useState<NewKey | null>(null);
  if (created !== null) return <KeyShown created={created} title={`Key “${created.name}”`} onClose={onClose} />;
  const onDone = (key: NewKey): void => {
    setCreated(key);
    onCreated?.(key);
  };
  return (
    <Dialog title="New key" onClose={onClose}>
      <KeyForm onDone={onDone} />
    </Dialog>
  );
}

function KeyForm({ onDone }: { readonly onDone: (key: NewKey) => void }) {
  const profiles = useLoad<List<Profile>>("/api/profiles?limit=200").data?.data ?? [];
  const [name, setName] = useState("");
  const [profile, setProfile] = useState("");
  const [days, setDays] = useState("");
  const [perMinute, setPerMinute] = useState("");
  const [limit, setLimit] = useState("");
  const [error, setError] = useState<ApiError | null>(null);
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    const body = {
      name: name.trim(),
      profile: profile || null,
      expiresAt: days === "" ? null : new Date(Date.now() + Number(days) * DAY_MS).toISOString(),
      requestsPerMinute: perMinute === "" ? null : Number(perMinute),
      spendLimitUsd: limit === "" ? null : limit,
    };
    await call<NewKey>("POST", "/api/keys", { body }).then(onDone, (problem: unknown) => setError(problem as ApiError));
    setBusy(false);
  };
  const none = { value: "", label: "none: routed freely" };
  const choices = profiles.map((each) => ({ value: each.id, label: each.name }));
  return (
    <form onSubmit={submit}>
      <TextField label="Name" value={name} onInput={setName} placeholder="checkout service" isRequired isFocused />
      <div class="pair">
        <SelectField label="Profile" value={profile} options={[none, ...choices]} onChange={setProfile} />
        <SelectField label="Expires" value={days} options={EXPIRIES} onChange={setDays} />
      </div>
      <div class="pair">
        <TextField
          label="Requests per minute"
          type="number"
          min="1"
          value={perMinute}
          onInput={setPerMinute}
          placeholder="gateway's limit"
        />
        <TextField label="Spend limit, USD" value={limit} onInput={setLimit} placeholder="none" />
      </div>
      <Problem error={error} />
      <footer>
        <Button kind="primary" type="submit" isBusy={isBusy} isDisabled={name.trim() === ""}>
          Create key
        </Button>
      </footer>
    </form>
  );
}

export function KeyShown({
  created,
  title,
  onClose,
}: {
  readonly created: NewKey;
  readonly title: string;
  readonly onClose: () => void;
}) {
  const [isSaved, setSaved] = useState(false);
  const [isAsking, setAsking] = useState(false);
  useEffect(() => {
    if (isSaved) return;
    const guard = (event: BeforeUnloadEvent): void => event.preventDefault();
    addEventListener("beforeunload", guard);
    return () => removeEventListener("beforeunload", guard);
  }, [isSaved]);
  const leave = (): void => {
    if (isSaved) onClose();
    else setAsking(true);
  };
  const env = `data:text/plain;charset=utf-8,${encodeURIComponent(`SWITCHYARD_KEY=${created.key}\n`)}`;
  return (
    <Dialog title={title} onClose={leave} isWide>
      <p>
        <b>You will not see this key again.</b> The gateway keeps only a fingerprint of it.
      </p>
      <CopyBlock text={created.key} label="The key" onCopied={() => setSaved(true)} />
      <p class="row">
        <a class="button quiet" href={env} download=".env" onClick={() => setSaved(true)}>
          Download .env
        </a>
      </p>
      <h3>Try it</h3>
      <Snippets label="Example call" call={{ key: created.key, body: helloBody() }} />
      <footer>
        {isAsking ? (
          <div class="notice warn row" role="alert">
            <span class="grow">The key was not copied and cannot be shown again. Close all the same?</span>
            <Button onClick={() => setAsking(false)}>Back to the key</Button>
            <Button kind="danger" onClick={onClose}>
              Close without it
            </Button>
          </div>
        ) : (
          <Button kind="primary" onClick={leave}>
            Done
          </Button>
        )}
      </footer>
    </Dialog>
  );
}
