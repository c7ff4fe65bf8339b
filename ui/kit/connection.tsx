// The strip on every page that says how the connection stands. It also retries, for all parts of the page.

import { useEffect } from "preact/hooks";
import { failing, heardAtMs, hearTabs, isOffline, RETRY_MS, refresh, useRepeat } from "../api.ts";
import { clock } from "../format.ts";
import { Button } from "./button.tsx";
import { covered } from "./states.tsx";
import * as TEXT from "./text.ts";

/** Time in the background after which a page counts as out of date. */
const AWAY_MS = 5_000;

/** Stays empty while all is well. Failures that are shown in their own place are not repeated here. */
export function Connection() {
  useRepeat(isOffline.value ? RETRY_MS : 0, refresh);
  useEffect(watch, []);
  useEffect(hearTabs, []);
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

/** The browser knows first that the network is gone. A page that is looked at again reads again, in another window, too. */
function watch(): () => void {
  let awayAtMs = Date.now();
  const lose = (): void => {
    isOffline.value = true;
  };
  const look = ({ type }: Event): void => {
    const isBack = type !== "blur" && !document.hidden;
    if (isBack && Date.now() - awayAtMs > AWAY_MS) refresh();
    awayAtMs = Date.now();
  };
  addEventListener("offline", lose);
  addEventListener("online", refresh);
  const looks = ["focus", "blur", "visibilitychange"];
  for (const event of looks) addEventListener(event, look);
  return () => {
    removeEventListener("offline", lose);
    removeEventListener("online", refresh);
    for (const event of looks) removeEventListener(event, look);
  };
}
