// A real Chromium for tests: one named by SWITCHYARD_TEST_BROWSER, one that is installed, else the one from the registry.
// Where none can start, it says why and the browser tests are left out.

import { existsSync } from "node:fs";
import type { Browser } from "playwright-core";

const INSTALLED = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const START_MS = 120_000;

export type Started = { readonly browser: Browser } | { readonly browser: null; readonly reason: string };

export async function startBrowser(): Promise<Started> {
  try {
    const { chromium } = await import("playwright-core");
    const browser = await chromium.launch({ ...(await executable()), headless: true, timeout: START_MS });
    return { browser };
  } catch (error) {
    const [reason = ""] = String(error instanceof Error ? error.message : error).split("\n");
    return { browser: null, reason };
  }
}

async function executable(): Promise<{ executablePath: string; args: string[] }> {
  const wanted = process.env.SWITCHYARD_TEST_BROWSER ?? INSTALLED.find((path) => existsSync(path));
  if (wanted !== undefined) return { executablePath: wanted, args: ["--no-sandbox"] };
  const { default: packed } = await import("@sparticuz/chromium");
  packed.setGraphicsMode = false;
  return { executablePath: await packed.executablePath(), args: ["--no-sandbox"] };
}
