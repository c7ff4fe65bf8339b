// The component of each page. The list of pages itself is shared with the server (`dashboard-pages.ts`): a row there and an
// entry here make a page.

import type { ComponentType } from "preact";
import { type DASHBOARD_PAGES, pageAt } from "../src/http/pages/dashboard-pages.ts";
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

/** What is shown at an address. */
export function componentAt(path: string): ComponentType {
  const page = pageAt(path);
  return page === null ? NotFound : COMPONENTS[page.name];
}
