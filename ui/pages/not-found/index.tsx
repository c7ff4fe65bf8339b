// The page for an address that belongs to no page.

import { ButtonLink } from "../../kit/button.tsx";
import { Empty } from "../../kit/states.tsx";
import { hrefTo } from "../../router.ts";

/** Inside the shell, so that navigation and search are at hand. */
export function NotFound() {
  return (
    <Empty title="Page not found" action={<ButtonLink href={hrefTo("/")}>Go to overview</ButtonLink>}>
      Check the address, or press ⌘K to search pages, keys and requests.
    </Empty>
  );
}
