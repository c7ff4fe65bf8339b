// The address is the state: path, query and fragment. Links are followed without loading the page again, and Back works
// because every view is an address.

import { signal } from "@preact/signals";

/** Where the dashboard is, read from the address bar. */
export interface Place {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly hash: string;
}

/** Query values to set; null or empty removes one. */
export type Changes = Readonly<Record<string, string | null>>;

/** Kept on every link: whose numbers are shown, and of which time. */
const TRAVELLING = ["account", "range", "from", "to"];
/** Served by the gateway itself; links there leave the dashboard. */
const OUTSIDE = /^\/(?:api|v1|docs|openapi\.json|metrics|healthz|livez|readyz|llms\.txt)(?:[/?#]|$)/;

/** The current address. Components that read it while rendering follow it. */
export const place = signal<Place>(read());

/** Listens for Back, Forward and clicks on links. Called once, when the dashboard starts. */
export function startRouter(): void {
  for (const event of ["popstate", "hashchange"]) {
    addEventListener(event, () => {
      place.value = read();
    });
  }
  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    if (link === null || !isOurs(link, event)) return;
    event.preventDefault();
    go(link.pathname + link.search + link.hash);
  });
}

/** Goes to an address. `replace` leaves no entry for Back, for changes that are no step of their own. */
export function go(to: string, { replace = false } = {}): void {
  const before = place.value.path;
  if (replace) history.replaceState(null, "", to);
  else history.pushState(null, "", to);
  place.value = read();
  // A filter or an open sheet keeps the scroll position; another page starts at its top.
  if (pageOf(before) !== pageOf(place.value.path)) scrollTo(0, 0);
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

/** Whether a click is an ordinary one on an ordinary link. Everything else is the browser's to handle. */
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
