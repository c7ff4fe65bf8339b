// A dialog over the page. It is the browser's own, which holds the focus and closes by Escape.

import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Button } from "./button.tsx";
import * as TEXT from "./text.ts";

/** The title names the dialog for screen readers, too. */
interface DialogProps {
  readonly title: string;
  readonly children: ComponentChildren;
  /** Called on Escape, the cross and a click beside the dialog. The opener decides whether the dialog closes. */
  readonly onClose: () => void;
  readonly isWide?: boolean;
}

/**
 * Open as long as it is mounted. The focus goes back to where it came from. What was typed into a form in it is not lost
 * by Escape, the cross or a click beside it without a question.
 */
export function Dialog({ title, children, onClose: onClosed, isWide = false }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  // Not a state: typing needs no new drawing.
  const isEdited = useRef(false);
  const [isAsking, setAsking] = useState(false);
  const onClose = (): void => (isEdited.current ? setAsking(true) : onClosed());
  const titleId = useId();
  // Before the first paint: a key pressed now is already meant for the dialog.
  useLayoutEffect(() => {
    const opener = document.activeElement;
    dialog.current?.showModal();
    return () => {
      dialog.current?.close();
      if (opener instanceof HTMLElement) opener.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      class={isWide ? "wide" : ""}
      aria-labelledby={titleId}
      // The browser would close it at once; the opener may want to ask first.
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onInput={({ target }) => {
        isEdited.current = target instanceof Element && target.closest("form") !== null;
      }}
      onSubmit={() => {
        isEdited.current = false;
      }}
      // Keys typed in the dialog are not shortcuts of the page behind it.
      onKeyDown={(event) => event.stopPropagation()}
      // The dialog element itself is hit only beside its body, on the backdrop.
      onClick={(event) => {
        if (event.target === dialog.current) onClose();
      }}
    >
      <div class="dialog-body">
        <header>
          <h2 id={titleId}>{title}</h2>
          <button type="button" class="button quiet icon" aria-label={TEXT.close} onClick={onClose}>
            ✕
          </button>
        </header>
        {isAsking && (
          <p class="notice warn row" role="alert">
            <span class="grow">{TEXT.discardQuestion}</span>
            <Button onClick={() => setAsking(false)}>{TEXT.keepEditing}</Button>
            <Button kind="danger" onClick={onClosed}>
              {TEXT.discard}
            </Button>
          </p>
        )}
        {children}
      </div>
    </dialog>
  );
}
