// Toasts: short notices that something was done, read out politely and removed after a while.

import { signal } from "@preact/signals";

/** A notice on screen. The id tells two with the same text apart. */
interface Notice {
  readonly id: number;
  readonly text: string;
}

/** Long enough to read two sentences. */
const SHOWN_MS = 5_000;
// Module state: any part of the dashboard may show a toast, and one place draws them.
const notices = signal<readonly Notice[]>([]);
let lastId = 0;

/** At most three at a time; the oldest goes first. */
export function showToast(text: string): void {
  lastId += 1;
  const notice = { id: lastId, text };
  notices.value = [...notices.value.slice(-2), notice];
  setTimeout(() => {
    notices.value = notices.value.filter(({ id }) => id !== notice.id);
  }, SHOWN_MS);
}

/** Always mounted: a live region is read out only when it was there before its content. */
export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {notices.value.map(({ id, text }) => (
        <p key={id}>{text}</p>
      ))}
    </div>
  );
}
