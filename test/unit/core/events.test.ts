// The log events: names of one form, and a page that lists exactly the table.

import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { render } from "../../../scripts/docs/events.mjs";
import { LOG_EVENTS } from "../../../src/core/events.ts";

const ROOT = new URL("../../../", import.meta.url).pathname;

describe("the log events", () => {
  it("are named subject, dot, what happened", () => {
    for (const name of Object.keys(LOG_EVENTS)) expect(name).toMatch(/^[a-z_]+\.[a-z_]+$/);
  });

  it("say what happened in one or two short sentences", () => {
    for (const { meaning } of Object.values(LOG_EVENTS)) {
      expect(meaning).toMatch(/\.$/);
      expect(meaning.split(/\s+/).length).toBeLessThan(30);
    }
  });

  it("are all listed on the page, and nothing else is", async () => {
    const [block] = await render(ROOT, async () => ({ LOG_EVENTS }));
    const page = readFileSync(`${ROOT}docs/operate/logs.md`, "utf8");
    expect(page).toContain(`(npm run docs) -->\n\n${block?.text}\n\n<!-- end: ${block?.block} -->`);
  });

  it("are all written somewhere", () => {
    const files = readdirSync(`${ROOT}src`, { recursive: true, encoding: "utf8" });
    const sources = files.filter((name) => name.endsWith(".ts") && name !== "core/events.ts");
    const source = sources.map((name) => readFileSync(`${ROOT}src/${name}`, "utf8")).join("");
    expect(Object.keys(LOG_EVENTS).filter((name) => !source.includes(`"${name}"`))).toEqual([]);
  });
});
