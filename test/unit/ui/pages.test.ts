// The shared list of dashboard pages: each row has its folder, and no two rows want the same path or key.

import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { DASHBOARD_PAGES } from "../../../src/http/pages/dashboard-pages.ts";

test.each(DASHBOARD_PAGES)("$name has a folder and a key that its title contains", ({ name, title, key }) => {
  expect(existsSync(new URL(`../../../ui/pages/${name}/index.tsx`, import.meta.url))).toBe(true);
  expect(title.toLowerCase()).toContain(key);
  expect(key).toMatch(/^[a-z]$/);
});

test.each(["name", "path", "key"] as const)("no two pages share a %s", (field) => {
  const values = DASHBOARD_PAGES.map((page) => page[field]);
  expect(new Set(values).size).toBe(values.length);
});

test("no page's key is the letter that announces it", () => {
  expect(DASHBOARD_PAGES.map(({ key }) => key)).not.toContain("g");
});
