// The notice after publishing. Its link leads to the history, which can undo the change.

import { showToast } from "../../kit/toast.tsx";
import { hrefTo } from "../../router.ts";
import * as TEXT from "./text.ts";

export function showPublished(text: string): void {
  showToast(text, { text: TEXT.history, href: hrefTo("/providers", { tab: "history" }) });
}
