// Toasts: short notices that something was done, read out politely and removed after a while.

import { signal } from "../signal.ts";

/** A notice on screen. The id tells two with the same text apart. */
interface Notice {
  readonly id: number;
  readonly text: string;
  readonly link: NoticeLink | null;
}

/** Link that leads on from what was done, or button that takes it back. */
interface NoticeLink {
  readonly text: string;
  readonly href?: string;
  readonly act?: () => void;
}

/** Time to read two sentences. */
const SHOWN_MS = 5_000;
/** Time to reach a link, too. */
const LINK_SHOWN_MS = 15_000;
// Module state: any part of the dashboard may show a toast, and one place draws them.
const notices = signal<readonly Notice[]>([]);
let lastId = 0;

/** Shows at most three toasts at a time; the oldest goes first. */
export function showToast(text: string, link: NoticeLink | null = null): void {
  lastId += 1;
  const notice = { id: lastId, text, link };
  notices.value = [...notices.value.slice(-2), notice];
  setTimeout(() => remove(notice.id), link === null ? SHOWN_MS : LINK_SHOWN_MS);
}

function remove(id: number): void {
  notices.value = notices.value.filter((notice) => notice.id !== id);
}

/** Stays mounted: a live region is read out only if it existed before its content. */
export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {notices.value.map(({ id, text, link }) => (
        <p key={id}>
          {text}{" "}
          {link?.href !== undefined && (
            <a href={link.href} onClick={() => remove(id)}>
              {link.text}
            </a>
          )}
          {link?.act !== undefined && (
            <button
              type="button"
              class="button"
              onClick={() => {
                remove(id);
                link.act?.();
              }}
            >
              {link.text}
            </button>
          )}
        </p>
      ))}
    </div>
  );
}
