// @ts-check
// npm run screenshots: makes docs/images/*.png anew from a gateway that `switchyard demo` gave a month of made-up traffic.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { startDemo } from "./screenshots/demo.mjs";
import { ROOT, SetupError } from "./setup/surroundings.mjs";
import { runScript, setUp } from "./setup.mjs";

/** @typedef {import("playwright-core").Page} Page */
/** @typedef {{ name: string, path: string, act?: (page: Page) => Promise<void>, theme?: "light" | "dark", isPhone?: boolean }} Picture */

const FOLDER = join(ROOT, "docs", "images");
const PROMPT = "Find the race condition in this worker pool and explain why the test only fails under load.";

/** @type {readonly Picture[]} */
const PICTURES = [
  { name: "overview", path: "/?range=7d&live=off" },
  { name: "overview-dark", path: "/?range=7d&live=off", theme: "dark" },
  { name: "overview-phone", path: "/?range=7d&live=off", isPhone: true },
  { name: "requests", path: "/requests?range=7d&tier=STANDARD", act: openFirst },
  { name: "requests-dark", path: "/requests?range=7d&fallback=true&tab=attempts", act: openFirst, theme: "dark" },
  { name: "requests-filters", path: "/requests?range=30d&adjusted=true&costFrom=0.001&tier=LIGHT", act: openFilters },
  { name: "requests-phone", path: "/requests?range=7d", isPhone: true },
  { name: "request-phone", path: "/requests?range=7d&tier=COMPLEX", act: openFirst, isPhone: true },
  { name: "cost", path: "/requests?range=7d&tier=COMPLEX&tab=cost", act: openFirst },
  { name: "playground", path: "/playground", act: typePrompt },
  { name: "playground-dark", path: "/playground", act: typePrompt, theme: "dark" },
  { name: "playground-phone", path: "/playground", act: typePrompt, isPhone: true },
  { name: "keys", path: "/keys" },
  { name: "keys-dark", path: "/keys", theme: "dark" },
  { name: "keys-phone", path: "/keys", isPhone: true },
  { name: "profiles", path: "/profiles", act: editFirst },
  { name: "profiles-dark", path: "/profiles", act: editFirst, theme: "dark" },
  { name: "credits", path: "/credits" },
  { name: "credits-dark", path: "/credits", theme: "dark" },
  { name: "credits-phone", path: "/credits", isPhone: true },
  { name: "models", path: "/models" },
  { name: "models-dark", path: "/models?model=deepseek-v4-flash", theme: "dark" },
  { name: "models-phone", path: "/models", isPhone: true },
  { name: "settings", path: "/settings" },
  { name: "settings-dark", path: "/settings", theme: "dark" },
];

await runScript(async () => {
  await setUp({ dev: true });
  mkdirSync(FOLDER, { recursive: true });
  const browser = await openBrowser();
  const demo = await startDemo();
  try {
    const wanted = process.argv.slice(2);
    const state = await signIn(browser, demo.setupLink);
    for (const picture of PICTURES) {
      if (wanted.length === 0 || wanted.includes(picture.name)) await take(picture, { browser, state, url: demo.url });
    }
  } finally {
    await browser.close();
    await demo.stop();
  }
});

async function openBrowser() {
  const { chromium } = await import("playwright-core");
  const { default: packed } = await import("@sparticuz/chromium");
  packed.setGraphicsMode = false;
  const executablePath = process.env.SWITCHYARD_TEST_BROWSER ?? (await packed.executablePath());
  return chromium.launch({ executablePath, args: ["--no-sandbox"] }).catch((error) => {
    throw new SetupError(`No browser starts here: ${error.message.split("\n")[0]}`);
  });
}

async function signIn(/** @type {import("playwright-core").Browser} */ browser, /** @type {string} */ setupLink) {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(setupLink);
  await page.getByLabel("E-mail").fill("ops@example.com");
  await page.getByLabel("Password").fill("only for these pictures");
  await page.getByRole("button", { name: "Set up" }).click();
  await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
  const state = await context.storageState();
  await context.close();
  return state;
}

/**
 * @param {Picture} picture
 * @param {{ browser: import("playwright-core").Browser, state: any, url: string }} studio
 */
async function take({ name, path, act, theme = "light", isPhone = false }, { browser, state, url }) {
  const context = await browser.newContext({
    storageState: state,
    colorScheme: theme,
    reducedMotion: "reduce",
    viewport: isPhone ? { width: 390, height: 844 } : { width: 1440, height: 900 },
    deviceScaleFactor: isPhone ? 2 : 1,
  });
  const page = await context.newPage();
  await page.goto(url + path, { waitUntil: "networkidle" });
  await act?.(page);
  await page.locator(".skeleton, .stale").first().waitFor({ state: "detached" });
  await page.screenshot({ path: join(FOLDER, `${name}.png`) });
  await context.close();
  console.log(`docs/images/${name}.png`);
}

async function openFirst(/** @type {Page} */ page) {
  await page.locator(".requests tbody tr").first().click();
  await page.locator(".sheet [role=tabpanel]").waitFor();
}

async function openFilters(/** @type {Page} */ page) {
  await page.getByText("More filters", { exact: true }).click();
}

async function typePrompt(/** @type {Page} */ page) {
  await page.getByLabel("Prompt", { exact: true }).fill(PROMPT);
  await page.locator(".ladder").waitFor();
}

async function editFirst(/** @type {Page} */ page) {
  await page.getByRole("link", { name: "budget" }).click();
  await page.getByLabel("Lowest tier").fill("1");
  await page.getByText(/Of the last/).waitFor();
}
