// Accessibility faults that axe finds on a page: serious and critical ones only.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";
import { BUSY } from "./dashboard.ts";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface AxeFault {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

/** Themes differ in colours only, and widths in sizes, so that the light one at full width is checked for all rules. */
const RULES = {
  light: "['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']",
  dark: "{ type: 'rule', values: ['color-contrast'] }",
  narrow: "{ type: 'rule', values: ['color-contrast', 'target-size', 'scrollable-region-focusable'] }",
};

/** In the part of the page that matches, or in all of it. Sets the theme, and the width stays as it is. */
export async function faultsOf(page: Page, rules: keyof typeof RULES, part?: string): Promise<readonly string[]> {
  await page.emulateMedia({ colorScheme: rules === "dark" ? "dark" : "light" });
  // The script is large: once for each document.
  if (!(await page.evaluate<boolean>("'axe' in window"))) await page.evaluate(axe);
  for (;;) {
    await page.locator(BUSY).first().waitFor({ state: "detached" });
    const where = part === undefined ? "document" : JSON.stringify(part);
    const seen = await page.evaluate<Seen>(look(`axe.run(${where}, { runOnly: ${RULES[rules]}, ${ONLY_FAULTS} })`));
    // What was read again during the look was dimmed for a part of it, which is no lack of contrast: another look.
    if (!seen.wasBusy) return [...seen.moving, ...seen.violations.filter(isSerious).map(describe)];
  }
}

interface Seen {
  /** What is animated although the browser asks for no motion. */
  readonly moving: readonly string[];
  readonly violations: readonly AxeFault[];
  readonly wasBusy: boolean;
}

const ONLY_FAULTS = "resultTypes: ['violations']";

const look = (run: string): string => `(async () => {
  let wasBusy = false;
  const observer = new MutationObserver(() => { wasBusy ||= document.querySelector(${JSON.stringify(BUSY)}) !== null; });
  observer.observe(document, { subtree: true, childList: true, attributes: true });
  const moving = document.getAnimations().map(({ effect }) => "moves: " + effect.target.outerHTML.slice(0, 160));
  const { violations } = await ${run};
  observer.disconnect();
  return { moving, violations, wasBusy };
})()`;

function isSerious({ impact }: AxeFault): boolean {
  return impact === "serious" || impact === "critical";
}

function describe({ id, nodes }: AxeFault): string {
  return `${id}: ${nodes[0]?.html.slice(0, 160)} (${nodes.length}) ${nodes[0]?.failureSummary ?? ""}`;
}
