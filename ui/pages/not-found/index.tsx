// The page for an address that belongs to no page.

import { ButtonLink } from "../../kit/button.tsx";
import { Empty } from "../../kit/states.tsx";
import { hrefTo } from "../../router.ts";

/** Inside the shell, so that navigation and search are at hand. */
export function NotFound() {
  return (
    <Empty title="There is no such page" action={<ButtonLink href={hrefTo("/")}>To the overview</ButtonLink>}>
      The address may be old or mistyped. ⌘K finds pages, keys and requests.
    </Empty>
  );
}
