// The keys of a profile, on its page: which ones follow it, and the way to tie others to it or to let one go.

import { useState } from "preact/hooks";
import { call, useLoad } from "../../api.ts";
import { ago, utc } from "../../format.ts";
import { Button } from "../../kit/button.tsx";
import { TextField } from "../../kit/field.tsx";
import { Section } from "../../kit/page.tsx";
import { Shown } from "../../kit/states.tsx";
import { useTask } from "../../kit/task.tsx";
import { showToast } from "../../kit/toast.tsx";
import { hrefTo } from "../../router.ts";
import type { Key, List, Profile, ProfileKeyPage } from "../../types.ts";
import * as TEXT from "./text.ts";

/** Number of keys that are shown here. The list of keys has all of them. */
const TIED_MAX = 20;
/** Number of keys that a search shows; more letters find others. */
const FOUND_MAX = 6;

/** Changes count at once; they are no part of the edits above. */
export function ProfileKeys({ profile }: { readonly profile: Profile }) {
  const tied = useLoad<ProfileKeyPage>(`/api/profiles/${profile.id}/keys?status=active&limit=${TIED_MAX}`);
  const { problem, run } = useTask();
  const tie = (key: Key, to: string | null): Promise<void> =>
    run(call("PATCH", `/api/keys/${key.id}`, { body: { profile: to } }), () => {
      const undo = (): void => void tie(key, key.profile);
      showToast(to === null ? TEXT.keyReleased(key.name) : TEXT.keyTied(key.name), { text: TEXT.undo, act: undo });
    });
  return (
    <Section title={TEXT.keys}>
      <Shown load={tied} rows={2}>
        {({ data, total }) =>
          total === 0 ? (
            <p class="faint">{TEXT.unused}</p>
          ) : (
            <>
              <KeyList keys={data} action={TEXT.release} onAct={(key) => void tie(key, null)} isLinked />
              {total > data.length && (
                <a href={hrefTo("/keys", { profile: profile.id })}>{TEXT.furtherKeys(total - data.length)}</a>
              )}
            </>
          )
        }
      </Shown>
      {problem}
      <OtherKeys profile={profile} onTie={(key) => void tie(key, profile.id)} />
    </Section>
  );
}

/** Searches keys on the server, because an account may have thousands. */
function OtherKeys({ profile, onTie }: { readonly profile: Profile; readonly onTie: (key: Key) => void }) {
  const [words, setWords] = useState("");
  const wanted = words.trim();
  const path = `/api/keys?status=active&limit=${FOUND_MAX}&q=${encodeURIComponent(wanted)}`;
  const found = useLoad<List<Key>>(wanted === "" ? null : path);
  return (
    <>
      <TextField label={TEXT.addKey} type="search" value={words} onInput={setWords} placeholder={TEXT.keyName} />
      {wanted !== "" && (
        <Shown load={found} rows={2} keepsRows>
          {({ data }) => {
            const others = data.filter((key) => key.profile !== profile.id);
            if (others.length === 0) return <p class="faint">{TEXT.noKeyFound}</p>;
            return <KeyList keys={others} action={TEXT.add} onAct={onTie} />;
          }}
        </Shown>
      )}
    </>
  );
}

interface KeyListProps {
  readonly keys: readonly Key[];
  /** The word on the button of each key. */
  readonly action: string;
  readonly onAct: (key: Key) => void;
  readonly isLinked?: boolean;
}

/** Name, last use and one button. */
function KeyList({ keys, action, onAct, isLinked = false }: KeyListProps) {
  return (
    <ul class="plain-list">
      {keys.map((key) => (
        <li key={key.id} class="row">
          <bdi class="grow cut" title={key.name}>
            {isLinked ? (
              <a class="block cut" href={hrefTo(`/keys/${key.id}`)}>
                {key.name}
              </a>
            ) : (
              key.name
            )}
          </bdi>
          <span class="faint" title={utc(key.lastUsedAt)}>
            {TEXT.lastUsed(ago(key.lastUsedAt))}
          </span>
          <Button label={`${action} ${key.name}`} onClick={() => onAct(key)}>
            {action}
          </Button>
        </li>
      ))}
    </ul>
  );
}
