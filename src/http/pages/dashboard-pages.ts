// The dashboard's pages, as plain data for both programs. The server answers these paths with the dashboard; the
// dashboard makes its router, navigation, command palette and keyboard help from the same rows. Imports nothing.

interface DashboardPage {
  /** The folder of the page: `ui/pages/<name>/`. */
  readonly name: string;
  /** A path below it belongs to the page too: `/keys` also answers `/keys/key_1`. */
  readonly path: `/${string}`;
  readonly title: string;
  /** `g` and then this letter opens the page. It must be one of the title's letters. */
  readonly key: string;
}

/** In the order of the navigation. A row here asks for a component of the same name in `ui/pages.ts`. */
export const DASHBOARD_PAGES = [
  { name: "overview", path: "/", title: "Overview", key: "o" },
  { name: "requests", path: "/requests", title: "Requests", key: "r" },
  { name: "playground", path: "/playground", title: "Playground", key: "p" },
  { name: "keys", path: "/keys", title: "Keys", key: "k" },
  { name: "profiles", path: "/profiles", title: "Profiles", key: "f" },
  { name: "credits", path: "/credits", title: "Credits", key: "c" },
  { name: "providers", path: "/providers", title: "Providers", key: "v" },
  { name: "models", path: "/models", title: "Models", key: "m" },
  { name: "settings", path: "/settings", title: "Settings", key: "s" },
] as const satisfies readonly DashboardPage[];

/** The page that an address belongs to; null where there is none. */
export function pageAt(path: string): (typeof DASHBOARD_PAGES)[number] | null {
  const top = `/${path.split("/")[1] ?? ""}`;
  return DASHBOARD_PAGES.find((page) => page.path === top) ?? null;
}
