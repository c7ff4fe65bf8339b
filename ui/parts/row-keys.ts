// Rows of a list by keyboard: j and k move from one to the next, Enter opens it beside the list, Escape closes it.

import { useEffect, useRef } from "preact/hooks";
import { isChordArmed, useShortcuts } from "../keyboard.ts";
import { go, place } from "../router.ts";
import { useSignal } from "../signal.ts";

/** The filters stay. Null: the list alone. */
export function rowHref(list: string, id: string | null): string {
  const query = place.value.query.toString();
  return `${list}${id === null ? "" : `/${encodeURIComponent(id)}`}${query === "" ? "" : `?${query}`}`;
}

/** Moves through rows. With one open, j and k open the next. Returns the row that is chosen. */
export function useRowKeys(list: string, ids: readonly string[], openId: string | null): string | null {
  // A signal, because keys pressed quickly must each see what the one before chose.
  const chosen = useSignal<string | null>(openId);
  useEffect(() => {
    if (openId !== null) chosen.value = openId;
  }, [openId, chosen]);
  useRowFocus(openId);
  const move = (step: number): void => {
    const at = ids.indexOf(chosen.value ?? "") + step;
    const next = ids[Math.max(0, Math.min(ids.length - 1, at))];
    if (next === undefined || isChordArmed()) return;
    chosen.value = next;
    if (openId === null) focusRow(next);
    else go(rowHref(list, next), { replace: true });
  };
  useShortcuts({
    j: () => move(1),
    k: () => move(-1),
    Enter: () => {
      // Enter on a link or button is meant for that.
      const isOnControl = document.activeElement?.closest("a, button");
      if (chosen.value !== null && openId === null && !isOnControl) go(rowHref(list, chosen.value));
    },
    Escape: () => {
      if (openId !== null) go(rowHref(list, null));
    },
  });
  return chosen.value;
}

/** The link of a row, which `data-row` names. The browser scrolls to it. */
function focusRow(id: string): void {
  document.querySelector<HTMLElement>(`[data-row="${CSS.escape(id)}"] a`)?.focus();
}

/** Focuses the row whose panel was open last when the panel closes: j and k may have moved on from the first. */
export function useRowFocus(openId: string | null): void {
  const last = useRef(openId);
  useEffect(() => {
    if (openId === null && last.current !== null) focusRow(last.current);
    last.current = openId;
  }, [openId]);
}
