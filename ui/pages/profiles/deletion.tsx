// Deleting a profile. Its keys fail from then on unless they are moved in the same step, so they are named first.

import { useState } from "preact/hooks";
import { type ApiError, call, useLoad } from "../../api.ts";
import { ago, plural } from "../../format.ts";
import { Button } from "../../kit/button.tsx";
import { Dialog } from "../../kit/dialog.tsx";
import { SelectField } from "../../kit/field.tsx";
import { Shown } from "../../kit/states.tsx";
import { useTask } from "../../kit/task.tsx";
import { showToast } from "../../kit/toast.tsx";
import { go, hrefTo } from "../../router.ts";
import type { Key, List, Profile, ProfileKeyPage } from "../../types.ts";
import * as TEXT from "./text.ts";

/** Keys stay with the deleted profile and are rejected. */
const NOWHERE = "";
/** Number of keys that the dialog names. */
const NAMED_MAX = 10;
/** Number of keys that undoing can tie to the profile again, one by one. With more keys there is no Undo. */
const KNOWN_MAX = 100;

/** The button says what it will do, and waits until the keys are known. */
export function ProfileDeletion({ profile, onClose }: { readonly profile: Profile; readonly onClose: () => void }) {
  // A key that works no more loses nothing.
  const keys = useLoad<ProfileKeyPage>(`/api/profiles/${profile.id}/keys?status=active&limit=${KNOWN_MAX}`);
  const { data: known, total } = keys.data ?? { data: [], total: 0 };
  const [keysTo, setKeysTo] = useState(NOWHERE);
  const { problem, run } = useTask();
  const remove = (): Promise<void> => {
    const query = keysTo === NOWHERE ? "" : `?keysTo=${encodeURIComponent(keysTo)}`;
    return run(call("DELETE", `/api/profiles/${profile.id}${query}`), () => {
      const moved = keysTo === NOWHERE || total === 0 ? "" : TEXT.keysMoved(plural(total, "key"));
      const restore = (): void => void restored(profile, known).then(showToast);
      const undo = known.length === total ? { text: TEXT.undo, act: restore } : null;
      showToast(TEXT.profileDeleted(profile.name, moved), undo);
      onClose();
      // Replaced, because Back would lead to a profile that no longer exists.
      go(hrefTo("/profiles"), { replace: true, losesNothing: true });
    });
  };
  return (
    <Dialog title={TEXT.deleteTitle(profile.name)} onClose={onClose}>
      <Shown load={keys} rows={2}>
        {() =>
          total === 0 ? (
            <p>{TEXT.unused}</p>
          ) : (
            <>
              <p>{TEXT.usedBy(plural(total, TEXT.keyUsesOne, TEXT.keysUseMany))}</p>
              <ul>
                {known.slice(0, NAMED_MAX).map((key) => (
                  <li key={key.id}>
                    {key.name} <span class="faint">{TEXT.lastUsed(ago(key.lastUsedAt))}</span>
                  </li>
                ))}
                {total > NAMED_MAX && (
                  <li>
                    <a href={hrefTo("/keys", { profile: profile.id })}>{TEXT.furtherKeys(total - NAMED_MAX)}</a>
                  </li>
                )}
              </ul>
              <MoveKeys profile={profile} keysTo={keysTo} onChange={setKeysTo} />
            </>
          )
        }
      </Shown>
      {problem}
      <footer>
        <Button onClick={onClose}>{TEXT.cancel}</Button>
        <Button kind="danger" isDisabled={keys.data === null} onClick={remove}>
          {total > 0 && keysTo !== NOWHERE ? TEXT.moveAndDelete : TEXT.deleteProfile}
        </Button>
      </footer>
    </Dialog>
  );
}

/** Creates the profile again, under another id, and ties its keys to it. Resolves with a text about the outcome. */
async function restored(
  { id: _, createdAt, updatedAt, shadow, ...content }: Profile,
  keys: readonly Key[],
): Promise<string> {
  try {
    const { id } = await call<Profile>("POST", "/api/profiles", { body: content });
    for (const key of keys) await call("PATCH", `/api/keys/${key.id}`, { body: { profile: id } });
    return TEXT.profileRestored(content.name);
  } catch (problem) {
    return (problem as ApiError).message;
  }
}

interface MoveKeysProps {
  readonly profile: Profile;
  readonly keysTo: string;
  readonly onChange: (id: string) => void;
}

/** Moving is the caller's choice: no key may lose its rules by accident. */
function MoveKeys({ profile, keysTo, onChange }: MoveKeysProps) {
  const all = useLoad<List<Profile>>("/api/profiles?limit=500").data?.data ?? [];
  const others = all.filter(({ id }) => id !== profile.id).map(({ id, name }) => ({ value: id, label: name }));
  return (
    <SelectField
      label={TEXT.moveKeysTo}
      value={keysTo}
      onChange={onChange}
      options={[{ value: NOWHERE, label: TEXT.dontMove }, ...others, { value: "none", label: TEXT.noProfile }]}
      hint={keysTo === NOWHERE ? TEXT.dontMoveHint : TEXT.moveHint}
    />
  );
}
