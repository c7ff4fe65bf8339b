// The one strip that says how the connection stands, on every page. It also asks again, for all parts of the page.

import { useEffect } from "preact/hooks";
import { failing, heardAtMs, isOffline, RETRY_MS, refresh, useRepeat } from "../api.ts";
import { clock } from "../format.ts";
import { Button } from "./button.tsx";
import { covered } from "./states.tsx";
import * as TEXT from "./text.ts";

/** A page that was in the background for less is not out of date. */
const AWAY_MS = 5_000;

/** Nothing while all is well. Failures that are said in their own place are not repeated here. */
export function Connection() {
  useRepeat(isOffline.value ? RETRY_MS : 0, refresh);
  useEffect(watch, []);
  const [error] = [...failing.value].filter(([path]) => !covered.value.includes(path)).map(([, each]) => each);
  if (!isOffline.value && error === undefined) return null;
  return (
    <p role="status">
      {isOffline.value
        ? `${TEXT.reconnecting} ${TEXT.lastUpdated(clock(heardAtMs))}`
        : TEXT.someFailed(error?.message ?? "")}{" "}
      <Button kind="quiet" onClick={refresh}>
        {TEXT.retry}
      </Button>
    </p>
  );
}

/** The browser knows first that the network is gone. A page that is looked at again reads again. */
function watch(): () => void {
  let hiddenAtMs = Date.now();
  const lose = (): void => {
    isOffline.value = true;
  };
  const look = (): void => {
    if (document.hidden) hiddenAtMs = Date.now();
    else if (Date.now() - hiddenAtMs > AWAY_MS) refresh();
  };
  addEventListener("offline", lose);
  addEventListener("online", refresh);
  document.addEventListener("visibilitychange", look);
  return () => {
    removeEventListener("offline", lose);
    removeEventListener("online", refresh);
    document.removeEventListener("visibilitychange", look);
  };
}
