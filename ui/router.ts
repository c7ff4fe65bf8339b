// The address is the state: path, query and fragment. Links are followed without loading the page again, and Back works
// because every view is an address.

import { useLayoutEffect } from "preact/hooks";
import { signal } from "./signal.ts";

/** Place in the dashboard, read from the address bar. */
export interface Place {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly hash: string;
}

/** Query values to set; null or empty removes one. */
export type Changes = Readonly<Record<string, string | null>>;

/** Query values that every link keeps: whose numbers are shown, and of which time. */
const TRAVELLING = ["account", "range", "from", "to"];
/** Paths that the gateway itself serves; links there leave the dashboard. */
const OUTSIDE = /^\/(?:api|v1|docs|openapi\.json|metrics|healthz|livez|readyz|llms\.txt)(?:[/?#]|$)/;

/** The current address. Components that read it while rendering follow it. */
export const place = signal<Place>(read());

/** Stays true while the page holds edits that leaving it would lose. */
export const isUnsaved = signal(false);
/** Address to open once the user agrees to lose the edits; null while nothing is asked. */
export const leavingFor = signal<string | null>(null);

/** Asks before edits are lost: by a link, by Back, or with the tab. */
export function useUnsaved(isEdited: boolean): void {
  useLayoutEffect(() => {
    isUnsaved.value = isEdited;
    const warn = (event: Event): void => event.preventDefault();
    if (isEdited) addEventListener("beforeunload", warn);
    return () => {
      isUnsaved.value = false;
      removeEventListener("beforeunload", warn);
    };
  }, [isEdited]);
}

/** Leaves the page after all, without its edits. */
export function leave(): void {
  const to = leavingFor.value;
  leavingFor.value = null;
  if (to !== null) go(to, { losesNothing: true });
}

/** Listens for Back, Forward and clicks on links. Called once, when the dashboard starts. */
export function startRouter(): void {
  for (const event of ["popstate", "hashchange"]) {
    addEventListener(event, () => {
      const wanted = location.pathname + location.search + location.hash;
      if (isUnsaved.value && location.pathname !== place.value.path) {
        // The browser has gone already, so the page with the edits gets its address back.
        history.pushState(null, "", address(place.value.path, new URLSearchParams(place.value.query), {}));
        leavingFor.value = wanted;
      } else place.value = read();
    });
  }
  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    if (link === null || !isOurs(link, event)) return;
    event.preventDefault();
    go(link.pathname + link.search + link.hash);
  });
}

/**
 * Goes to an address. `replace` leaves no entry for Back, for changes that are no step of their own. `losesNothing` is for
 * edits that are saved or given up already.
 */
export function go(to: string, { replace = false, losesNothing = false } = {}): void {
  const { path: before, query } = place.value;
  if (!losesNothing && isUnsaved.value && new URL(to, location.href).pathname !== before) {
    leavingFor.value = to;
    return;
  }
  if (replace) history.replaceState(null, "", to);
  else history.pushState(null, "", to);
  place.value = read();
  // A filter or an open sheet keeps the scroll position; another page starts at its top.
  if (pageOf(before) !== pageOf(place.value.path)) scrollTo(0, 0);
  // So does another page of a list, which begins where its first row was.
  else if (query.get("after") !== place.value.query.get("after"))
    document.querySelector("[data-list]")?.scrollIntoView();
}

/** The address of a page, with the account and the time range that are shown now. */
export function hrefTo(path: string, changes: Changes = {}): string {
  const kept = new URLSearchParams();
  for (const name of TRAVELLING) {
    const value = place.value.query.get(name);
    if (value !== null) kept.set(name, value);
  }
  return address(path, kept, changes);
}

/** The address of this page with some of the query changed. */
export function hrefWith(changes: Changes): string {
  return address(place.value.path, new URLSearchParams(place.value.query), changes);
}

/** Changes the query of this page. */
export function setQuery(changes: Changes, options: { readonly replace?: boolean } = {}): void {
  go(hrefWith(changes), options);
}

function address(path: string, query: URLSearchParams, changes: Changes): string {
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === "") query.delete(name);
    else query.set(name, value);
  }
  const text = query.toString();
  return text === "" ? path : `${path}?${text}`;
}

/** The address bar is the only truth: nothing else is kept. */
function read(): Place {
  return { path: location.pathname, query: new URLSearchParams(location.search), hash: location.hash };
}

/** Tells whether a click is an ordinary one on an ordinary link. The browser handles everything else. */
function isOurs(link: HTMLAnchorElement, event: MouseEvent): boolean {
  if (event.defaultPrevented || event.button !== 0) return false;
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return false;
  if (link.target !== "" || link.hasAttribute("download") || link.origin !== location.origin) return false;
  // A fragment moves the focus within the page, as the skip link does.
  if (link.getAttribute("href")?.startsWith("#") === true) return false;
  return !OUTSIDE.test(link.pathname);
}

/** The first step of a path names its page. */
function pageOf(path: string): string {
  return path.split("/")[1] ?? "";
}
