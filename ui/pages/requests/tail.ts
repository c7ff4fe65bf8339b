// The log as it grows: lines arrive by server-sent events, and by asking again and again where no stream can be had. While
// the reader is further down, or looks at another tab, they wait and are counted.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { withAccount } from "../../api.ts";
import type { RequestLine } from "../../types.ts";

const KEPT_MAX = 200;
/** Further down than this, lines that slip in above would move what is being read. */
const READING_FROM_PX = 160;
const RETRY_MS = 10_000;
/** The gateway says every few seconds that it is there; a line that is dead without knowing it says nothing. */
const SILENT_MAX_MS = 20_000;

export interface Tail {
  /** Newest first. */
  readonly requests: readonly RequestLine[];
  /** How many have come that are not shown yet. */
  readonly waiting: number;
  /** `polling`: no stream can be had, so the list is to be read again and again. */
  readonly state: "off" | "streaming" | "polling";
  show(): void;
}

export function useTail(isOn: boolean, filter: string, reload: () => void): Tail {
  const shown = useSignal<readonly RequestLine[]>([]);
  const waiting = useSignal<readonly RequestLine[]>([]);
  const state = useSignal<Tail["state"]>("off");
  const path = withAccount(`/api/events?${filter.slice(1)}`);
  const show = (): void => {
    shown.value = [...waiting.value, ...shown.value].slice(0, KEPT_MAX);
    waiting.value = [];
  };
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
    const onScroll = (): void => {
      if (!isReading() && waiting.value.length > 0) show();
    };
    addEventListener("scroll", onScroll, { passive: true });
    return () => {
      removeEventListener("scroll", onScroll);
      stop();
      state.value = "off";
    };
  }, [isOn, path]);
  return { requests: shown.value, waiting: waiting.value.length, state: state.value, show };
}

function isReading(): boolean {
  return document.hidden || scrollY > READING_FROM_PX;
}

interface Listener {
  onRequest(request: RequestLine): void;
  onState(state: "streaming" | "polling"): void;
  /** Something was written that no line came of. */
  onGap(): void;
}

/** Not while the page is hidden: a tab in the background needs no stream. */
function listen(path: string, listener: Listener): () => void {
  let source: EventSource | null = null;
  let later: ReturnType<typeof setTimeout> | undefined;
  const close = (): void => {
    clearTimeout(later);
    source?.close();
    source = null;
  };
  const fallBackToPolling = (): void => {
    close();
    listener.onState("polling");
    later = setTimeout(open, RETRY_MS);
  };
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
    on("ready", () => {
      listener.onState("streaming");
      listener.onGap();
    });
    on("request", (data) => listener.onRequest(JSON.parse(data) as RequestLine));
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

/** What came live above what was read, each once, newest first. */
export function withLive(live: readonly RequestLine[], read: readonly RequestLine[]): readonly RequestLine[] {
  const known = new Set(read.map(({ id }) => id));
  const fresh = live.filter(({ id }) => !known.has(id));
  return [...fresh, ...read].sort((a, b) => (a.id < b.id ? 1 : -1));
}
