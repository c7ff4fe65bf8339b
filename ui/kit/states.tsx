// Placeholders for data that is loading, empty, failed or not allowed. Each keeps the size of the place, so
// that nothing jumps.

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { ApiError, Load } from "../api.ts";
import { clock } from "../format.ts";
import { signal } from "../signal.ts";
import { Button } from "./button.tsx";
import * as TEXT from "./text.ts";

/** Pause before a skeleton shows, so that a fast response does not flash one. */
const SHOW_SKELETON_AFTER_MS = 150;

/** Props of `Shown`, which draws the data of a load once there is some. */
interface ShownProps<T> {
  readonly load: Load<T>;
  /** Height of the placeholder, in table rows. */
  readonly rows?: number;
  /** Placeholder while the data loads, where the page has another shape than rows. */
  readonly frame?: ComponentChildren;
  /**
   * Rows of other filters stay in sight, dimmed, until those of these filters come. For lists whose rows name
   * themselves; `children` must then take everything from its argument.
   */
  readonly keepsRows?: boolean;
  readonly children: (data: T) => ComponentChildren;
}

/** Every state of a load: still loading, failed, there, and there but out of date. Nothing else draws what was read. */
export function Shown<T>({ load, rows = 4, frame, keepsRows = false, children }: ShownProps<T>) {
  useEffect(() => cover(load.path), [load.path]);
  const data = load.data ?? (keepsRows ? load.previous : null);
  if (data === null) {
    if (load.error !== null) return <Failed error={load.error} onRetry={load.reload} />;
    return <>{frame === undefined ? <Skeleton rows={rows} /> : frame}</>;
  }
  const isOld = load.isStale || load.data === null;
  return (
    <div class={isOld ? "shown stale" : "shown"} aria-busy={isOld}>
      {load.error !== null && load.error.status !== 0 && <Stale load={load} />}
      {children(data)}
    </div>
  );
}

/** Addresses whose failures are said where their data would be. The strip of the page says the others. */
export const covered = signal<readonly string[]>([]);

function cover(path: string | null): (() => void) | undefined {
  if (path === null) return;
  covered.value = [...covered.value, path];
  return () => {
    const at = covered.value.indexOf(path);
    covered.value = covered.value.filter((_, index) => index !== at);
  };
}

/** Says how old the data is and offers to read it now. The page also retries on its own. */
function Stale<T>({ load }: { readonly load: Load<T> }) {
  return (
    <p class="notice warn" role="status">
      {load.loadedAtMs !== null && TEXT.lastUpdated(clock(load.loadedAtMs))} {load.error?.message}{" "}
      <Button kind="quiet" onClick={load.reload}>
        {TEXT.retry}
      </Button>
    </p>
  );
}

/** Takes the room of the data at once and becomes visible a little later. */
export function Skeleton({ rows = 4 }: { readonly rows?: number }) {
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), SHOW_SKELETON_AFTER_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div class={isShown ? "skeleton" : "skeleton unseen"} aria-busy="true">
      <span class="hidden">{TEXT.loading}</span>
      {Array.from({ length: rows }, (_, index) => (
        <i key={index} />
      ))}
    </div>
  );
}

/** A title, why there is nothing, and what to do about it. */
interface EmptyProps {
  readonly title: string;
  readonly children?: ComponentChildren;
  readonly action?: ComponentChildren;
}

/** Says that there is no data, which is no failure. */
export function Empty({ title, children, action }: EmptyProps) {
  return (
    <div class="empty">
      <h3>{title}</h3>
      {children !== undefined && <p>{children}</p>}
      {action}
    </div>
  );
}

/** Says that data could not be loaded. Users without the right to see the data are not offered a retry. */
export function Failed({ error, onRetry }: { readonly error: ApiError; readonly onRetry?: () => void }) {
  const isForbidden = error.status === 403;
  return (
    <div class="empty failed" role="alert">
      <h3>{isForbidden ? TEXT.noAccess : TEXT.notLoaded}</h3>
      <p>{error.message}</p>
      {error.requestId !== null && (
        <p class="faint">
          {TEXT.requestId} <code>{error.requestId}</code>
        </p>
      )}
      {onRetry !== undefined && !isForbidden && <Button onClick={onRetry}>{TEXT.retry}</Button>}
    </div>
  );
}

/** An error of something the user asked for, beside the button that asked. */
export function Problem({ error }: { readonly error: ApiError | null }) {
  if (error === null) return null;
  return (
    <p class="notice bad" role="alert">
      {error.message}
      {error.requestId !== null && <span class="faint"> {TEXT.requestNamed(error.requestId)}</span>}
    </p>
  );
}
