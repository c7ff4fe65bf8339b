// Short notices that something was done, read out politely and gone after a while.

import { signal } from "@preact/signals";

interface Notice {
  readonly id: number;
  readonly text: string;
}

const SHOWN_MS = 5_000;
const notices = signal<readonly Notice[]>([]);
let lastId = 0;

export function showToast(text: string): void {
  lastId += 1;
  const notice = { id: lastId, text };
  notices.value = [...notices.value.slice(-2), notice];
  setTimeout(() => {
    notices.value = notices.value.filter(({ id }) => id !== notice.id);
  }, SHOWN_MS);
}

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {notices.value.map(({ id, text }) => (
        <p key={id}>{text}</p>
      ))}
    </div>
  );
}
