// The page for an address that belongs to no page.

import { ButtonLink } from "../../kit/button.tsx";
import { Empty } from "../../kit/states.tsx";
import { hrefTo } from "../../router.ts";
import * as TEXT from "./text.ts";

/** Inside the shell, so that navigation and search are at hand. */
export function NotFound() {
  return (
    <Empty title={TEXT.title} action={<ButtonLink href={hrefTo("/")}>{TEXT.goToOverview}</ButtonLink>}>
      {TEXT.hint}
    </Empty>
  );
}
