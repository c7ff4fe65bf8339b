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

/** The themes differ in colours only, so the dark one is checked for contrast alone. */
const RULES = {
  light: "['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']",
  dark: "{ type: 'rule', values: ['color-contrast'] }",
};

export async function faultsOf(page: Page, theme: keyof typeof RULES): Promise<readonly string[]> {
  await page.evaluate(axe);
  const faults = await page.evaluate<readonly AxeFault[]>(
    `axe.run(document, { runOnly: ${RULES[theme]}, resultTypes: ["violations"] }).then((r) => r.violations)`,
  );
  return faults
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(
      ({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 160)} (${nodes.length}) ${nodes[0]?.failureSummary ?? ""}`,
    );
}
