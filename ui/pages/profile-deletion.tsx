// Deleting a profile: its keys fail from then on, so they are named first.

import { useState } from "preact/hooks";
import { type ApiError, call, useLoad } from "../api.ts";
import { ago } from "../format.ts";
import { Button } from "../kit/button.tsx";
import { Dialog } from "../kit/dialog.tsx";
import { Problem, Shown } from "../kit/states.tsx";
import { tell } from "../kit/toast.tsx";
import { go, hrefTo } from "../router.ts";
import type { Key, List, Profile } from "../types.ts";

export function ProfileDeletion({ profile, onClose }: { readonly profile: Profile; readonly onClose: () => void }) {
  const keys = useLoad<List<Key>>(`/api/profiles/${profile.id}/keys`);
  const [error, setError] = useState<ApiError | null>(null);
  const remove = async (): Promise<void> => {
    try {
      await call("DELETE", `/api/profiles/${profile.id}`);
      tell(`“${profile.name}” is deleted.`);
      onClose();
      go(hrefTo("/profiles"), { replace: true });
    } catch (problem) {
      setError(problem as ApiError);
    }
  };
  return (
    <Dialog title={`Delete “${profile.name}”`} onClose={onClose}>
      <Shown load={keys} rows={2}>
        {({ data }) =>
          data.length === 0 ? (
            <p>No key uses it.</p>
          ) : (
            <>
              <p>
                <b>These keys will answer 401 from then on.</b> A key without its rules could cost more than anybody
                allowed, so it is refused instead.
              </p>
              <ul>
                {data.map((key) => (
                  <li key={key.id}>
                    {key.name} <span class="faint">last used {ago(key.lastUsedAt)}</span>
                  </li>
                ))}
              </ul>
            </>
          )
        }
      </Shown>
      <Problem error={error} />
      <footer>
        <Button onClick={onClose}>Keep it</Button>
        <Button kind="danger" isDisabled={keys.data === null} onClick={remove}>
          Delete profile
        </Button>
      </footer>
    </Dialog>
  );
}
