// @ts-check
// Renders the table of log events in docs/operate/logs.md from src/core/events.ts.

/** @typedef {{ level: string, meaning: string }} EventRow */

/** One row per event, in the order of the table. */
export async function render(
  /** @type {string} */ _root,
  /** @type {(path: string) => Promise<{ LOG_EVENTS: Readonly<Record<string, EventRow>> }>} */ load,
) {
  const { LOG_EVENTS } = await load("core/events.ts");
  const rows = Object.entries(LOG_EVENTS).map(
    ([event, { level, meaning }]) => `| \`${event}\` | ${level} | ${meaning} |`,
  );
  const text = ["| event | level | meaning |", "|---|---|---|", ...rows].join("\n");
  return [{ path: "docs/operate/logs.md", block: "log-events", text }];
}
