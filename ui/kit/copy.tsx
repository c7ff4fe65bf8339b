// Copying text. On plain-http addresses browsers offer no clipboard: there the text is selected for Ctrl+C.

import { useState } from "preact/hooks";

const SAID_MS = 2_000;

export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

interface CopyButtonProps {
  readonly text: string;
  readonly label?: string;
  readonly kind?: "quiet" | "plain";
  readonly onCopied?: () => void;
}

export function CopyButton({ text, label = "Copy", kind = "quiet", onCopied }: CopyButtonProps) {
  const [said, setSaid] = useState<string | null>(null);
  const copy = async (): Promise<void> => {
    const isCopied = await copyText(text);
    setSaid(isCopied ? "Copied" : "Select it and press Ctrl+C");
    if (isCopied) onCopied?.();
    setTimeout(() => setSaid(null), SAID_MS);
  };
  return (
    <button type="button" class={`button ${kind} copy`} onClick={copy}>
      <span aria-live="polite">{said ?? label}</span>
    </button>
  );
}

interface CopyBlockProps {
  readonly text: string;
  readonly label: string;
  readonly onCopied?: () => void;
}

/** A block of text to take away. Going into it selects it all. */
export function CopyBlock({ text, label, onCopied }: CopyBlockProps) {
  return (
    <div class="copy-block">
      <TextBlock text={text} label={label} isSelected />
      <CopyButton text={text} {...(onCopied === undefined ? {} : { onCopied })} />
    </div>
  );
}

const ROWS_MAX = 24;

interface TextBlockProps {
  readonly text: string;
  readonly label: string;
  /** Whether going into it selects it. */
  readonly isSelected?: boolean;
}

/** Text as it is, whoever wrote it: never read as markup, and reachable by keyboard where it scrolls. */
export function TextBlock({ text, label, isSelected = false }: TextBlockProps) {
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
