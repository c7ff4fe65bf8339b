// What stands where data is not: still coming, none yet, filtered away, failed, or not allowed. All keep the place's size.

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { ApiError, Load } from "../api.ts";
import { clock } from "../format.ts";
import { Button } from "./button.tsx";

const SHOW_SKELETON_AFTER_MS = 150;

interface ShownProps<T> {
  readonly load: Load<T>;
  /** How tall the place is, in table rows. */
  readonly rows?: number;
  readonly children: (data: T) => ComponentChildren;
}

/** Shows what was loaded, else how that stands. Data that is out of date stays in sight, dimmed. */
export function Shown<T>({ load, rows = 4, children }: ShownProps<T>) {
  if (load.data === null) {
    return load.error === null ? <Skeleton rows={rows} /> : <Failed error={load.error} onRetry={load.reload} />;
  }
  return (
    <div class={load.isStale ? "shown stale" : "shown"} aria-busy={load.isStale}>
      {load.error !== null && <Stale load={load} />}
      {children(load.data)}
    </div>
  );
}

function Stale<T>({ load }: { readonly load: Load<T> }) {
  const since = load.loadedAtMs === null ? "" : `Last updated ${clock(load.loadedAtMs)} UTC. `;
  return (
    <p class="notice warn" role="status">
      {since}
      {load.error?.status === 0 ? "Reconnecting…" : load.error?.message}{" "}
      <Button kind="quiet" onClick={load.reload}>
        Retry now
      </Button>
    </p>
  );
}

export function Skeleton({ rows = 4 }: { readonly rows?: number }) {
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), SHOW_SKELETON_AFTER_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div class={isShown ? "skeleton" : "skeleton unseen"} aria-busy="true">
      <span class="hidden">Loading…</span>
      {Array.from({ length: rows }, (_, index) => (
        <i key={index} />
      ))}
    </div>
  );
}

interface EmptyProps {
  readonly title: string;
  readonly children?: ComponentChildren;
  readonly action?: ComponentChildren;
}

export function Empty({ title, children, action }: EmptyProps) {
  return (
    <div class="empty">
      <h3>{title}</h3>
      {children !== undefined && <p>{children}</p>}
      {action}
    </div>
  );
}

export function Failed({ error, onRetry }: { readonly error: ApiError; readonly onRetry?: () => void }) {
  const isForbidden = error.status === 403;
  return (
    <div class="empty failed" role="alert">
      <h3>{isForbidden ? "Not yours to see" : "This could not be loaded"}</h3>
      <p>{error.message}</p>
      {error.requestId !== null && (
        <p class="faint">
          Request id <code>{error.requestId}</code>
        </p>
      )}
      {onRetry !== undefined && !isForbidden && <Button onClick={onRetry}>Retry</Button>}
    </div>
  );
}

/** An error of something the user asked for, beside the button that asked. */
export function Problem({ error }: { readonly error: ApiError | null }) {
  if (error === null) return null;
  return (
    <p class="notice bad" role="alert">
      {error.message}
      {error.requestId !== null && <span class="faint"> · request {error.requestId}</span>}
    </p>
  );
}
