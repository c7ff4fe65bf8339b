// Keys that work anywhere on the page, unless somebody is typing.

import { useLayoutEffect, useRef } from "preact/hooks";

export type Shortcuts = Readonly<Record<string, (event: KeyboardEvent) => void>>;

/** By `event.key`; `mod+k` is ⌘K or Ctrl+K, which also works while typing. */
export function useShortcuts(shortcuts: Shortcuts): void {
  const latest = useRef(shortcuts);
  latest.current = shortcuts;
  // Before the page is painted: what can be seen can be steered.
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const hasModifier = event.metaKey || event.ctrlKey;
      const name = hasModifier ? `mod+${event.key.toLowerCase()}` : event.key;
      const act = latest.current[name];
      if (act === undefined || event.altKey || document.querySelector("dialog[open]") !== null) return;
      if (!hasModifier && event.key !== "Escape" && isTyping(event.target)) return;
      // The letter is not to be written into the field that it opens.
      if (event.key.length === 1) event.preventDefault();
      act(event);
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
}

const CHORD_MS = 1_200;
let chordAtMs = 0;

/** `g` was pressed: the next letter names a page. */
export function armChord(): void {
  chordAtMs = Date.now();
}

export function isChordArmed(): boolean {
  return Date.now() - chordAtMs < CHORD_MS;
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName);
}
