// The pages and their code, which is loaded page by page. The list of pages itself is shared with the server
// (`dashboard-pages.ts`): a row there and an entry here make a page.

import type { ComponentType } from "preact";
import { type DASHBOARD_PAGES, pageAt } from "../src/http/pages/dashboard-pages.ts";
import { Button } from "./kit/button.tsx";
import { Empty, Skeleton } from "./kit/states.tsx";
import { NotFound } from "./pages/not-found/index.tsx";
import { place } from "./router.ts";
import { signal } from "./signal.ts";
import * as TEXT from "./text.ts";

type PageName = (typeof DASHBOARD_PAGES)[number]["name"];

/** The compiler asks for code for every row of the shared list, and for no other. */
const CODE: Readonly<Record<PageName, () => Promise<ComponentType>>> = {
  overview: async () => (await import("./pages/overview/index.tsx")).Overview,
  requests: async () => (await import("./pages/requests/index.tsx")).Requests,
  sessions: async () => (await import("./pages/sessions/index.tsx")).Sessions,
  explore: async () => (await import("./pages/explore/index.tsx")).Explore,
  playground: async () => (await import("./pages/playground/index.tsx")).Playground,
  keys: async () => (await import("./pages/keys/index.tsx")).Keys,
  profiles: async () => (await import("./pages/profiles/index.tsx")).Profiles,
  credits: async () => (await import("./pages/credits/index.tsx")).Credits,
  providers: async () => (await import("./pages/providers/index.tsx")).Providers,
  outcomes: async () => (await import("./pages/outcomes/index.tsx")).Outcomes,
  models: async () => (await import("./pages/models/index.tsx")).Models,
  settings: async () => (await import("./pages/settings/index.tsx")).Settings,
};

/** Pages whose code is here. */
const loaded = signal<Partial<Record<PageName, ComponentType>>>({});

/** Loads the code of the page that is shown, and then that of the others, so that going there takes no time. */
export async function loadPages(): Promise<void> {
  const first = pageAt(place.value.path)?.name;
  if (first !== undefined) await load(first);
  for (const name of Object.keys(CODE) as PageName[]) if (name !== first) await load(name);
}

async function load(name: PageName): Promise<void> {
  const component = await CODE[name]().catch(() => Unloadable);
  loaded.value = { ...loaded.value, [name]: component };
}

/** What belongs at the address. */
export function Page() {
  const page = pageAt(place.value.path);
  if (page === null) return <NotFound />;
  const Component = loaded.value[page.name];
  return Component === undefined ? <Skeleton rows={8} /> : <Component />;
}

/** Stands for a page whose code did not come: the network is down, or an upgrade brought files of other names. */
function Unloadable() {
  return <Empty title={TEXT.pageNotLoaded} action={<Button onClick={() => location.reload()}>{TEXT.reload}</Button>} />;
}
