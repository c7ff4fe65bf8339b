// A button that opens a small panel below itself.

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

/** Closes by Escape, by a click elsewhere and by following a link in it, as a menu does. */
export function Popover({ label, children }: { readonly label: string; readonly children: ComponentChildren }) {
  const box = useRef<HTMLDetailsElement>(null);
  // Before the first paint, as with all keys: see useShortcuts.
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key !== "Escape" || box.current?.open !== true) return;
      // Escape closes one thing at a time: the sheet behind the popover stays open.
      event.stopPropagation();
      box.current.open = false;
      box.current.querySelector("summary")?.focus();
    };
    const onClick = ({ target }: Event): void => {
      if (box.current?.open !== true || !(target instanceof Element)) return;
      if (!box.current.contains(target) || target.closest("a") !== null) box.current.open = false;
    };
    // In the capture phase, so that it comes before the shortcuts of the page.
    document.addEventListener("keydown", onKey, true);
    document.addEventListener("click", onClick);
    return () => {
      document.removeEventListener("keydown", onKey, true);
      document.removeEventListener("click", onClick);
    };
  }, []);
  return (
    <details class="popover" ref={box}>
      <summary class="button">{label}</summary>
      <div class="popover-body">{children}</div>
    </details>
  );
}
