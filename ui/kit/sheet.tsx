// A panel beside a list, about one of its rows. The list stays usable; on a phone the panel covers it.

import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import * as TEXT from "./text.ts";

/** Header and footer stay in sight while the body scrolls. */
interface SheetProps {
  readonly label: string;
  readonly header: ComponentChildren;
  readonly children: ComponentChildren;
  readonly footer?: ComponentChildren;
  readonly onClose: () => void;
}

/** A panel, not a dialog: the page behind keeps working, so the sheet takes the focus but does not hold it. */
export function Sheet({ label, header, children, footer, onClose }: SheetProps) {
  const panel = useRef<HTMLElement>(null);
  // The row that opened the sheet may no longer be there when it closes.
  useEffect(() => {
    const opener = document.activeElement;
    panel.current?.focus();
    return () => {
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
    };
  }, []);
  return (
    <section class="sheet" ref={panel} tabIndex={-1} aria-label={label}>
      <header>
        <div class="grow">{header}</div>
        <button type="button" class="button quiet icon" aria-label={TEXT.closeWithKey} onClick={onClose}>
          ✕
        </button>
      </header>
      <div class="sheet-body">{children}</div>
      {footer !== undefined && <footer>{footer}</footer>}
    </section>
  );
}
