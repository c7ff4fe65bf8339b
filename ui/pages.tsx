// The page that an address belongs to. The overview is there at once; the code of all others follows it. The list of pages
// itself is shared with the server (`dashboard-pages.ts`): a row there and an entry in `other-pages.ts` make a page.

import { pageAt } from "../src/http/pages/dashboard-pages.ts";
import { Button } from "./kit/button.tsx";
import { Empty, Skeleton } from "./kit/states.tsx";
import { NotFound } from "./pages/not-found/index.tsx";
import type { OTHER_PAGES } from "./pages/other-pages.ts";
import { Overview } from "./pages/overview/index.tsx";
import { go, hrefTo, place } from "./router.ts";
import { openPages } from "./session.ts";
import { signal } from "./signal.ts";
import * as TEXT from "./text.ts";

/** Code of all other pages; null until it has loaded, false where it cannot be loaded. */
const others = signal<typeof OTHER_PAGES | null | false>(null);

/** Loads the other pages while the overview is shown, so that opening one takes no time. */
export async function loadPages(): Promise<void> {
  others.value = await import("./pages/other-pages.ts").then(
    (code) => code.OTHER_PAGES,
    () => false,
  );
}

export function Page() {
  const page = pageAt(place.value.path);
  if (page === null) return <NotFound />;
  if (!openPages().includes(page)) return <NotAllowed isStart={page.name === "overview"} />;
  if (page.name === "overview") return <Overview />;
  if (others.value === false) return <Unloadable />;
  const Component = others.value?.[page.name];
  return Component === undefined ? <Skeleton rows={8} /> : <Component />;
}

/** The start page leads to the first page that the role opens. */
function NotAllowed({ isStart }: { readonly isStart: boolean }) {
  const [first] = openPages();
  if (isStart && first !== undefined) queueMicrotask(() => go(hrefTo(first.path), { replace: true }));
  return isStart ? <Skeleton /> : <Empty title={TEXT.notAllowed} />;
}

/** Stands for a page whose code did not come: the network is down, or an upgrade brought files of other names. */
function Unloadable() {
  return <Empty title={TEXT.pageNotLoaded} action={<Button onClick={() => location.reload()}>{TEXT.reload}</Button>} />;
}
