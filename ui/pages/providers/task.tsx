// Something that a press of a button does: whether it still runs, and what went wrong.

import { useState } from "preact/hooks";
import type { ApiError } from "../../api.ts";
import { Problem } from "../../kit/states.tsx";
import { showToast } from "../../kit/toast.tsx";
import { hrefTo } from "../../router.ts";
import * as TEXT from "./text.ts";

export function useTask() {
  const [error, setError] = useState<ApiError | null>(null);
  const [isBusy, setBusy] = useState(false);
  const run = async <T,>(work: Promise<T>, onDone: (result: T) => void): Promise<void> => {
    setBusy(true);
    setError(null);
    await work.then(onDone, (problem: unknown) => setError(problem as ApiError));
    setBusy(false);
  };
  return { problem: <Problem error={error} />, isBusy, run };
}

/** What was done can be undone in the history. */
export function showPublished(text: string): void {
  showToast(text, { text: TEXT.history, href: hrefTo("/providers", { tab: "history" }) });
}
