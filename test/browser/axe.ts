// Accessibility faults that axe finds on a page: serious and critical ones only.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface AxeFault {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

/** Themes differ in colours only, and widths in sizes, so that the light one at full width is checked for all rules. */
const RULES = {
  light: "['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']",
  dark: "{ type: 'rule', values: ['color-contrast'] }",
  narrow: "{ type: 'rule', values: ['color-contrast', 'target-size', 'scrollable-region-focusable'] }",
};

/** In the part of the page that matches, or in all of it. */
export async function faultsOf(page: Page, rules: keyof typeof RULES, part?: string): Promise<readonly string[]> {
  // The script is large: once for each document.
  if (!(await page.evaluate<boolean>("'axe' in window"))) await page.evaluate(axe);
  const faults = await page.evaluate<readonly AxeFault[]>(
    `axe.run(${part === undefined ? "document" : JSON.stringify(part)}, { runOnly: ${RULES[rules]}, resultTypes: ["violations"] }).then((r) => r.violations)`,
  );
  return faults
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(
      ({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 160)} (${nodes.length}) ${nodes[0]?.failureSummary ?? ""}`,
    );
}
