// Saved views of the request log: filters and range under a name, kept in this browser.

import { useState } from "preact/hooks";
import { Popover } from "../../kit/popover.tsx";
import { showToast } from "../../kit/toast.tsx";
import { place } from "../../router.ts";
import { signal } from "../../signal.ts";
import * as TEXT from "./text.ts";

/** A saved view. */
interface View {
  readonly name: string;
  /** Page that the view belongs to; views of the request log have none. */
  readonly path?: string | undefined;
  /** The query of the address, without `?`. */
  readonly query: string;
}

/** The name in the browser's storage. */
const STORED = "switchyard.views";
/** Number of views that are kept; the oldest go first. */
const VIEWS_MAX = 30;
/** Query values that belong to the moment, and are not saved with a view. */
const PASSING = ["after", "tab", "account"];

// Module state, so that a view saved on one visit is there on the next without reading storage again.
const views = signal<readonly View[]>(readViews());

/** A menu of the page's own views. Its button names the view that is shown. */
export function SavedViews({ path }: { readonly path?: string }) {
  const current = queryOfView(place.value.query);
  const own = views.value.filter((view) => view.path === path);
  const shown = own.find(({ query }) => query === current);
  return (
    <Popover label={shown === undefined ? TEXT.views : TEXT.viewNamed(shown.name)}>
      {own.length === 0 && <p class="faint">{TEXT.viewsHint}</p>}
      {own.length > 0 && (
        <ul class="plain-list">
          {own.map((view) => (
            <li key={view.name} class="row">
              <a class="grow cut" href={hrefOf(view)} aria-current={view === shown ? "true" : undefined}>
                {view.name}
              </a>
              <button
                type="button"
                class="button quiet icon"
                aria-label={TEXT.deleteView(view.name)}
                onClick={() => drop(view)}
              >
                ✕
              </button>
            </li>
          ))}
        </ul>
      )}
      <SaveView query={current} path={path} />
    </Popover>
  );
}

/** Deletes a view, which comes back with Undo. */
function drop(view: View): void {
  const before = views.value;
  keep(before.filter((each) => each !== view));
  showToast(TEXT.viewDeleted(view.name), { text: TEXT.undo, act: () => keep(before) });
}

/** Saving under a known name replaces that view. */
function SaveView({ query, path }: Omit<View, "name">) {
  const [name, setName] = useState("");
  const save = (event: Event): void => {
    event.preventDefault();
    const given = name.trim();
    if (given === "") return;
    const others = views.value.filter((view) => view.name !== given || view.path !== path);
    keep([...others, { name: given, query, path }].slice(-VIEWS_MAX));
    showToast(TEXT.viewSaved(given));
    setName("");
  };
  return (
    <form class="row" onSubmit={save}>
      <input
        class="grow"
        aria-label={TEXT.viewName}
        placeholder={TEXT.viewName}
        maxLength={60}
        value={name}
        onInput={(event) => setName(event.currentTarget.value)}
      />
      <button type="submit" class="button">
        {TEXT.saveView}
      </button>
    </form>
  );
}

/** Returns the address of a view. Views belong to no account, so the link keeps the one that is shown. */
function hrefOf({ query, path = "/requests" }: View): string {
  const account = place.value.query.get("account");
  const parts = [query, account === null ? "" : `account=${encodeURIComponent(account)}`].filter((part) => part !== "");
  return parts.length === 0 ? path : `${path}?${parts.join("&")}`;
}

/** Sorts the query, so that the same view is recognised however the user reached it. */
function queryOfView(query: URLSearchParams): string {
  const kept = new URLSearchParams([...query].filter(([name]) => !PASSING.includes(name)));
  kept.sort();
  return kept.toString();
}

/** Keeps the views here and in the browser. */
function keep(next: readonly View[]): void {
  views.value = next;
  try {
    localStorage.setItem(STORED, JSON.stringify(next));
  } catch {
    // A browser without storage keeps the view until the page is left.
  }
}

/** Storage may hold anything: what is no view is ignored. */
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
