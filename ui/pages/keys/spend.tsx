// Spending of a key: its share of the limit, the time of the next reset, and a reset by hand.

import { useState } from "preact/hooks";
import { call } from "../../api.ts";
import { ago, exact, usd, utc } from "../../format.ts";
import { Button } from "../../kit/button.tsx";
import { useTask } from "../../kit/task.tsx";
import { showToast } from "../../kit/toast.tsx";
import type { Key } from "../../types.ts";
import * as TEXT from "./text.ts";

/** "Spent $1.20 of $5.00, resets in 3 days"; null for a key without a limit. */
export function spentText({ spendLimitUsd, spentUsd, spendResetsAt }: Key): string | null {
  if (spendLimitUsd === null) return null;
  const resets = spendResetsAt === null ? "" : TEXT.resetsWhen(ago(spendResetsAt));
  return TEXT.spentOf(usd(spentUsd), usd(spendLimitUsd), resets);
}

/** Tells whether requests with this key fail until the limit resets. */
export function isSpent({ spendLimitUsd, spentUsd }: Key): boolean {
  return spendLimitUsd !== null && Number(spentUsd) >= Number(spendLimitUsd);
}

/** Resets spending at once. Unlike the form around the button, the reset does not wait for Save. */
export function SpendReset({ target }: { readonly target: Key }) {
  const [row, setRow] = useState(target);
  const { problem, isBusy, run } = useTask();
  const reset = (): Promise<void> =>
    run(call<Key>("POST", `/api/keys/${target.id}/reset-spend`), (key) => {
      setRow(key);
      showToast(TEXT.spendWasReset(target.name));
    });
  if (row.spendLimitUsd === null) return null;
  return (
    <>
      <p class="row spend">
        <span
          class="grow"
          title={`${exact(row.spentUsd)}${row.spentSince === null ? "" : TEXT.spentSince(utc(row.spentSince))}`}
        >
          {spentText(row)}
        </span>
        <Button onClick={reset} isBusy={isBusy} isDisabled={Number(row.spentUsd) === 0}>
          {TEXT.resetSpend}
        </Button>
      </p>
      {problem}
    </>
  );
}
