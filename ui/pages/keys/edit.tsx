// Changing a key: its name, profile and limits. Its text stays, so callers change nothing.

import { useState } from "preact/hooks";
import { call } from "../../api.ts";
import { ago } from "../../format.ts";
import { Button } from "../../kit/button.tsx";
import { Dialog } from "../../kit/dialog.tsx";
import { useTask } from "../../kit/task.tsx";
import { showToast } from "../../kit/toast.tsx";
import { may } from "../../session.ts";
import type { Key } from "../../types.ts";
import { EXPIRIES, KEEP, type KeyDraft, KeyFields, keyBody } from "./fields.tsx";
import { SpendReset } from "./spend.tsx";
import * as TEXT from "./text.ts";

/** An expiry is kept as it is unless another is chosen: a number of days would count from now. */
export function KeyEdit({ target, onClose }: { readonly target: Key; readonly onClose: () => void }) {
  const [draft, setDraft] = useState<KeyDraft>(() => ({
    name: target.name,
    profile: target.profile ?? "",
    team: target.team ?? "",
    member: target.member ?? "",
    days: target.expiresAt === null ? "" : KEEP,
    date: "",
    perMinute: target.requestsPerMinute === null ? "" : String(target.requestsPerMinute),
    limit: target.spendLimitUsd ?? "",
    reset: target.spendReset,
  }));
  const { problem, isBusy, run } = useTask();
  // Only a key that expires can keep its expiry.
  const kept = target.expiresAt === null ? [] : [{ value: KEEP, label: TEXT.unchanged(ago(target.expiresAt)) }];
  const submit = (event: Event): void => {
    event.preventDefault();
    void run(call("PATCH", `/api/keys/${target.id}`, { body: keyBody(draft) }), () => {
      showToast(TEXT.savedKey(draft.name.trim()));
      onClose();
    });
  };
  return (
    <Dialog title={TEXT.editTitle(target.name)} onClose={onClose}>
      <form onSubmit={submit}>
        <KeyFields draft={draft} onChange={setDraft} expiries={[...kept, ...EXPIRIES]} />
        {may("manage") && <SpendReset target={target} />}
        {problem}
        <footer>
          <Button onClick={onClose}>{TEXT.cancel}</Button>
          <Button kind="primary" type="submit" isBusy={isBusy} isDisabled={draft.name.trim() === ""}>
            {TEXT.save}
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}
