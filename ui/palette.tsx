// The command palette (⌘K): pages, keys, profiles, models, actions, and any request by its id.

import { useId, useState } from "preact/hooks";
import { useLoad } from "./api.ts";
import { Dialog } from "./kit/dialog.tsx";
import { go, hrefTo } from "./router.ts";
import { openPages } from "./session.ts";
import * as TEXT from "./text.ts";
import { setTheme } from "./theme.ts";
import type { KeyPage, List, Model, Profile } from "./types.ts";

/** One line of the list. `kind` is shown beside the label. */
interface Entry {
  readonly id: string;
  readonly label: string;
  readonly kind: string;
  act(): void;
}

/** Number of entries that fit without scrolling; more are found by typing. */
const SHOWN_MAX = 12;
/** Matches what could be the id of a request. The page of the request says whether there is one. */
const REQUEST_ID = /^[\w.=-]{8,}$/;
/** Matches ids that the gateway gave; callers may choose other ids. */
const OWN_ID = /^(?:req_|r[0-9a-z]{9})/;

/** A combobox: the focus stays in the field, and `aria-activedescendant` names the choice. */
export function Palette({ onClose }: { readonly onClose: () => void }) {
  const [words, setWords] = useState("");
  const [chosen, setChosen] = useState(0);
  const listId = useId();
  const found = useEntries(words).slice(0, SHOWN_MAX);
  const act = (entry: Entry | undefined): void => {
    if (entry === undefined) return;
    onClose();
    entry.act();
  };
  const onKey = (event: KeyboardEvent): void => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    // The arrow keys would move the caret otherwise. The list wraps around at both ends.
    if (step !== 0) {
      event.preventDefault();
      setChosen((chosen + step + found.length) % Math.max(1, found.length));
    }
    if (event.key === "Enter") act(found[chosen]);
  };
  return (
    <Dialog title={TEXT.goTo} onClose={onClose}>
      <input
        type="text"
        role="combobox"
        aria-label={TEXT.paletteHint}
        aria-expanded="true"
        aria-controls={listId}
        aria-activedescendant={found[chosen] === undefined ? undefined : `${listId}-${chosen}`}
        placeholder={TEXT.paletteHint}
        autofocus
        value={words}
        onInput={(event) => {
          setWords(event.currentTarget.value);
          setChosen(0);
        }}
        onKeyDown={onKey}
      />
      <Results listId={listId} entries={found} chosen={chosen} onChoose={setChosen} onAct={act} />
    </Dialog>
  );
}

interface ResultsProps {
  readonly listId: string;
  readonly entries: readonly Entry[];
  readonly chosen: number;
  readonly onChoose: (index: number) => void;
  readonly onAct: (entry: Entry) => void;
}

/** The focus stays in the field above; the pointer moves the same choice that the arrow keys do. */
function Results({ listId, entries, chosen, onChoose, onAct }: ResultsProps) {
  return (
    <div id={listId} class="palette" role="listbox" aria-label={TEXT.results}>
      {entries.map((entry, index) => (
        <div
          key={entry.id}
          id={`${listId}-${index}`}
          role="option"
          tabIndex={-1}
          aria-selected={index === chosen}
          onPointerMove={() => onChoose(index)}
          onPointerUp={() => onAct(entry)}
        >
          <span>{entry.label}</span>
          <small>{entry.kind}</small>
        </div>
      ))}
      {entries.length === 0 && <p class="faint">{TEXT.noResults}</p>}
    </div>
  );
}

/** Everything that can be found, narrowed to what was typed. Pages read the same lists, so they are often there already. */
function useEntries(words: string): readonly Entry[] {
  const wanted = words.trim().toLowerCase();
  const keys = useLoad<KeyPage>(`/api/keys?limit=${SHOWN_MAX}&q=${encodeURIComponent(words.trim())}`).data?.data;
  const profiles = useLoad<List<Profile>>("/api/profiles?limit=200").data?.data ?? [];
  const models = useLoad<List<Model>>("/api/models").data?.data ?? [];
  const to = (kind: string, label: string, href: string): Entry => ({
    id: `${kind} ${href}`,
    kind,
    label,
    act: () => go(href),
  });
  const themed = (["light", "dark", "system"] as const).map((name) => ({
    id: name,
    kind: "action",
    label: TEXT.themeIs(name),
    act: () => setTheme(name),
  }));
  const all = [
    ...openPages().map(({ path, title }) => to("page", title, hrefTo(path))),
    to("action", TEXT.createKey, hrefTo("/keys", { new: "1" })),
    to("action", TEXT.addCredits, hrefTo("/credits", { new: "1" })),
    to("action", TEXT.createProfile, hrefTo("/profiles/new")),
    ...themed,
    ...(keys ?? []).map(({ id, name }) => to("key", name, hrefTo(`/keys/${id}`))),
    ...profiles.map(({ id, name }) => to("profile", name, hrefTo(`/profiles/${id}`))),
    ...models.map(({ id }) => to("model", id, hrefTo("/models", { model: id }))),
  ];
  // The gateway has found the keys, also by their beginning.
  const found = all.filter(({ kind, label }) => kind === "key" || label.toLowerCase().includes(wanted));
  // A word that names something else is hardly meant as an id.
  const mayBeId = OWN_ID.test(wanted) || (keys !== undefined && found.length === 0);
  if (!mayBeId || !REQUEST_ID.test(words.trim())) return found;
  return [...found, to("request", words.trim(), hrefTo(`/requests/${encodeURIComponent(words.trim())}`))];
}
