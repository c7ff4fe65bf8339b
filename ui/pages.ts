// The one list of pages: each row of the shared list with the component that shows it. The router, the navigation, the
// command palette and the keyboard help read it; the server reads the shared list.

import type { ComponentType } from "preact";
import { DASHBOARD_PAGES, type DashboardPage } from "../src/http/pages/dashboard-pages.ts";
import { Credits } from "./pages/credits/index.tsx";
import { Keys } from "./pages/keys/index.tsx";
import { Models } from "./pages/models/index.tsx";
import { NotFound } from "./pages/not-found/index.tsx";
import { Overview } from "./pages/overview/index.tsx";
import { Playground } from "./pages/playground/index.tsx";
import { Profiles } from "./pages/profiles/index.tsx";
import { Requests } from "./pages/requests/index.tsx";
import { Settings } from "./pages/settings/index.tsx";

/** The compiler asks for a component for every row of the shared list, and for no other. */
const COMPONENTS: Readonly<Record<(typeof DASHBOARD_PAGES)[number]["name"], ComponentType>> = {
  overview: Overview,
  requests: Requests,
  playground: Playground,
  keys: Keys,
  profiles: Profiles,
  credits: Credits,
  models: Models,
  settings: Settings,
};

interface Page extends DashboardPage {
  readonly Component: ComponentType;
}

/** In the order of the navigation. */
export const PAGES: readonly Page[] = DASHBOARD_PAGES.map((page) => ({ ...page, Component: COMPONENTS[page.name] }));

/** The page that an address belongs to; null where there is none. */
export function pageAt(path: string): Page | null {
  const top = `/${path.split("/")[1] ?? ""}`;
  return PAGES.find((page) => page.path === top) ?? null;
}

/** What is shown at an address. */
export function componentAt(path: string): ComponentType {
  return pageAt(path)?.Component ?? NotFound;
}
