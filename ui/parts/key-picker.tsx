// The key that a page is narrowed to: a list of few keys, a search among many.

import { useState } from "preact/hooks";
import { useLoad } from "../api.ts";
import { SearchInput } from "../kit/field.tsx";
import { Popover } from "../kit/popover.tsx";
import { hrefWith, place, setQuery } from "../router.ts";
import type { KeyPage, ListedKey } from "../types.ts";
import * as TEXT from "./text.ts";

/** Number of keys that a list of the browser shows well. */
const LISTED_MAX = 50;
/** Requests of the playground are recorded under this name, though it is no key. */
const PLAYGROUND = { id: "playground", name: "playground" };

/** The name of a key, for what knows only its id. */
export function useKeyName(id: string | null): string {
  const isKey = id !== null && id !== PLAYGROUND.id;
  return useLoad<ListedKey>(isKey ? `/api/keys/${encodeURIComponent(id)}` : null).data?.name ?? id ?? "";
}

/** Narrows the page to a key, which is in the address as `key`. The shortcut `/` focuses the list of keys. */
export function KeyPicker({ all }: { readonly all: string }) {
  const id = place.value.query.get("key");
  const [words, setWords] = useState("");
  const load = useLoad<KeyPage>(`/api/keys?limit=${LISTED_MAX}&sort=name&q=${encodeURIComponent(words)}`);
  const found = load.data ?? load.previous;
  const name = useKeyName(id);
  const chosen = id === null ? [] : [{ id, name }];
  const others = [...(found?.data ?? []), PLAYGROUND].filter((key) => key.id !== id);
  if (words === "" && (found?.next ?? null) === null) {
    return (
      <select
        aria-label={TEXT.key}
        data-filter
        class={id === null ? "" : "set"}
        value={id ?? ""}
        onChange={(event) => setQuery({ key: event.currentTarget.value, after: null })}
      >
        {[{ id: "", name: all }, ...chosen, ...others].map((key) => (
          <option key={key.id} value={key.id}>
            {key.name}
          </option>
        ))}
      </select>
    );
  }
  return (
    <Popover label={<bdi class="cut">{name || all}</bdi>}>
      <SearchInput label={TEXT.searchKeys} value={words} onInput={setWords} />
      <ul class="plain-list">
        {[{ id: "", name: all }, ...others].map((key) => (
          <li key={key.id}>
            <a class="cut" href={hrefWith({ key: key.id, after: null })}>
              <bdi>{key.name}</bdi>
            </a>
          </li>
        ))}
      </ul>
      {found !== null && found.next !== null && <p class="faint">{TEXT.moreKeys(found.data.length, found.total)}</p>}
    </Popover>
  );
}
