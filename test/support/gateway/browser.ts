// A real Chromium for tests: one named by SWITCHYARD_TEST_BROWSER, one that is installed, else the one from the registry.
// Where none can start, it says why and the browser tests are left out.

import { existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Browser } from "playwright-core";

const INSTALLED = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const START_MS = 120_000;

export type Started = { readonly browser: Browser } | { readonly browser: null; readonly reason: string };

let started: Promise<Started> | null = null;

/** One for all files of this process. It ends with the process. */
export function startBrowser(): Promise<Started> {
  started ??= start();
  return started;
}

async function start(): Promise<Started> {
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
  return { executablePath: await unpacked(), args: ["--no-sandbox"] };
}

/**
 * Unpacked once per version and checkout. Test files start at the same time, and none must find what another has only
 * begun to write: it is unpacked apart and moved to its place when it is whole.
 */
async function unpacked(): Promise<string> {
  const root = join(import.meta.dirname, "../../..");
  const manifest = JSON.parse(readFileSync(join(root, "test/package.json"), "utf8"));
  const place = join(root, ".cache", `chromium-${manifest.devDependencies["@sparticuz/chromium"]}`);
  if (!existsSync(place)) {
    await mkdir(dirname(place), { recursive: true });
    const apart = await mkdtemp(`${place}-`);
    await unpackInto(apart);
    await rename(apart, place).catch(() => rm(apart, { recursive: true, force: true }));
  }
  return join(place, "chromium");
}

/** The package unpacks into the folder for temporary files, whatever that is at the moment. */
async function unpackInto(folder: string): Promise<void> {
  const { default: packed } = await import("@sparticuz/chromium");
  packed.setGraphicsMode = false;
  const before = process.env.TMPDIR;
  process.env.TMPDIR = folder;
  try {
    await packed.executablePath();
  } finally {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  }
}
