// A button that opens a small panel below itself.

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

interface PopoverProps {
  readonly label: ComponentChildren;
  /** Name of the button for screen readers, where its label is a symbol. */
  readonly name?: string;
  /** Class in the style sheets. The class of the body begins with the same word. */
  readonly kind?: "popover" | "menu" | "why";
  /** Marks the button as current, because the page on screen is one of the links in the popover. */
  readonly isCurrent?: boolean;
  readonly children: ComponentChildren;
}

/** Closes by Escape, by a click elsewhere and by following a link in it, as a menu does. The focus goes back. */
export function Popover({ label, name, kind = "popover", isCurrent = false, children }: PopoverProps) {
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
    <details class={kind} ref={box}>
      <summary class={kind === "popover" ? "button" : ""} aria-label={name} aria-current={isCurrent || undefined}>
        {label}
      </summary>
      <div class={`${kind}-body`}>{children}</div>
    </details>
  );
}
