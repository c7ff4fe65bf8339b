// Retiring a key: rotated, with time for callers to change over, or revoked at once.

import { useState } from "preact/hooks";
import { call, useLoad } from "../../api.ts";
import { ago, plural } from "../../format.ts";
import { Button } from "../../kit/button.tsx";
import { Dialog } from "../../kit/dialog.tsx";
import { SelectField, TextField } from "../../kit/field.tsx";
import { useTask } from "../../kit/task.tsx";
import { showToast } from "../../kit/toast.tsx";
import type { Key, List, NewKey, Usage } from "../../types.ts";
import { KeyShown } from "./create.tsx";
import * as TEXT from "./text.ts";

const DAY_MS = 86_400_000;
/** Hours that the old key keeps working. */
const GRACES = [
  { value: "0", label: TEXT.now },
  { value: "1", label: TEXT.in1Hour },
  { value: "24", label: TEXT.in1Day },
  { value: "168", label: TEXT.in1Week },
];

/** A new key with the same rules. Both work until the grace period ends. */
export function Rotation({ target, onClose }: { readonly target: Key; readonly onClose: () => void }) {
  const [grace, setGrace] = useState("24");
  const [created, setCreated] = useState<NewKey | null>(null);
  const { problem, isBusy, run } = useTask();
  // The new key is shown by the same dialog as one that was created.
  if (created !== null) return <KeyShown created={created} title={TEXT.newKeyFor(target.name)} onClose={onClose} />;
  const rotate = (): Promise<void> => {
    const body = { graceHours: Number(grace) };
    return run(call<NewKey>("POST", `/api/keys/${target.id}/rotate`, { body }), setCreated);
  };
  return (
    <Dialog title={TEXT.rotateTitle(target.name)} onClose={onClose}>
      <p>{TEXT.rotationHint}</p>
      <SelectField label={TEXT.oldKeyExpires} value={grace} options={GRACES} onChange={setGrace} />
      {problem}
      <footer>
        <Button onClick={onClose}>{TEXT.cancel}</Button>
        <Button kind="primary" isBusy={isBusy} onClick={rotate}>
          {TEXT.rotateKey}
        </Button>
      </footer>
    </Dialog>
  );
}

/** Several keys at once, by somebody who types how many. */
interface BulkRevocationProps {
  readonly keys: readonly Key[];
  readonly onClose: (isDone: boolean) => void;
}

/** The names are listed, since keys of other pages may be among them. */
export function BulkRevocation({ keys, onClose }: BulkRevocationProps) {
  const [typed, setTyped] = useState("");
  const { problem, isBusy, run } = useTask();
  const revoke = (): Promise<void> =>
    run(call("POST", "/api/keys/revoke", { body: { ids: keys.map(({ id }) => id) } }), () => {
      showToast(TEXT.revokedMany(plural(keys.length, "key")));
      onClose(true);
    });
  return (
    <Dialog title={TEXT.revokeMany(plural(keys.length, "key"))} onClose={() => onClose(false)}>
      <p>{TEXT.bulkHint}</p>
      <ul class="chips">
        {keys.map(({ id, name }) => (
          <li key={id} class="chip cut">
            <bdi>{name}</bdi>
          </li>
        ))}
      </ul>
      <TextField label={TEXT.typeToConfirm(String(keys.length))} value={typed} onInput={setTyped} isFocused />
      {problem}
      <footer>
        <Button onClick={() => onClose(false)}>{TEXT.cancel}</Button>
        <Button kind="danger" isBusy={isBusy} isDisabled={typed !== String(keys.length)} onClick={revoke}>
          {TEXT.revoke}
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
  const { problem, isBusy, run } = useTask();
  const requests = usage.data?.data[0]?.requests ?? 0;
  // Nobody can confirm before the usage is known.
  const isConfirmed = usage.data !== null && (requests === 0 || typed === target.name);
  const revoke = (): Promise<void> =>
    run(call("DELETE", `/api/keys/${target.id}`), () => {
      showToast(TEXT.revoked(target.name));
      onClose();
    });
  return (
    <Dialog title={TEXT.revokeTitle(target.name)} onClose={onClose}>
      <p>{TEXT.revocationHint(ago(target.lastUsedAt), plural(requests, "request"))}</p>
      {requests > 0 && <TextField label={TEXT.typeToConfirm(target.name)} value={typed} onInput={setTyped} isFocused />}
      {problem}
      <footer>
        <Button onClick={onClose}>{TEXT.cancel}</Button>
        <Button kind="danger" isBusy={isBusy} isDisabled={!isConfirmed} onClick={revoke}>
          {TEXT.revokeKey}
        </Button>
      </footer>
    </Dialog>
  );
}
