// Views of the log that somebody gave a name: the filters and the range, kept in this browser.

import { signal } from "@preact/signals";
import { useState } from "preact/hooks";
import { Popover } from "../../kit/popover.tsx";
import { showToast } from "../../kit/toast.tsx";
import { place } from "../../router.ts";

interface View {
  readonly name: string;
  /** Of the address, without `?`. */
  readonly query: string;
}

const STORED = "switchyard.views";
const VIEWS_MAX = 30;
/** Of the moment, not of the view. */
const PASSING = ["after", "tab", "account"];

const views = signal<readonly View[]>(readViews());

export function SavedViews() {
  const current = queryOfView(place.value.query);
  const shown = views.value.find(({ query }) => query === current);
  return (
    <Popover label={shown === undefined ? "Views" : `View: ${shown.name}`}>
      {views.value.length === 0 && (
        <p class="faint">Save the filters and the range under a name to come back to them.</p>
      )}
      {views.value.length > 0 && (
        <ul class="plain-list">
          {views.value.map((view) => (
            <li key={view.name} class="row">
              <a class="grow cut" href={hrefOf(view)} aria-current={view === shown ? "true" : undefined}>
                {view.name}
              </a>
              <button
                type="button"
                class="button quiet icon"
                aria-label={`Forget the view ${view.name}`}
                onClick={() => keep(views.value.filter((each) => each !== view))}
              >
                ✕
              </button>
            </li>
          ))}
        </ul>
      )}
      <SaveView query={current} />
    </Popover>
  );
}

function SaveView({ query }: { readonly query: string }) {
  const [name, setName] = useState("");
  const save = (event: Event): void => {
    event.preventDefault();
    const given = name.trim();
    if (given === "") return;
    keep([...views.value.filter((view) => view.name !== given), { name: given, query }].slice(-VIEWS_MAX));
    showToast(`Saved as “${given}”, in this browser.`);
    setName("");
  };
  return (
    <form class="row" onSubmit={save}>
      <input
        class="grow"
        aria-label="Name of this view"
        placeholder="Name of this view"
        maxLength={60}
        value={name}
        onInput={(event) => setName(event.currentTarget.value)}
      />
      <button type="submit" class="button">
        Save
      </button>
    </form>
  );
}

function hrefOf({ query }: View): string {
  const account = place.value.query.get("account");
  const parts = [query, account === null ? "" : `account=${encodeURIComponent(account)}`].filter((part) => part !== "");
  return parts.length === 0 ? "/requests" : `/requests?${parts.join("&")}`;
}

/** In one order, so that the same view is recognised however it was reached. */
function queryOfView(query: URLSearchParams): string {
  const kept = new URLSearchParams([...query].filter(([name]) => !PASSING.includes(name)));
  kept.sort();
  return kept.toString();
}

function keep(next: readonly View[]): void {
  views.value = next;
  try {
    localStorage.setItem(STORED, JSON.stringify(next));
  } catch {
    // A browser that keeps nothing still has the view until the page is left.
  }
}

function readViews(): readonly View[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(STORED) ?? "[]");
    return Array.isArray(kept) ? kept.filter(isView).slice(-VIEWS_MAX) : [];
  } catch {
    return [];
  }
}

function isView(value: unknown): value is View {
  const { name, query } = (value ?? {}) as Partial<View>;
  return typeof name === "string" && typeof query === "string";
}
