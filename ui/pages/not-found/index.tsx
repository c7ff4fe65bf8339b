// The page for an address that belongs to no page.

import { ButtonLink } from "../../kit/button.tsx";
import { PageHead } from "../../kit/page.tsx";
import { hrefTo } from "../../router.ts";
import * as TEXT from "./text.ts";

/** Stands inside the shell, so that navigation and search are at hand. */
export function NotFound() {
  return (
    <PageHead title={TEXT.title} purpose={TEXT.hint}>
      <ButtonLink href={hrefTo("/")}>{TEXT.goToOverview}</ButtonLink>
    </PageHead>
  );
}
