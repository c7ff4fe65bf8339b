// @ts-check
// Renders the table of log events in docs/operate/logs.md from src/core/events.ts.

import { tableOf } from "../setup/generated.mjs";

/** @param {string} _root @param {import("../docs.mjs").Load} load */
export async function render(_root, load) {
  /** @type {typeof import("../../src/core/events.ts")} */
  const { LOG_EVENTS } = await load("core/events.ts");
  const rows = Object.entries(LOG_EVENTS).map(([event, { level, meaning }]) => [`\`${event}\``, level, meaning]);
  return [{ path: "docs/operate/logs.md", block: "log-events", text: tableOf(["event", "level", "meaning"], rows) }];
}
