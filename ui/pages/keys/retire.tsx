// Retiring a key: rotated, with time for callers to change over, or revoked at once.

import { useState } from "preact/hooks";
import { type ApiError, call, useLoad } from "../../api.ts";
import { ago, plural } from "../../format.ts";
import { Button } from "../../kit/button.tsx";
import { Dialog } from "../../kit/dialog.tsx";
import { SelectField, TextField } from "../../kit/field.tsx";
import { Problem } from "../../kit/states.tsx";
import { showToast } from "../../kit/toast.tsx";
import type { Key, List, NewKey, Usage } from "../../types.ts";
import { KeyShown } from "./create.tsx";

const DAY_MS = 86_400_000;
/** Hours that the old key keeps working. */
const GRACES = [
  { value: "0", label: "Now" },
  { value: "1", label: "In 1 hour" },
  { value: "24", label: "In 1 day" },
  { value: "168", label: "In 1 week" },
];

/** A new key with the same rules. Both work until the grace period ends. */
export function Rotation({ target, onClose }: { readonly target: Key; readonly onClose: () => void }) {
  const [grace, setGrace] = useState("24");
  const [created, setCreated] = useState<NewKey | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  // The new key is shown by the same dialog as one that was created.
  if (created !== null) return <KeyShown created={created} title={`New key for “${target.name}”`} onClose={onClose} />;
  const rotate = async (): Promise<void> => {
    const body = { graceHours: Number(grace) };
    await call<NewKey>("POST", `/api/keys/${target.id}/rotate`, { body }).then(setCreated, (problem: unknown) =>
      setError(problem as ApiError),
    );
  };
  return (
    <Dialog title={`Rotate “${target.name}”`} onClose={onClose}>
      <p>Creates a new key with the same profile and limits. The old key keeps working until it expires.</p>
      <SelectField label="Old key expires" value={grace} options={GRACES} onChange={setGrace} />
      <Problem error={error} />
      <footer>
        <Button onClick={onClose}>Cancel</Button>
        <Button kind="primary" onClick={rotate}>
          Rotate key
        </Button>
      </footer>
    </Dialog>
  );
}

/** A key that was used in the last day is revoked only by somebody who types its name. */
export function Revocation({ target, onClose }: { readonly target: Key; readonly onClose: () => void }) {
  // Kept in state: an address that changes with every render would be read without end.
  const [from] = useState(() => new Date(Date.now() - DAY_MS).toISOString());
  const usage = useLoad<List<Usage>>(`/api/usage?by=total&key=${target.id}&from=${from}`);
  const [typed, setTyped] = useState("");
  const [error, setError] = useState<ApiError | null>(null);
  const requests = usage.data?.data[0]?.requests ?? 0;
  // Nobody can confirm before the usage is known.
  const isConfirmed = usage.data !== null && (requests === 0 || typed === target.name);
  const revoke = async (): Promise<void> => {
    try {
      await call("DELETE", `/api/keys/${target.id}`);
      showToast(`“${target.name}” revoked.`);
      onClose();
    } catch (problem) {
      setError(problem as ApiError);
    }
  };
  return (
    <Dialog title={`Revoke “${target.name}”`} onClose={onClose}>
      <p>
        Last used {ago(target.lastUsedAt)}, {plural(requests, "request")} in the last 24 hours. Apps using it will get
        401 immediately. You can't undo this.
      </p>
      {requests > 0 && (
        <TextField label={`Type “${target.name}” to confirm`} value={typed} onInput={setTyped} isFocused />
      )}
      <Problem error={error} />
      <footer>
        <Button onClick={onClose}>Cancel</Button>
        <Button kind="danger" isDisabled={!isConfirmed} onClick={revoke}>
          Revoke key
        </Button>
      </footer>
    </Dialog>
  );
}
