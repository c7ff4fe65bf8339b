// Copying text. Browsers offer no clipboard on plain-http addresses: there the text is selected for Ctrl+C.

import { useState } from "preact/hooks";
import * as TEXT from "./text.ts";

/** Time for which the button shows the outcome. */
const SAID_MS = 2_000;

/** Copies the text and tells whether that worked. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

/** A button that copies `text`; `onCopied` is called only where it worked. */
interface CopyButtonProps {
  readonly text: string;
  readonly label?: string;
  readonly kind?: "quiet" | "plain";
  readonly onCopied?: () => void;
}

/** Says in its own label what happened, and screen readers read it out. */
export function CopyButton({ text, label = TEXT.copy, kind = "quiet", onCopied }: CopyButtonProps) {
  const [said, setSaid] = useState<string | null>(null);
  const copy = async (): Promise<void> => {
    const isCopied = await copyText(text);
    setSaid(isCopied ? TEXT.copied : TEXT.pressToCopy);
    if (isCopied) onCopied?.();
    setTimeout(() => setSaid(null), SAID_MS);
  };
  return (
    <button type="button" class={`button ${kind} copy`} onClick={copy}>
      <span aria-live="polite">{said ?? label}</span>
    </button>
  );
}

/** A block of text with a copy button beside it. */
interface CopyBlockProps {
  readonly text: string;
  readonly label: string;
  readonly onCopied?: () => void;
}

/** Text to take away: a key, a link, a program. Focusing the block selects all of its text. */
export function CopyBlock({ text, label, onCopied }: CopyBlockProps) {
  return (
    <div class="copy-block">
      <TextBlock text={text} label={label} isSelected />
      <CopyButton text={text} {...(onCopied === undefined ? {} : { onCopied })} />
    </div>
  );
}

/** Number of rows; longer text scrolls inside the block. */
const ROWS_MAX = 24;

/** Text that is shown as it is. */
interface TextBlockProps {
  readonly text: string;
  readonly label: string;
  /** Selects the whole text on focus. */
  readonly isSelected?: boolean;
}

/** Shows text from any source as it is. A text area never reads markup, and the keyboard can scroll it. */
export function TextBlock({ text, label, isSelected = false }: TextBlockProps) {
  // About 90 characters fit into a row; longer lines wrap.
  const rows = text.split("\n").reduce((sum, line) => sum + 1 + Math.floor(line.length / 90), 0);
  return (
    <textarea
      class="text-block code"
      readOnly
      spellcheck={false}
      aria-label={label}
      rows={Math.min(ROWS_MAX, rows)}
      value={text}
      onFocus={(event) => {
        if (isSelected) event.currentTarget.select();
      }}
    />
  );
}
