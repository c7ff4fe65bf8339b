// The live tail of the request log. Requests arrive by server-sent events, or by polling where no stream can be opened.
// While the reader is further down, they wait and are counted.

import { useEffect } from "preact/hooks";
import { withAccount } from "../../api.ts";
import { useSignal } from "../../signal.ts";
import type { RequestLine } from "../../types.ts";

/** Number of live rows, more than anybody follows; older ones are on the next page. */
const KEPT_MAX = 200;
/** Distance from the top. Further down, rows that slip in above would move what is being read. */
const READING_FROM_PX = 160;
/** Pause before a stream is tried again while polling. */
const RETRY_MS = 10_000;
/**
 * The gateway sends a sign of life every few seconds. A silent connection is dead, even if the browser does not know.
 */
const SILENT_MAX_MS = 20_000;

/** State of the live tail, as the list shows it. */
export interface Tail {
  /** Newest first. */
  readonly requests: readonly RequestLine[];
  /** Number of requests that have arrived and are not shown yet. */
  readonly waiting: number;
  /** `polling`: no stream can be opened, so the list must be read again and again. */
  readonly state: "off" | "streaming" | "polling";
  /** Shows the requests that are waiting. */
  show(): void;
}

/** `reload` reads the list, which holds what the stream did not bring. */
export function useTail(isOn: boolean, filter: string, reload: () => void): Tail {
  const shown = useSignal<readonly RequestLine[]>([]);
  const waiting = useSignal<readonly RequestLine[]>([]);
  const state = useSignal<Tail["state"]>("off");
  const path = withAccount(`/api/events?${filter.slice(1)}`);
  const show = (): void => {
    shown.value = [...waiting.value, ...shown.value].slice(0, KEPT_MAX);
    waiting.value = [];
  };
  // Other filters are another stream, and start empty.
  useEffect(() => {
    shown.value = [];
    waiting.value = [];
    if (!isOn) return;
    const stop = listen(path, {
      onRequest: (request) => {
        waiting.value = [request, ...waiting.value].slice(0, KEPT_MAX);
        if (!isReading()) show();
      },
      onState: (next) => {
        state.value = next;
      },
      onGap: reload,
    });
    // Back at the top, the reader sees what waited.
    const onScroll = (): void => {
      if (!isReading() && waiting.value.length > 0) show();
    };
    // In the capture phase, because the table scrolls by itself.
    addEventListener("scroll", onScroll, { passive: true, capture: true });
    return () => {
      removeEventListener("scroll", onScroll, { capture: true });
      stop();
      state.value = "off";
    };
  }, [isOn, path]);
  return { requests: shown.value, waiting: waiting.value.length, state: state.value, show };
}

/** Tells whether new rows must wait: the reader is further down, or the tab is hidden and read later. */
function isReading(): boolean {
  const box = document.querySelector(".table-box");
  return document.hidden || scrollY + (box?.scrollTop ?? 0) > READING_FROM_PX;
}

/** Receives what happens on a stream. */
interface Listener {
  onRequest(request: RequestLine): void;
  onState(state: "streaming" | "polling"): void;
  /** Requests were written that the stream did not carry. */
  onGap(): void;
}

/** Opens a stream and keeps it open. A hidden tab needs none: it closes, and opens again when seen. */
function listen(path: string, listener: Listener): () => void {
  let source: EventSource | null = null;
  let later: ReturnType<typeof setTimeout> | undefined;
  const close = (): void => {
    clearTimeout(later);
    source?.close();
    source = null;
  };
  // The stream is tried again by itself, since the gateway may only have restarted.
  const fallBackToPolling = (): void => {
    close();
    listener.onState("polling");
    later = setTimeout(open, RETRY_MS);
  };
  // Every event puts off the moment at which the connection counts as dead.
  const onSignOfLife = (): void => {
    clearTimeout(later);
    later = setTimeout(fallBackToPolling, SILENT_MAX_MS);
  };
  function open(): void {
    close();
    source = new EventSource(path);
    source.onerror = fallBackToPolling;
    const on = (name: string, act: (data: string) => void): void =>
      source?.addEventListener(name, ({ data }) => {
        onSignOfLife();
        act(data);
      });
    // Something may have happened between reading the list and opening the stream.
    on("ready", () => {
      listener.onState("streaming");
      listener.onGap();
    });
    on("request", (data) => listener.onRequest(JSON.parse(data) as RequestLine));
    // The event only shows that the connection lives.
    on("alive", () => undefined);
    for (const name of ["changed", "missed"]) on(name, () => listener.onGap());
  }
  const onVisibility = (): void => (document.hidden ? close() : open());
  document.addEventListener("visibilitychange", onVisibility);
  addEventListener("offline", fallBackToPolling);
  if (!document.hidden) open();
  return () => {
    document.removeEventListener("visibilitychange", onVisibility);
    removeEventListener("offline", fallBackToPolling);
    close();
  };
}

/** Back to the newest, of the page and of the table. */
export function toTop(): void {
  scrollTo({ top: 0 });
  document.querySelector(".table-box")?.scrollTo({ top: 0 });
}

/** Live requests above those that were read, each once, newest first. Ids sort by time. */
export function withLive(live: readonly RequestLine[], read: readonly RequestLine[]): readonly RequestLine[] {
  const known = new Set(read.map(({ id }) => id));
  const fresh = live.filter(({ id }) => !known.has(id));
  return [...fresh, ...read].sort((a, b) => (a.id < b.id ? 1 : -1));
}
