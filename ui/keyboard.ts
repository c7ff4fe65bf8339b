// Keyboard shortcuts that work anywhere on the page, unless somebody is typing.

import { useLayoutEffect, useRef } from "preact/hooks";

/** Actions by the key that starts them, as `event.key` names it. */
export type Shortcuts = Readonly<Record<string, (event: KeyboardEvent) => void>>;

/** Binds keys while the component is there. `mod+k` is ⌘K or Ctrl+K, and also works while typing. */
export function useShortcuts(shortcuts: Shortcuts): void {
  // Handlers see the newest props although the listener is added once.
  const latest = useRef(shortcuts);
  latest.current = shortcuts;
  // Before the first paint: a key pressed as soon as the page is seen must count.
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const hasModifier = event.metaKey || event.ctrlKey;
      const name = hasModifier ? `mod+${event.key.toLowerCase()}` : event.key;
      const act = latest.current[name];
      // An open dialog has keys of its own.
      if (act === undefined || event.altKey || document.querySelector("dialog[open]") !== null) return;
      if (!hasModifier && event.key !== "Escape" && isTyping(event.target)) return;
      // Else the letter would be typed into the field that it opens.
      if (event.key.length === 1) event.preventDefault();
      act(event);
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
}

/** Time that `g` waits for its second letter. */
const CHORD_MS = 1_200;
// Module state: the two keys of a chord are handled by different components.
let chordAtMs = 0;

/** `g` was pressed: the next letter names a page. */
export function armChord(): void {
  chordAtMs = Date.now();
}

/** Pages that use letters themselves ask this first: `g` then `k` must not move a row. */
export function isChordArmed(): boolean {
  return Date.now() - chordAtMs < CHORD_MS;
}

/** Letters typed into a field are text. */
function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName);
}
